//! `cargo xtask`: set-up and the commands of the README; no product code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

mod bench;
mod demo;
mod signatures;
mod test;
mod web;

/// The commands of this checkout.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask")]
struct Flags {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start everything over real chain data: engine, ingest, API. Runs until Ctrl-C.
    Demo(demo::DemoFlags),
    /// Check formatting, lints and documentation.
    Lint,
    /// Run unit tests and the examples in comments: no engine, no clients.
    Unit,
    /// Run everything that CI runs, or the tests whose name contains NAME.
    Test(test::TestFlags),
    /// Measure, as ratios in one run.
    Bench(bench::BenchFlags),
    /// Fetch the embedded engine and print where it is.
    Engine,
    /// Run the engine's library as a ClickHouse server with its own HTTP and native interfaces, for tests.
    Clickhouse(xtask::clickhouse::ServerFlags),
    /// Write the pages that are made from `sql/`, and the output that guides show.
    Docs,
    /// Make the lists of well-known functions, events and errors anew, from the ABIs of packages on npm.
    Signatures,
    /// Pack the programs of a profile with what runs them on a machine without a compiler, and checksums.
    Package(PackageFlags),
    /// Write the page's types of the API's answers, from the description of the API.
    Types,
    /// Build the web page into web/dist; with --check compare instead.
    Web(web::WebFlags),
}

#[derive(Debug, Args)]
struct PackageFlags {
    /// The folder of `target` that has the programs.
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Where the archive and its checksum go.
    #[arg(long, value_name = "DIR", default_value = "target/package")]
    into: PathBuf,
}

fn main() -> ExitCode {
    let outcome = match Flags::parse().command {
        Command::Demo(flags) => demo::run(&flags).map(|()| ExitCode::SUCCESS),
        Command::Lint => test::lint(),
        Command::Unit => test::unit(),
        Command::Test(flags) => test::run(&flags),
        Command::Bench(flags) => bench::run(&flags).map(|()| ExitCode::SUCCESS),
        Command::Clickhouse(flags) => xtask::clickhouse::serve(&flags),
        Command::Docs => test::docs(),
        Command::Signatures => signatures::run().map(|()| ExitCode::SUCCESS),
        Command::Package(flags) => xtask::package::write(&flags.profile, &flags.into).map(|packages| {
            let files = packages.debian.into_iter().flatten().chain([packages.archive]);
            files.for_each(|file| println!("{}", file.display()));
            ExitCode::SUCCESS
        }),
        Command::Types => xtask::api_types::write(&xtask::api_types::module()).map(|()| ExitCode::SUCCESS),
        Command::Web(flags) => web::run(&flags).map(|()| ExitCode::SUCCESS),
        Command::Engine => xtask::engine_library::ensure().map(|path| {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("xtask: {error:#}");
        ExitCode::FAILURE
    })
}
