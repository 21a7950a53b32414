//! What the command line of every program of Trawl has: a configuration file beside flags and variables, the settings
//! in force, manual pages and completions.

mod config;
mod manual;
mod settings;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::exit;

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

pub use config::ConfigError;
use config::ConfiguredCommand;

/// Exit code of wrong usage, as clap has it.
const WRONG_USAGE: i32 = 2;

/// Heading of the flags that are added here.
const HEADING: &str = "Configuration";

/// The flags from the arguments, the environment and the configuration file of this process; `section` is the table of
/// the file that is the program's. Ends the process where they are wrong, request help, or write something instead.
#[must_use]
pub fn matches(command: Command, section: &'static str) -> ArgMatches {
    let command = command.args(own_flags());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if let [_, flag, folder] = &arguments[..]
        && flag == "--generate"
    {
        end(manual::write(&command, folder.as_ref()).map_err(|error| error.to_string()));
    }
    let ConfiguredCommand { command, flags } = match config::file_of(&arguments) {
        None => ConfiguredCommand { command, flags: BTreeSet::new() },
        Some(file) => match config::settings(&command, section, file.as_ref()) {
            Ok(settings) => config::apply(command, settings),
            Err(error) => end(Err(error.to_string())),
        },
    };
    let matches = command.clone().get_matches();
    if matches.get_flag("print-config") {
        print!("{}", settings::text(&command, section, &matches, &flags));
        exit(0);
    }
    matches
}

fn end(outcome: Result<(), String>) -> ! {
    match outcome {
        Ok(()) => exit(0),
        Err(error) => {
            eprintln!("error: {error}");
            exit(WRONG_USAGE)
        }
    }
}

/// The flags that every program has.
fn own_flags() -> [Arg; 3] {
    [
        Arg::new("config-file")
            .long("config-file")
            .env(config::VARIABLE)
            .value_name("FILE")
            .value_parser(value_parser!(PathBuf))
            .global(true)
            .help_heading(HEADING)
            .help("Configuration file, in TOML; flags and variables take precedence over it"),
        Arg::new("print-config")
            .long("print-config")
            .action(ArgAction::SetTrue)
            .global(true)
            .help_heading(HEADING)
            .help("Print the settings in force and where each comes from, and exit; passwords are left out"),
        Arg::new("generate")
            .long("generate")
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .help_heading(HEADING)
            .help("Write manual pages and shell completions into this folder, and exit; takes no other flag"),
    ]
}
