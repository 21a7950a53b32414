//! The command line: its flags, and what each subcommand does.

use clap::{CommandFactory, FromArgMatches};

mod duration;
mod environment;
mod error;
mod flags;
mod follow;
mod labels;
mod load;
mod run;
mod setup;
mod verify;

pub use flags::Flags;
pub use run::run;

use environment::{only_old, warnings, with_old_names};

/// The flags from the arguments and the environment of this process. Ends the process where they are wrong, or request help.
pub fn flags() -> Flags {
    let variables = only_old(|name| std::env::var_os(name).is_some());
    let matches = with_old_names(Flags::command(), &variables).get_matches();
    for warning in warnings(&matches, &variables) {
        eprintln!("trawl-ingest: {warning}");
    }
    Flags::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}
