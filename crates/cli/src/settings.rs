//! The settings in force, as a configuration file that would give them: defaults and secrets as comments, the others
//! with where they come from.

use std::collections::{BTreeMap, BTreeSet};

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

/// What is shown of a value that is secret.
const HIDDEN: &str = "…";

/// The table of the program, and of what it shares with others: a line a setting, by name.
/// `from_file` are the flags that the configuration file sets.
pub fn text(command: &Command, section: &str, matches: &ArgMatches, from_file: &BTreeSet<String>) -> String {
    let mut tables: BTreeMap<&str, BTreeSet<(String, SettingLine)>> = BTreeMap::new();
    let (mut command, mut matches) = (command, matches);
    loop {
        for argument in command.get_arguments() {
            let Some((flag, line)) = line(argument, matches, from_file) else { continue };
            let (table, key) = flag.strip_prefix("clickhouse-").map_or((section, flag), |key| ("clickhouse", key));
            tables.entry(table).or_default().insert((key.to_owned(), line));
        }
        let Some((name, of_subcommand)) = matches.subcommand() else { break };
        let Some(subcommand) = command.find_subcommand(name) else { break };
        (command, matches) = (subcommand, of_subcommand);
    }
    let text = |(name, lines): (&str, BTreeSet<(String, SettingLine)>)| {
        let lines = lines.into_iter().map(|(key, SettingLine { value, origin })| match origin {
            // What is not shown whole would be another value if it were read back.
            Some(origin) if value.contains(HIDDEN) => format!("# {key} = {value}  # {origin}\n"),
            Some(origin) => format!("{key} = {value}  # {origin}\n"),
            None => format!("# {key} = {value}\n"),
        });
        format!("[{name}]\n{}", lines.collect::<String>())
    };
    tables.into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The value of a flag.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct SettingLine {
    value: String,
    /// `flag`, `file`, or the variable; `None` of a default.
    origin: Option<String>,
}

/// A flag that is a setting, and its value; `None` for one that has none, or is about this run alone.
fn line<'a>(argument: &'a Arg, matches: &ArgMatches, from_file: &BTreeSet<String>) -> Option<(&'a str, SettingLine)> {
    let (id, variable) = (argument.get_id().as_str(), argument.get_env()?);
    let flag = argument.get_long().filter(|_| id != "config-file")?;
    let raw = matches.try_get_raw(id).ok().flatten()?;
    let is_secret = argument.is_hide_env_values_set();
    let shown = |value: String| match value.is_empty() || !is_secret {
        true => quoted(&without_password(&value)),
        false => quoted(HIDDEN),
    };
    let values: Vec<String> = raw.map(|value| shown(value.to_string_lossy().into_owned())).collect();
    let origin = match matches.value_source(id)? {
        ValueSource::CommandLine => Some("flag".to_owned()),
        ValueSource::EnvVariable if from_file.contains(flag) => Some("file".to_owned()),
        ValueSource::EnvVariable => Some(variable.to_string_lossy().into_owned()),
        _ => None,
    };
    let value = if let [value] = &values[..] { value.clone() } else { format!("[{}]", values.join(", ")) };
    Some((flag, SettingLine { value, origin }))
}

/// Numbers and switches as they are, all else in quotes.
fn quoted(value: &str) -> String {
    let is_plain =
        value.parse::<i64>().is_ok_and(|number| number.to_string() == value) || matches!(value, "true" | "false");
    if is_plain { value.to_owned() } else { toml::Value::from(value).to_string() }
}

/// An address without the password in it, and without a query, in which providers of nodes have keys.
fn without_password(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let (rest, _) = rest.split_once('?').unwrap_or((rest, ""));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host.to_owned(), |(_, host)| format!("{HIDDEN}@{host}"));
    let path = if path.is_empty() { String::new() } else { format!("/{HIDDEN}") };
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_without_what_opens_them() {
        for (address, shown) in [
            ("http://node:8545", "http://node:8545"),
            ("https://name:secret@node/rpc", "https://…@node/…"),
            ("https://mainnet.example/v3/0123456789", "https://mainnet.example/…"),
            ("127.0.0.1:4000", "127.0.0.1:4000"),
            ("wss://node?key=secret", "wss://node"),
        ] {
            assert_eq!(without_password(address), shown);
        }
        assert_eq!([quoted("5"), quoted("true"), quoted("5s"), quoted("007")], ["5", "true", "\"5s\"", "\"007\""]);
    }
}
