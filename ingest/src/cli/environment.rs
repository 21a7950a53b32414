//! Variables that had another name: the old one is read where the new one is not set, with a warning.

use clap::Command;
use trawl_core::flags::renamed::or_old_variable;

/// Subcommand, flag by its field, and the old name of its variable.
const RENAMED: [(&str, &str, &str); 8] = [
    ("load", "from", "TRAWL_FROM"),
    ("load", "to", "TRAWL_TO"),
    ("load", "rpc_timeout", "TRAWL_RPC_TIMEOUT_MS"),
    ("follow", "from", "TRAWL_FROM"),
    ("verify", "from", "TRAWL_FROM"),
    ("verify", "to", "TRAWL_TO"),
    ("follow", "rpc_timeout", "TRAWL_RPC_TIMEOUT_MS"),
    ("follow", "poll_interval", "TRAWL_POLL_INTERVAL_MS"),
];

/// Whether a subcommand has variables that were renamed.
pub fn has_old_names(subcommand: &str) -> bool {
    RENAMED.iter().any(|(name, ..)| *name == subcommand)
}

/// The command, with these variables read under their old names. `subcommand` is the one that runs: only its variables
/// are worth a warning.
pub fn with_old_names(command: Command, subcommand: Option<&str>) -> Command {
    let of_it = RENAMED.into_iter().filter(|(name, ..)| Some(*name) == subcommand);
    of_it.fold(command, |command, (name, flag, old)| {
        command.mut_subcommand(name, |command| command.mut_arg(flag, |argument| or_old_variable(argument, old)))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::cli::flags::{Command as Subcommand, Flags};

    #[test]
    fn every_renamed_variable_is_that_of_a_flag() {
        for (subcommand, flag, _) in RENAMED {
            let command = Flags::command();
            let command = command.find_subcommand(subcommand).expect("a subcommand");
            let argument = command.get_arguments().find(|argument| argument.get_id() == flag).expect("a flag");
            assert!(argument.get_env().is_some(), "{flag}");
        }
        with_old_names(Flags::command(), Some("load")).debug_assert();
    }

    /// The timeout that `load` gets.
    fn timeout(arguments: &[&str]) -> Option<Duration> {
        let arguments = [&["trawl-ingest", "load", "--dump", "file"], arguments].concat();
        let matches = Flags::command().try_get_matches_from(arguments).ok()?;
        match Flags::from_arg_matches(&matches).ok()?.command {
            Subcommand::Load(flags) => Some(flags.reading.rpc_timeout),
            _ => None,
        }
    }

    #[test]
    fn old_flags_mean_milliseconds() {
        let of = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(timeout(&[]), of(60));
        assert_eq!(timeout(&["--rpc-timeout", "5s"]), of(5));
        assert_eq!(timeout(&["--rpc-timeout-ms", "6000"]), of(6));
        assert_eq!(timeout(&["--rpc-timeout", "soon"]), None);
    }
}
