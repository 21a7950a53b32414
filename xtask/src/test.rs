//! `cargo xtask lint`, `unit` and `test`: what CI runs, and its parts. The last line of each is `N passed, N failed`.

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
    name: Option<String>,
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

/// Formatting, lints and documentation.
pub fn lint() -> anyhow::Result<ExitCode> {
    summarise(&lints())
}

fn lints() -> Vec<Step> {
    vec![
        Step::new("formatting", &["fmt", "--all", "--check"]),
        Step::new("lints", &["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]),
        Step::new("documentation", &["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"])
            .with("RUSTDOCFLAGS", "-D warnings"),
    ]
}

/// Unit tests and examples in comments, which need neither the engine nor clients.
pub fn unit() -> anyhow::Result<ExitCode> {
    summarise(&[
        Step::new("unit tests", &["test", "--workspace", "--no-fail-fast", "--lib", "--bins"]).counting(),
        Step::new("examples", &["test", "--workspace", "--no-fail-fast", "--doc"]).counting(),
    ])
}

/// Writes what the tests of guides compare: pages made from `sql/`, and the output that guides show.
pub fn docs() -> anyhow::Result<ExitCode> {
    let library = engine_library::ensure()?.display().to_string();
    let python = tools::python_with(&workspace::root().join("tests/clients/requirements.txt"))?.display().to_string();
    let programs = Step::new("build", &["build", "--workspace", "--bins", "--quiet"]);
    let pages = Step::new("pages", &["test", "-p", "trawl-tests", "--test", "it", "--", "guides::"]).counting();
    let pages = pages.with("TRAWL_LIBRARY", library).with("TRAWL_TEST_PYTHON", python);
    summarise(&[programs, pages.with("TRAWL_WRITE_PAGES", "1")])
}

/// Runs everything, or the tests of a name; fails if anything did.
pub fn run(flags: &TestFlags) -> anyhow::Result<ExitCode> {
    let library = engine_library::ensure()?.display().to_string();
    let clients = workspace::root().join("tests/clients");
    tools::npm_ci(&clients)?;
    tools::npm_ci(&workspace::fixture("devchain/node"))?;
    tools::npm_ci(&workspace::root().join("web"))?;
    let python = tools::python_with(&clients.join("requirements.txt"))?.display().to_string();
    let exporters = tools::python_with_only("exporters", &clients.join("exporters/requirements.txt"))?;
    let exporters = exporters.display().to_string();
    // Half of a test is waiting: for programs to start, for what they must wait for.
    let threads = 2 * std::thread::available_parallelism()?.get();
    let tests = |name, arguments: &[&str]| {
        let step = Step::new(name, &[&["test", "--workspace", "--no-fail-fast"], arguments].concat());
        let step = step.counting().with("TRAWL_LIBRARY", library.as_str()).with("TRAWL_TEST_PYTHON", python.as_str());
        let step = step.with("TRAWL_TEST_EXPORTERS", exporters.as_str());
        let step = step.with("INSTA_UPDATE", "no").with("RUST_TEST_THREADS", threads.to_string());
        if flags.slow { step.with("TRAWL_TEST_SLOW", "1") } else { step }
    };
    // Programs and tests in one command: two would choose features of dependencies twice, and build some of them twice.
    let mut steps = vec![Step::new("build", &["build", "--workspace", "--bins", "--tests", "--quiet"])];
    let only = flags.name.as_deref().map_or_else(Vec::new, |name| vec!["--", name]);
    steps.push(tests("tests", &only));
    if flags.slow {
        let mut only = vec!["--test", "it", "--", "--ignored"];
        only.extend(flags.name.as_deref());
        steps.push(tests("slow tests", &only));
    }
    if flags.name.is_none() {
        steps.push(Step::new("web page", &["xtask", "web", "--check"]));
        steps.extend(lints());
    }
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
    // Nothing may be printed after the counts, so a failed run is no error to report.
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
        |kind: &str| rest.split([';', '.']).find_map(|part| part.trim().strip_suffix(kind)?.trim().parse().ok());
    Some((number("passed")?, number("failed")?))
}
