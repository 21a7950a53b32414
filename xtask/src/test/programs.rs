//! The test programs of the workspace: which there are, and one run of each, test by test.
//!
//! They are run here and not by `cargo test`, which would not say how long each test took.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;
use xtask::workspace;

use super::report::{Counts, Report};
use super::watchdog::{self, Outcome};

/// A program that was built from tests.
pub struct TestProgram {
    executable: PathBuf,
    /// Its package's folder, where it expects to run.
    folder: PathBuf,
}

/// Builds all programs and tests of the workspace and returns the latter. One command: two would choose features of
/// dependencies twice, and build some of them twice.
pub fn build() -> anyhow::Result<Vec<TestProgram>> {
    let mut cargo = workspace::cargo();
    cargo.args(["build", "--workspace", "--bins", "--tests", "--quiet", "--message-format", "json-render-diagnostics"]);
    let mut child = cargo.current_dir(workspace::root()).stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let mut programs = Vec::new();
    for line in BufReader::new(child.stdout.take().context("a pipe")?).lines() {
        programs.extend(test_program(&serde_json::from_str(&line?)?));
    }
    if !child.wait()?.success() {
        bail!("the tests do not compile");
    }
    Ok(programs)
}

/// The test program that a message of cargo tells of.
fn test_program(message: &Value) -> Option<TestProgram> {
    (message["profile"]["test"] == true).then_some(())?;
    let executable = message["executable"].as_str()?.into();
    let folder = PathBuf::from(message["manifest_path"].as_str()?).parent()?.to_path_buf();
    Some(TestProgram { executable, folder })
}

/// The variable that makes a run a slow one.
pub const SLOW: &str = "TRAWL_TEST_SLOW";

/// What a run of a test program needs.
pub struct Run<'a> {
    /// Arguments after the program's name: a filter of names, flags.
    pub arguments: &'a [&'a str],
    /// Variables of its environment.
    pub environment: &'a [(&'static str, String)],
}

impl TestProgram {
    /// Whether it is of the package in this folder of the workspace.
    pub fn is_of(&self, folder: &str) -> bool {
        self.folder == workspace::root().join(folder)
    }

    /// Runs its tests, shows their output, and adds them to `report`.
    pub fn run(&self, run: &Run<'_>, report: &mut Report) -> anyhow::Result<()> {
        let mut command = Command::new(&self.executable);
        // The time of each test is an unstable flag of the test harness, which takes it under this variable.
        command.args(run.arguments).args(["-Z", "unstable-options", "--report-time"]).env("RUSTC_BOOTSTRAP", "1");
        command.envs(run.environment.iter().map(|(name, value)| (name, value))).current_dir(&self.folder);
        let name = self.executable.display();
        let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {name}"))?;
        let (before, output) = (report.counts(), child.stdout.take().context("a pipe")?);
        let is_slow = run.environment.iter().any(|(name, _)| *name == SLOW);
        let silence = if is_slow { watchdog::SILENCE_OF_SLOW_RUN } else { watchdog::SILENCE };
        let outcome = watchdog::watch(silence, &mut child, output, |line| {
            if report.read(&line) {
                println!("{line}");
            }
        })?;
        let failed = report.counts().failed - before.failed;
        let has_no_cause = match outcome {
            Outcome::Ended(status) => !status.success() && failed == 0,
            Outcome::Hung => true,
        };
        if has_no_cause {
            eprintln!("xtask: {name} ended without saying what failed");
            report.add(Counts { passed: 0, failed: 1 });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_executables_of_tests_are_test_programs() {
        let message = |test: bool, executable: Value| json!({"profile": {"test": test}, "executable": executable, "manifest_path": "/a/b/Cargo.toml"});
        let found = test_program(&message(true, json!("/t/it-1"))).expect("one");
        assert_eq!((found.executable, found.folder), ("/t/it-1".into(), "/a/b".into()));
        assert!(test_program(&message(false, json!("/t/trawl-api"))).is_none());
        assert!(test_program(&message(true, Value::Null)).is_none());
        assert!(test_program(&json!({"reason": "build-finished"})).is_none());
    }
}
