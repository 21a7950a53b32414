//! `cargo xtask`: set-up and the commands of the README; no product code.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

mod bench;
mod demo;
mod npm;
mod signatures;
mod test;
mod token_lists;
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
    /// Run unit tests and doc tests, which need neither the engine nor clients.
    Unit,
    /// Run everything that CI runs, or the tests whose name contains NAME.
    Test(test::TestFlags),
    /// Measure ratios within one run.
    Bench(bench::BenchFlags),
    /// Fetch the embedded engine and print its path.
    Engine,
    /// Run the engine's library as a ClickHouse server with its own HTTP and native interfaces, for tests.
    Clickhouse(xtask::clickhouse::ServerFlags),
    /// Write the pages generated from `sql/`, and the output shown in guides.
    Docs,
    /// Regenerate the lists of well-known functions, events and errors from the ABIs of npm packages.
    Signatures,
    /// Regenerate the list of tokens that public token lists on npm agree on.
    Tokens,
    /// Package the programs of a profile with service files and checksums, for machines without a compiler.
    Package(PackageFlags),
    /// Write the web page's types of API answers, from the OpenAPI description.
    Types,
    /// Build the web page into web/dist; with --check, compare instead.
    Web(web::WebFlags),
}

#[derive(Debug, Args)]
struct PackageFlags {
    /// Folder in `target` that has the programs.
    #[arg(long, default_value = "dist")]
    profile: String,
    /// Output folder of the archive and its checksum.
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
        Command::Tokens => token_lists::run().map(|()| ExitCode::SUCCESS),
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
