//! The text in which a program answers with its metrics.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use std::collections::BTreeMap;
use std::time::Duration;

pub use metrics_exporter_prometheus::BuildError as InstallError;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

use crate::by_chain::{ByChain, ChainOfTask};
use crate::list;
use crate::metric::{Kind, Metric, Program, Scope};
use crate::process;
use metrics::SetRecorderError;

/// The media type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Between two runs of the upkeep.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// What a program was built from.
#[derive(Debug, Clone, Copy)]
pub struct Build {
    /// Release, as Cargo.toml has it.
    pub version: &'static str,
    /// Its commit, as far as git names it; `development` for a debug build.
    pub commit: &'static str,
}

/// What this process has counted.
#[derive(Clone, Debug)]
pub struct Exposition {
    handle: PrometheusHandle,
    program: Program,
}

impl Exposition {
    /// Counts from now on what the list has of `program`; all series that are known before are there, from 0 on.
    ///
    /// # Errors
    ///
    /// If this process counts already.
    pub fn install(program: Program, build: Build) -> Result<Self, InstallError> {
        let recorder = recorder(program)?;
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder)?;
        let exposition = Self { handle, program };
        exposition.announce(build);
        exposition.start_chain();
        Ok(exposition)
    }

    /// The same of a program that serves several chains: what a task counts has the label `chain` with the name that
    /// `chain` tells. The series of a chain are there once it was [started](Exposition::start_chain).
    ///
    /// # Errors
    ///
    /// If this process counts already.
    pub fn install_by_chain(program: Program, build: Build, chain: ChainOfTask) -> Result<Self, InstallError> {
        let recorder = recorder(program)?;
        let handle = recorder.handle();
        let taken = |SetRecorderError(ByChain { recorder, .. })| SetRecorderError(recorder);
        metrics::set_global_recorder(ByChain { recorder, chain }).map_err(taken)?;
        let exposition = Self { handle, program };
        exposition.announce(build);
        Ok(exposition)
    }

    /// Has all series that are known before, of the chain that this task works for, from 0 on.
    pub fn start_chain(&self) {
        self.start(Scope::Chain);
    }

    fn announce(&self, build: Build) {
        list::of(self.program).filter(|metric| !is_of_process(metric)).for_each(describe);
        self.start(Scope::Process);
        let (name, Build { version, commit }) = (self.program.name(), build);
        metrics::gauge!("trawl_build_info", "program" => name, "version" => version, "commit" => commit).set(1.0);
    }

    fn start(&self, scope: Scope) {
        let groups = list::groups_of(self.program).filter(|group| group.scope == scope);
        let metrics = groups.flat_map(|group| group.metrics).filter(|metric| !is_of_process(metric));
        metrics.for_each(|metric| metric.known_series().iter().for_each(|labels| zero(metric, labels)));
    }

    /// The text now, in the order of the names. A metric without a series has its help and its type all the same.
    #[must_use]
    pub fn render(&self) -> String {
        let counted = self.handle.render();
        let name = |family: &str| family.lines().next()?.split(' ').nth(2).map(str::to_owned);
        let mut families: BTreeMap<String, String> = list::of(self.program).map(head).collect();
        let counted = counted.split("\n\n").map(str::trim).filter(|family| !family.is_empty());
        families.extend(counted.filter_map(|family| Some((name(family)?, format!("{family}\n")))));
        for (name, value) in process::figures() {
            families.entry(name.into()).and_modify(|text| *text += &format!("{name} {value}\n"));
        }
        families.into_values().collect()
    }

    /// Folds measured durations into their buckets at intervals, without end. Until it is folded each is stored by
    /// itself, so the memory of a program that is never scraped would grow with every request.
    pub async fn run_upkeep(self) {
        every(UPKEEP_INTERVAL, || self.handle.run_upkeep()).await;
    }
}

async fn every(interval: Duration, mut act: impl FnMut()) {
    let mut tick = tokio::time::interval(interval);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        act();
    }
}

/// Has the series of a label's `values` from 0 on, where the list does not know them.
pub fn start_at_zero(name: &str, label: &str, values: &[&'static str]) {
    let named = list::GROUPS.iter().flat_map(|group| group.metrics).find(|metric| metric.name == name);
    let series = named.map(|metric| (metric, metric.series_with(label, values)));
    series.into_iter().for_each(|(metric, series)| series.iter().for_each(|labels| zero(metric, labels)));
}

/// A recorder of what the list has of a program.
fn recorder(program: Program) -> Result<PrometheusRecorder, InstallError> {
    let mut builder = PrometheusBuilder::new();
    for metric in list::of(program) {
        if let Kind::Histogram(bounds) = metric.kind {
            builder = builder.set_buckets_for_metric(Matcher::Full(metric.name.into()), bounds)?;
        }
    }
    Ok(builder.build_recorder())
}

fn describe(metric: &Metric) {
    let Metric { name, kind, help, .. } = *metric;
    match kind {
        Kind::Counter => metrics::describe_counter!(name, help),
        Kind::Gauge | Kind::Flag => metrics::describe_gauge!(name, help),
        Kind::Histogram(_) => metrics::describe_histogram!(name, help),
    }
}

fn zero(metric: &Metric, labels: &[(&'static str, &'static str)]) {
    match metric.kind {
        Kind::Counter => metrics::counter!(metric.name, labels).increment(0),
        Kind::Flag => metrics::gauge!(metric.name, labels).increment(0.0),
        Kind::Histogram(_) => drop(metrics::histogram!(metric.name, labels)),
        Kind::Gauge => {}
    }
}

/// Whether `/proc` has the figure: CPU time is a counter with a fraction, which the recorder does not have.
fn is_of_process(metric: &Metric) -> bool {
    metric.name.starts_with("process_")
}

/// The name of a metric, and the lines before its series.
fn head(metric: &Metric) -> (String, String) {
    let Metric { name, kind, help, .. } = metric;
    let kind = match kind {
        Kind::Counter => "counter",
        Kind::Gauge | Kind::Flag => "gauge",
        Kind::Histogram(_) => "histogram",
    };
    ((*name).to_owned(), format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn upkeep_goes_on() {
        let mut runs = 0;
        let outcome =
            tokio::time::timeout(Duration::from_millis(200), every(Duration::from_millis(1), || runs += 1)).await;
        assert!(outcome.is_err() && runs > 3, "{runs}");
    }

    #[test]
    fn every_metric_of_a_program_has_its_help_and_known_series_from_the_start() {
        let exposition = Exposition::install(Program::Api, Build { version: "1.2.3", commit: "abc" })
            .expect("the only one of this process");
        start_at_zero("trawl_problem", "kind", &["stale"]);
        let text = exposition.render();
        for metric in list::of(Program::Api) {
            let help = format!("# HELP {} {}\n# TYPE {} ", metric.name, metric.help, metric.name);
            assert_eq!(text.matches(&help).count(), 1, "{help} in {text}");
        }
        for line in [
            "trawl_cache_requests_total{outcome=\"hit\"} 0",
            "trawl_problem{kind=\"stale\"} 0",
            "trawl_ready 0",
            "trawl_build_info{program=\"trawl-api\",version=\"1.2.3\",commit=\"abc\"} 1",
            "trawl_node_request_duration_seconds_count{outcome=\"ok\"} 0",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in {text}");
        }
    }
}
