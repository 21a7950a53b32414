//! Variables that had another name: the old one is read where the new one is not set, and is warned of.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};

use super::duration::milliseconds;

/// A variable of a flag that was renamed.
#[derive(Debug, PartialEq, Eq)]
pub struct Renamed {
    subcommand: &'static str,
    /// The flag, by its field.
    flag: &'static str,
    old: &'static str,
    new: &'static str,
}

const fn renamed(subcommand: &'static str, flag: &'static str, old: &'static str, new: &'static str) -> Renamed {
    Renamed { subcommand, flag, old, new }
}

const RENAMED: [Renamed; 5] = [
    renamed("load", "from", "TRAWL_FROM", "TRAWL_LOAD_FROM"),
    renamed("load", "to", "TRAWL_TO", "TRAWL_LOAD_TO"),
    renamed("load", "rpc_timeout", "TRAWL_RPC_TIMEOUT_MS", "TRAWL_RPC_TIMEOUT"),
    renamed("follow", "rpc_timeout", "TRAWL_RPC_TIMEOUT_MS", "TRAWL_RPC_TIMEOUT"),
    renamed("follow", "poll_interval", "TRAWL_POLL_INTERVAL_MS", "TRAWL_POLL_INTERVAL"),
];

/// The variables of which only the old name is set.
pub fn only_old(is_set: impl Fn(&str) -> bool) -> Vec<&'static Renamed> {
    RENAMED.iter().filter(|variable| is_set(variable.old) && !is_set(variable.new)).collect()
}

/// The command, with these variables read under their old names.
pub fn with_old_names(command: Command, variables: &[&Renamed]) -> Command {
    variables.iter().fold(command, |command, variable| {
        command.mut_subcommand(variable.subcommand, |subcommand| {
            subcommand.mut_arg(variable.flag, |flag| {
                let flag = flag.env(variable.old);
                if variable.old.ends_with("_MS") { flag.value_parser(milliseconds) } else { flag }
            })
        })
    })
}

/// One line for each variable whose old name decided something.
pub fn warnings(matches: &ArgMatches, variables: &[&Renamed]) -> Vec<String> {
    let was_read = |variable: &&&Renamed| {
        matches.subcommand_matches(variable.subcommand).and_then(|matches| matches.value_source(variable.flag))
            == Some(ValueSource::EnvVariable)
    };
    let read = variables.iter().filter(was_read);
    read.map(|variable| format!("{} is the old name of {}; please rename it", variable.old, variable.new)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::cli::flags::{Command as Subcommand, Flags};

    fn variable(command: &Command, subcommand: &str, flag: &str) -> Option<String> {
        let subcommand = command.find_subcommand(subcommand)?;
        let flag = subcommand.get_arguments().find(|argument| argument.get_id() == flag)?;
        Some(flag.get_env()?.to_string_lossy().into_owned())
    }

    #[test]
    fn old_names_are_read_only_where_the_new_ones_are_not_set() {
        let only = only_old(|name| ["TRAWL_FROM", "TRAWL_TO", "TRAWL_LOAD_TO"].contains(&name));
        assert_eq!(only, [&RENAMED[0]]);
        let command = with_old_names(Flags::command(), &only);
        assert_eq!(variable(&command, "load", "from").as_deref(), Some("TRAWL_FROM"));
        assert_eq!(variable(&command, "load", "to").as_deref(), Some("TRAWL_LOAD_TO"));
        assert_eq!(variable(&command, "follow", "from").as_deref(), Some("TRAWL_FOLLOW_FROM"));
        assert_eq!(variable(&command, "verify", "from").as_deref(), Some("TRAWL_VERIFY_FROM"));
    }

    #[test]
    fn every_renamed_variable_is_that_of_its_flag() {
        for Renamed { subcommand, flag, new, .. } in &RENAMED {
            assert_eq!(variable(&Flags::command(), subcommand, flag).as_deref(), Some(*new));
        }
    }

    /// The timeout that `load` gets; every old name counts as set.
    fn timeout(variables: &[&Renamed], arguments: &[&str]) -> Option<Duration> {
        let arguments = [&["trawl-ingest", "load", "--dump", "file"], arguments].concat();
        let matches = with_old_names(Flags::command(), variables).try_get_matches_from(arguments).ok()?;
        assert!(warnings(&matches, variables).is_empty(), "nothing came from a variable");
        match Flags::from_arg_matches(&matches).ok()?.command {
            Subcommand::Load(flags) => Some(flags.reading.rpc_timeout()),
            _ => None,
        }
    }

    #[test]
    fn old_flags_mean_milliseconds() {
        let of = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(timeout(&[], &[]), of(60));
        assert_eq!(timeout(&[], &["--rpc-timeout", "5s"]), of(5));
        assert_eq!(timeout(&[], &["--rpc-timeout", "5"]), None);
        assert_eq!(timeout(&[], &["--rpc-timeout-ms", "6000"]), of(6));
        assert_eq!(timeout(&[], &["--rpc-timeout-ms", "6000", "--rpc-timeout", "5s"]), of(5), "the last one counts");
        assert_eq!(timeout(&[], &["--rpc-timeout", "5s", "--rpc-timeout-ms", "6000"]), of(6), "the last one counts");
    }

    #[test]
    fn variables_in_milliseconds_are_read_as_such() {
        assert_eq!(timeout(&[&RENAMED[2]], &["--rpc-timeout", "5s"]), Some(Duration::from_secs(5)));
        assert_eq!(timeout(&[&RENAMED[2]], &["--rpc-timeout", "5000"]), Some(Duration::from_secs(5)));
    }
}
