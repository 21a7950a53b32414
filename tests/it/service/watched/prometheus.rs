//! Prometheus as Debian packages it, with the configuration and the rules that operators copy.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::{http, process, workspace};

use crate::env;

/// What is scraped: where, for which job of `ops/prometheus/prometheus.yml`, and the name that its alerts have.
pub struct Target {
    pub job: &'static str,
    pub address: String,
    pub instance: String,
}

/// An alert that fires.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alert {
    pub name: String,
    /// The name that its [`Target`] has.
    pub instance: String,
    /// Of problems; otherwise empty.
    pub kind: String,
}

/// A running Prometheus; ended when dropped.
pub struct Prometheus {
    child: Child,
    url: String,
    folder: TempDir,
}

/// The program, if there is one.
pub fn program() -> Option<PathBuf> {
    let program = PathBuf::from(std::env::var_os("TRAWL_TEST_PROMETHEUS").unwrap_or_else(|| "prometheus".into()));
    let mut command = Command::new(&program);
    let command = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success()).then_some(program)
}

impl Prometheus {
    /// Starts to scrape these targets, as often as the file of operators says.
    pub fn start(program: PathBuf, targets: &[Target]) -> anyhow::Result<Self> {
        let folder = env::directory()?;
        let file = folder.path().join("prometheus.yml");
        // JSON is YAML.
        fs::write(&file, configuration(targets)?.to_string())?;
        let listen = format!("127.0.0.1:{}", env::free_port()?);
        let log = fs::File::create(folder.path().join("log"))?;
        let mut command = Command::new(program);
        command.arg("--config.file").arg(&file).arg("--storage.tsdb.path").arg(folder.path().join("data"));
        command.arg(format!("--web.listen-address={listen}")).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let started = Self { child: process::spawn(command)?, url: format!("http://{listen}"), folder };
        let is_ready = || {
            let answer = http::get(&http::agent(), &format!("{}/-/ready", started.url));
            Ok(answer.is_ok_and(|answer| answer.status == 200))
        };
        env::eventually(env::SOON, is_ready).with_context(|| started.log())?;
        Ok(started)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn ask(&self, path: &str) -> anyhow::Result<Value> {
        let answer = http::get(&http::agent(), &format!("{}/api/v1/{path}", self.url))?;
        ensure!(answer.status == 200, "{path}: {} {}", answer.text(), self.log());
        answer.json()
    }

    /// Waits until every target was scraped and every rule evaluated without an error.
    pub fn sees_all(&self, targets: usize) -> anyhow::Result<()> {
        let mut seen = Value::Null;
        env::eventually(env::SOON, || {
            seen = self.ask("targets?state=active")?["data"]["activeTargets"].take();
            let seen = seen.as_array().context("targets")?;
            Ok(seen.len() == targets && seen.iter().all(|target| target["health"] == "up"))
        })
        .with_context(|| seen.to_string())?;
        env::eventually(env::SOON, || {
            let groups = self.ask("rules")?;
            let groups = groups["data"]["groups"].as_array().context("groups")?;
            let rules = groups.iter().flat_map(|group| group["rules"].as_array().into_iter().flatten());
            let health: Vec<&Value> = rules.map(|rule| &rule["health"]).collect();
            ensure!(!health.contains(&&json!("err")), "{groups:?}");
            Ok(!health.is_empty() && health.iter().all(|health| *health == "ok"))
        })
    }

    /// The alerts that fire now.
    pub fn firing(&self) -> anyhow::Result<BTreeSet<Alert>> {
        let alerts = self.ask("alerts")?;
        let alerts = alerts["data"]["alerts"].as_array().context("alerts")?;
        let firing = alerts.iter().filter(|alert| alert["state"] == "firing");
        let label = |alert: &Value, name: &str| alert["labels"][name].as_str().unwrap_or_default().to_owned();
        let alert = |alert: &Value| Alert {
            name: label(alert, "alertname"),
            instance: label(alert, "instance"),
            kind: label(alert, "kind"),
        };
        Ok(firing.map(alert).collect())
    }
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        // Nothing can be done about a process that does not end.
        let _ = process::end(&mut self.child);
    }
}

/// The operators' file with these targets instead of the services of `docker-compose.yml`.
fn configuration(targets: &[Target]) -> anyhow::Result<Value> {
    let folder = workspace::root().join("ops/prometheus");
    let mut whole: Value = serde_saphyr::from_str(&fs::read_to_string(folder.join("prometheus.yml"))?)?;
    whole["rule_files"] = json!([folder.join("rules.yml")]);
    for job in whole["scrape_configs"].as_array_mut().context("scrape_configs")? {
        let of_job = targets.iter().filter(|target| job["job_name"] == target.job);
        let group = |target: &Target| json!({"targets": [target.address], "labels": {"instance": target.instance}});
        let groups: Vec<Value> = of_job.map(group).collect();
        ensure!(!groups.is_empty(), "nothing for {job}");
        let job = job.as_object_mut().context("an object")?;
        ["dns_sd_configs", "basic_auth"].iter().for_each(|key| drop(job.remove(*key)));
        job.insert("static_configs".into(), json!(groups));
    }
    Ok(whole)
}
