//! `cargo xtask test`: everything that CI runs. Its last line is `N passed, N failed`.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};

use anyhow::Context as _;
use clap::Args;
use xtask::{engine_library, tools, workspace};

/// Flags of the test run.
#[derive(Debug, Args)]
pub struct TestFlags {
    /// Also what takes long.
    #[arg(long)]
    slow: bool,
    /// Only tests whose name contains this; formatting, lints and documentation are left out.
    filter: Option<String>,
}

/// One command of the run.
struct Step {
    name: &'static str,
    arguments: Vec<String>,
    environment: Vec<(&'static str, String)>,
    /// Its output has `test result:` lines to count.
    counts: bool,
}

impl Step {
    fn new(name: &'static str, arguments: &[&str]) -> Self {
        let arguments = arguments.iter().map(ToString::to_string).collect();
        Self { name, arguments, environment: Vec::new(), counts: false }
    }

    fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    fn counting(mut self) -> Self {
        self.counts = true;
        self
    }
}

/// Runs everything; fails if anything did.
pub fn run(flags: &TestFlags) -> anyhow::Result<ExitCode> {
    let library = engine_library::ensure()?.display().to_string();
    let clients = workspace::root().join("tests/clients");
    tools::npm_ci(&clients)?;
    tools::npm_ci(&workspace::fixture("devchain/node"))?;
    let python = tools::python_with(&clients.join("requirements.txt"))?.display().to_string();
    let mut tests = Step::new("tests", &["test", "--workspace", "--no-fail-fast"])
        .counting()
        .with("TRAWL_LIBRARY", library)
        .with("TRAWL_TEST_PYTHON", python)
        .with("INSTA_UPDATE", "no");
    if flags.slow {
        tests = tests.with("TRAWL_TEST_SLOW", "1");
    }
    let build = Step::new("programs", &["build", "--workspace", "--bins", "--quiet"]);
    let steps = match &flags.filter {
        Some(filter) => {
            tests.arguments.extend(["--".into(), filter.clone()]);
            vec![build, tests]
        }
        None => vec![
            Step::new("formatting", &["fmt", "--all", "--check"]),
            Step::new("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
            Step::new("ingest without the API", &["check", "-p", "trawl-ingest", "--quiet"]),
            build,
            tests,
            Step::new("documentation", &["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"])
                .with("RUSTDOCFLAGS", "-D warnings"),
            // Release programs: ratios of others mean nothing.
            Step::new("ratios", &["xtask", "bench", "short"]),
        ],
    };
    summarise(&steps)
}

/// Runs all steps, whatever fails, and ends with the counts. A step without tests counts as one.
fn summarise(steps: &[Step]) -> anyhow::Result<ExitCode> {
    let (mut passed, mut failed) = (0, 0);
    for step in steps {
        eprintln!("xtask: {}", step.name);
        let (ok, counted) = run_step(step)?;
        let (good, bad) = match (step.counts, ok) {
            // A test program that does not even compile or start has no line to count.
            (true, _) => (counted.0, counted.1.max(u64::from(!ok && counted.1 == 0))),
            (false, true) => (1, 0),
            (false, false) => (0, 1),
        };
        if bad > 0 {
            eprintln!("xtask: {} FAILED", step.name);
        }
        passed += good;
        failed += bad;
    }
    println!("{passed} passed, {failed} failed");
    // Nothing may be printed behind the counts, so a failed run is no error to report.
    Ok(if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs a step, shows its output and counts the tests in it.
fn run_step(step: &Step) -> anyhow::Result<(bool, (u64, u64))> {
    let mut command = Command::new("cargo");
    command
        .args(&step.arguments)
        .envs(step.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(workspace::root());
    if !step.counts {
        return Ok((command.status().with_context(|| format!("cannot run {}", step.name))?.success(), (0, 0)));
    }
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| format!("cannot run {}", step.name))?;
    let mut counts = (0, 0);
    for line in BufReader::new(child.stdout.take().context("a pipe")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some((good, bad)) = counts_of(&line) {
            counts = (counts.0 + good, counts.1 + bad);
        }
    }
    Ok((child.wait()?.success(), counts))
}

/// `test result: ok. 13 passed; 0 failed; …`
fn counts_of(line: &str) -> Option<(u64, u64)> {
    let rest = line.trim().strip_prefix("test result: ")?;
    let number =
        |word: &str| rest.split([';', '.']).find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok());
    Some((number("passed")?, number("failed")?))
}
