//! Commands of cargo that pass or fail as a whole: lints, documentation, examples, the built web page.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::thread::JoinHandle;

use anyhow::{Context as _, anyhow};
use xtask::workspace;

use super::report::{Counts, Report};

/// One command, which counts as one test.
pub struct Step {
    name: &'static str,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
}

/// Formatting, lints and documentation.
pub fn lints() -> [Step; 3] {
    [
        Step::new("formatting", &["fmt", "--all", "--check"]),
        Step::new("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
        Step::new("documentation", &["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"])
            .with("RUSTDOCFLAGS", "-D warnings"),
    ]
}

/// Examples in comments.
pub fn examples() -> Step {
    Step::new("examples", &["test", "--workspace", "--no-fail-fast", "--doc", "--quiet"])
}

/// All steps of a run of everything.
pub fn all() -> Vec<Step> {
    let mut steps = Vec::from(lints());
    steps.extend([examples(), Step::new("web page", &["xtask", "web", "--check"])]);
    steps
}

impl Step {
    pub fn new(name: &'static str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { name, arguments, environment: Vec::new() }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    fn command(&self) -> Command {
        let mut command = workspace::cargo();
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(workspace::root());
        command
    }

    /// Runs it and shows its output.
    pub fn run(&self, report: &mut Report) -> anyhow::Result<()> {
        eprintln!("xtask: {}", self.name);
        let status = self.command().status().with_context(|| format!("cannot run {}", self.name))?;
        report.add(self.counts(status.success()));
        Ok(())
    }

    /// Runs it beside other work, which goes first, and shows its output when it has ended.
    fn run_beside(&self) -> anyhow::Result<Counts> {
        let mut command = self.command();
        // SAFETY: between fork and exec only this system call is made.
        unsafe {
            command.pre_exec(|| {
                libc::nice(LOWEST);
                Ok(())
            });
        }
        let output = command.output().with_context(|| format!("cannot run {}", self.name))?;
        let text = [output.stdout, output.stderr].concat();
        eprintln!("xtask: {}\n{}", self.name, String::from_utf8_lossy(&text).trim_end());
        Ok(self.counts(output.status.success()))
    }

    fn counts(&self, is_passed: bool) -> Counts {
        if !is_passed {
            eprintln!("xtask: {} FAILED", self.name);
        }
        Counts { passed: u64::from(is_passed), failed: u64::from(!is_passed) }
    }
}

/// What makes a process give way to all others.
const LOWEST: libc::c_int = 19;

/// Steps that run while the tests do: half of a test is waiting, and lints take minutes of a core.
pub struct BackgroundSteps(JoinHandle<anyhow::Result<Counts>>);

impl BackgroundSteps {
    /// Starts them, one after the other.
    pub fn start(steps: Vec<Step>) -> Self {
        Self(std::thread::spawn(move || {
            let mut sum = Counts::default();
            for step in steps {
                let counts = step.run_beside()?;
                sum.passed += counts.passed;
                sum.failed += counts.failed;
            }
            Ok(sum)
        }))
    }

    /// Waits until the last one has ended.
    pub fn wait(self) -> anyhow::Result<Counts> {
        self.0.join().map_err(|_| anyhow!("a step of the run panicked"))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_beside_the_tests_count_as_the_others() {
        let steps = vec![Step::new("version", &["--version"]), Step::new("nothing", &["--no-such-flag"])];
        let counts = BackgroundSteps::start(steps).wait().expect("cargo runs");
        assert_eq!(counts, Counts { passed: 1, failed: 1 });
    }
}
