//! The command line: its flags, and what each subcommand does.

use clap::{CommandFactory, FromArgMatches};

mod backup;
mod doctor;
mod environment;
mod error;
mod family;
mod fill;
mod flags;
mod follow;
mod labels;
mod load;
mod load_slice;
mod migrate;
mod probes;
mod repair;
mod requested;
mod run;
mod setup;
mod tokens;
mod verify;
mod views;

pub use flags::Flags;
pub use run::run;

use environment::with_old_names;

/// The flags from the arguments and the environment of this process. Ends the process where they are wrong, or request
/// help.
pub fn flags() -> Flags {
    // Flags may stand before it.
    let mut arguments = std::env::args_os().skip(1).filter_map(|argument| argument.into_string().ok());
    let subcommand = arguments.find(|argument| environment::has_old_names(argument));
    let matches = trawl_cli::matches(with_old_names(Flags::command(), subcommand.as_deref()), "ingest");
    Flags::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}
