//! The configuration file: TOML with a table for each program, whose keys are the names of its flags. `[clickhouse]`
//! is shared: its keys are the `clickhouse-…` flags without that word.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, Command};
use thiserror::Error;
use toml::{Table, Value};

/// The variable that names the file.
pub const VARIABLE: &str = "TRAWL_CONFIG_FILE";

/// The tables that a file may have, so that one serves all programs.
pub const SECTIONS: [&str; 4] = ["clickhouse", "api", "ingest", "engine"];

/// Bytes that a file may have.
const MAX_BYTES: u64 = 1 << 20;

/// Flags that are about one run, not settings.
const NOT_SETTINGS: [&str; 5] = ["config-file", "print-config", "generate", "help", "version"];

/// Why a configuration file is not used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("the configuration file {} cannot be read: {source}", file.display())]
    Unreadable {
        /// The file, as it was named.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It has more than a megabyte.
    #[error("the configuration file {} has more than {MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    /// It is no TOML.
    #[error("the configuration file {} is no TOML: {source}", file.display())]
    Syntax {
        /// The file, as it was named.
        file: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// It has something else at the top than tables of programs.
    #[error("the configuration file {} has `{key}`: it may have the tables {}", file.display(), SECTIONS.join(", "))]
    UnknownSection {
        /// The file, as it was named.
        file: PathBuf,
        /// What it has.
        key: String,
    },
    /// A key of the program's table is no flag of it.
    #[error("the configuration file {} sets `{section}.{key}`: there is no flag --{flag}", file.display())]
    UnknownKey {
        /// The file, as it was named.
        file: PathBuf,
        /// The table of the file.
        section: String,
        /// The key in that table.
        key: String,
        /// The flag that it would be.
        flag: String,
    },
    /// A value is neither text, a number, true or false, nor a list of those.
    #[error("the configuration file {} sets `{section}.{key}` to a {kind}", file.display())]
    WrongType {
        /// The file, as it was named.
        file: PathBuf,
        /// The table of the file.
        section: String,
        /// The key in that table.
        key: String,
        /// What it is.
        kind: &'static str,
    },
}

/// The file that arguments name, else the environment.
pub fn file_of(arguments: &[OsString]) -> Option<OsString> {
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let text = argument.to_string_lossy();
        if text == "--config-file" {
            return rest.next().cloned();
        }
        if let Some(file) = text.strip_prefix("--config-file=") {
            return Some(file.into());
        }
    }
    std::env::var_os(VARIABLE).filter(|file| !file.is_empty())
}

/// A command whose flags have settings of a file as their defaults.
#[derive(Debug)]
pub struct ConfiguredCommand {
    /// The command with those defaults.
    pub command: Command,
    /// The flags that have a setting, without dashes.
    pub flags: BTreeSet<String>,
}

/// The command with the settings of a file as defaults of its flags, also of those of its subcommands.
///
/// # Errors
///
/// If the file cannot be read, or has something that is no setting.
pub fn apply(command: Command, section: &str, file: &Path) -> Result<ConfiguredCommand, ConfigError> {
    let (mut command, mut flags) = (command, BTreeSet::new());
    for (name, value) in read(file)? {
        let Some(table) = value.as_table().filter(|_| SECTIONS.contains(&name.as_str())) else {
            return Err(ConfigError::UnknownSection { file: file.into(), key: name });
        };
        if name != section && name != "clickhouse" {
            continue;
        }
        for (key, value) in table {
            let flag = if name == "clickhouse" { format!("clickhouse-{key}") } else { key.clone() };
            let values = values(value).map_err(|kind| ConfigError::WrongType {
                file: file.into(),
                section: name.clone(),
                key: key.clone(),
                kind,
            })?;
            let (changed, is_known) = with_default(command, &flag, &values);
            command = changed;
            // The engine is the ClickHouse of the others.
            let is_of_others = section == "engine" && name == "clickhouse";
            if !is_known && !is_of_others {
                return Err(ConfigError::UnknownKey { file: file.into(), section: name, key: key.clone(), flag });
            }
            flags.insert(flag);
        }
    }
    Ok(ConfiguredCommand { command, flags })
}

fn read(file: &Path) -> Result<Table, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { file: file.into(), source };
    if std::fs::metadata(file).map_err(unreadable)?.len() > MAX_BYTES {
        return Err(ConfigError::TooLarge(file.into()));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    text.parse().map_err(|source| ConfigError::Syntax { file: file.into(), source: Box::new(source) })
}

/// The words of a value; the name of its type if it has none.
fn values(value: &Value) -> Result<Vec<String>, &'static str> {
    match value {
        Value::String(text) => Ok(vec![text.clone()]),
        Value::Integer(number) => Ok(vec![number.to_string()]),
        Value::Float(number) => Ok(vec![number.to_string()]),
        Value::Boolean(is_set) => Ok(vec![is_set.to_string()]),
        Value::Array(items) if items.iter().all(|item| !item.is_array()) => {
            Ok(items.iter().map(values).collect::<Result<Vec<_>, _>>()?.concat())
        }
        other => Err(other.type_str()),
    }
}

/// The command and its subcommands with `values` as the default of a flag, and whether any has it.
fn with_default(command: Command, flag: &str, values: &[String]) -> (Command, bool) {
    let is_it = |argument: &&Arg| argument.get_long() == Some(flag) && !NOT_SETTINGS.contains(&flag);
    let own = command.get_arguments().find(is_it).map(|argument| argument.get_id().clone());
    let mut is_known = own.is_some();
    let mut command = match own {
        Some(id) => command.mut_arg(id, |argument| argument.required(false).default_values(for_ever(values))),
        None => command,
    };
    let names: Vec<String> = command.get_subcommands().map(|of| of.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, |subcommand| {
            let (subcommand, is_its) = with_default(subcommand, flag, values);
            is_known |= is_its;
            subcommand
        });
    }
    (command, is_known)
}

/// Clap takes defaults that live as long as the process; so do settings.
fn for_ever(values: &[String]) -> Vec<&'static str> {
    values.iter().map(|value| &*value.clone().leak()).collect()
}

#[cfg(test)]
mod tests;
