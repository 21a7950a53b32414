//! `cargo xtask lint`, `unit` and `test`: what CI runs, and its parts. The last line of each is `N passed, N failed`.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use clap::Args;
use xtask::{budget, engine_library, tools, workspace};

mod programs;
mod report;
mod server;
mod steps;
mod watchdog;

use programs::{Run, TestProgram};
use report::{Counts, Report};
use server::TestServer;
use steps::{BackgroundSteps, Step};

/// Variables of the environment of a program.
type Variables = Vec<(&'static str, String)>;

/// Flags of the test run.
#[derive(Debug, Args)]
pub struct TestFlags {
    /// Also run slow tests.
    #[arg(long)]
    slow: bool,
    /// Run the integration tests on ClickHouse's own server code instead of `trawl-engine`.
    #[arg(long)]
    server: bool,
    /// Run only tests whose name contains this, without formatting, lints and documentation.
    name: Option<String>,
}

/// Formatting, lints and documentation.
pub fn lint() -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    steps::lints().iter().try_for_each(|step| step.run(&mut report))?;
    Ok(summarise(&report))
}

/// Unit tests and examples in comments, which need neither the engine nor clients.
pub fn unit() -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    Step::new("unit tests", &["test", "--workspace", "--no-fail-fast", "--lib", "--bins"]).run(&mut report)?;
    steps::examples().run(&mut report)?;
    Ok(summarise(&report))
}

/// Writes what the tests of guides compare: pages made from `sql/`, and the output that guides show.
pub fn docs() -> anyhow::Result<ExitCode> {
    let mut report = Report::default();
    let environment = [tools_of_tests()?, vec![("TRAWL_WRITE_PAGES", "1".to_owned())]].concat();
    run_programs(&programs::build()?, &Run { arguments: &["guides::"], environment: &environment }, &mut report)?;
    Ok(summarise(&report))
}

/// Where tests find the engine and the clients that are written in Python.
fn tools_of_tests() -> anyhow::Result<Variables> {
    let clients = workspace::root().join("tests/clients");
    let library = engine_library::ensure()?;
    let python = tools::python_with(&clients.join("requirements.txt"))?;
    let exporters = tools::python_with_only("exporters", &clients.join("exporters/requirements.txt"))?;
    let paths = [("TRAWL_LIBRARY", library), ("TRAWL_TEST_PYTHON", python), ("TRAWL_TEST_EXPORTERS", exporters)];
    Ok(paths.into_iter().map(|(name, path)| (name, path.display().to_string())).collect())
}

/// The test programs, and the variables of what they need: packages are fetched and unpacked while the compiler runs.
fn prepare() -> anyhow::Result<(Vec<TestProgram>, Variables)> {
    std::thread::scope(|scope| {
        let tools = scope.spawn(|| {
            let folders = ["tests/clients", "tests/fixtures/devchain/node", "web"];
            folders.iter().try_for_each(|folder| tools::npm_ci(&workspace::root().join(folder)))?;
            tools_of_tests()
        });
        eprintln!("xtask: build");
        let programs = programs::build()?;
        let environment = tools.join().map_err(|_| anyhow!("the thread that installs packages panicked"))??;
        Ok((programs, environment))
    })
}

/// Runs everything, or the tests of a name; fails if anything did.
pub fn run(flags: &TestFlags) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let (programs, mut environment) = prepare()?;
    let mut report = Report::default();
    // Half of a test is waiting: for programs to start, for what they must wait for.
    let threads = 2 * std::thread::available_parallelism()?.get();
    environment.extend([("INSTA_UPDATE", "no".to_owned()), ("RUST_TEST_THREADS", threads.to_string())]);
    if flags.slow {
        environment.push((programs::SLOW, "1".to_owned()));
    }
    let server = if flags.server { Some(TestServer::start()?) } else { None };
    environment.extend(server.as_ref().map(TestServer::variable));
    let mut arguments: Vec<&str> = flags.name.as_deref().into_iter().collect();
    let beside = flags.name.is_none().then(|| BackgroundSteps::start(steps::all()));
    eprintln!("xtask: tests");
    run_programs(&programs, &Run { arguments: &arguments, environment: &environment }, &mut report)?;
    if let Some(beside) = beside {
        report.add(beside.wait()?);
        hold_to_the_ceiling(&programs, &environment, started.elapsed(), &mut report)?;
    }
    if flags.slow {
        eprintln!("xtask: slow tests");
        arguments.push("--ignored");
        run_programs(&programs, &Run { arguments: &arguments, environment: &environment }, &mut report)?;
        if server.is_none() {
            on_a_server(&programs, flags, environment, &mut report)?;
        }
    }
    eprint!("{}", report.slowest());
    Ok(summarise(&report))
}

/// The integration tests once more, on ClickHouse's own server code.
fn on_a_server(
    programs: &[TestProgram],
    flags: &TestFlags,
    mut environment: Variables,
    report: &mut Report,
) -> anyhow::Result<()> {
    eprintln!("xtask: tests on ClickHouse's server code");
    let server = TestServer::start()?;
    environment.push(server.variable());
    let arguments: Vec<&str> = flags.name.as_deref().into_iter().collect();
    let programs: Vec<&TestProgram> = programs.iter().filter(|program| program.is_of("tests")).collect();
    programs
        .iter()
        .try_for_each(|program| program.run(&Run { arguments: &arguments, environment: &environment }, report))
}

fn run_programs(programs: &[TestProgram], run: &Run<'_>, report: &mut Report) -> anyhow::Result<()> {
    programs.iter().try_for_each(|program| program.run(run, report))
}

/// Lets the tidy tests compare the time of each test with the ceiling. Those that were far above it are run again, one
/// at a time: beside others a test's time says little of it.
fn hold_to_the_ceiling(
    programs: &[TestProgram],
    environment: &[(&'static str, String)],
    run: Duration,
    report: &mut Report,
) -> anyhow::Result<()> {
    let ceiling = budget::ceiling(run);
    let slow = report.slower_than(budget::beside_others(ceiling));
    let mut alone = Report::default();
    if !slow.is_empty() {
        eprintln!("xtask: again and alone: {}", slow.join(" "));
        let arguments: Vec<&str> = slow.iter().map(String::as_str).chain(["--exact", "--test-threads", "1"]).collect();
        run_programs(programs, &Run { arguments: &arguments, environment }, &mut alone)?;
    }
    report.correct(&alone, ceiling);
    let file = report::times_file();
    std::fs::write(&file, report.times()).with_context(|| file.display().to_string())?;
    let times = [("TRAWL_TEST_TIMES", file.display().to_string()), ("TRAWL_TEST_RUN", run.as_secs().to_string())];
    let environment = [environment, &times].concat();
    let arguments = ["tidy::no_test_is_slow", "--exact", "--ignored"];
    run_programs(programs, &Run { arguments: &arguments, environment: &environment }, report)
}

/// The counts, as the last line; nothing may be printed after them, so a failed run is no error to report.
fn summarise(report: &Report) -> ExitCode {
    let Counts { passed, failed } = report.counts();
    println!("{passed} passed, {failed} failed");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
