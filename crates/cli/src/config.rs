//! The configuration file: TOML with a table for each program, whose keys are the names of its flags. `[clickhouse]`
//! is shared: its keys are the `clickhouse-…` flags without that word.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
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
    #[error("the configuration file {} is not valid TOML: {source}", file.display())]
    Syntax {
        /// The file, as it was named.
        file: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// It has something else at the top than tables of programs.
    #[error(
        "the configuration file {} has `{key}` at the top level, where only these tables are allowed: {}",
        file.display(), SECTIONS.join(", ")
    )]
    UnknownSection {
        /// The file, as it was named.
        file: PathBuf,
        /// What it has.
        key: String,
    },
    /// A key of the program's table is no flag of it.
    #[error("the configuration file {} sets `{section}.{key}`: there is no flag --{flag} with an environment variable",
            file.display())]
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
    #[error(
        "the configuration file {} sets `{section}.{key}` to a value of type {kind}, which it cannot have",
        file.display()
    )]
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

/// A setting of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The flag, without dashes.
    pub flag: String,
    /// The variable that the flag is read from.
    pub variable: OsString,
    /// The value as the variable has it: lists with their delimiter.
    pub value: String,
}

/// The settings of a file for the flags of a command, also of those of its subcommands.
///
/// # Errors
///
/// If the file cannot be read, or has something that is no setting.
pub fn settings(command: &Command, section: &str, file: &Path) -> Result<Vec<Setting>, ConfigError> {
    let mut settings = Vec::new();
    for (name, value) in read(file)? {
        let Some(table) = value.as_table().filter(|_| SECTIONS.contains(&name.as_str())) else {
            return Err(ConfigError::UnknownSection { file: file.into(), key: name });
        };
        // The engine is the ClickHouse of the others.
        if name != section && !(name == "clickhouse" && section != "engine") {
            continue;
        }
        for (key, value) in table {
            let flag = if name == "clickhouse" { format!("clickhouse-{key}") } else { key.clone() };
            let variables = variables(command, &flag);
            if variables.is_empty() {
                return Err(ConfigError::UnknownKey { file: file.into(), section: name, key: key.clone(), flag });
            }
            for Variable { name: variable, delimiter, is_switch } in variables {
                // A switch whose variable is set counts as given, whatever it says.
                if is_switch && *value == Value::Boolean(false) {
                    continue;
                }
                let value = text(value, delimiter).map_err(|kind| ConfigError::WrongType {
                    file: file.into(),
                    section: name.clone(),
                    key: key.clone(),
                    kind,
                })?;
                settings.push(Setting { flag: flag.clone(), variable, value });
            }
        }
    }
    Ok(settings)
}

/// A command that reads the settings of a file.
#[derive(Debug)]
pub struct ConfiguredCommand {
    /// The command, which reads them.
    pub command: Command,
    /// The flags whose variables the file has set, without dashes.
    pub flags: BTreeSet<String>,
}

/// Sets the variables that are not set yet, so that clap sees settings as it sees those of the environment: what one
/// flag requires of another holds in a file too.
pub fn apply(command: Command, settings: Vec<Setting>) -> ConfiguredCommand {
    let mut configured = ConfiguredCommand { command, flags: BTreeSet::new() };
    for Setting { flag, variable, value } in settings {
        if std::env::var_os(&variable).is_some() {
            continue;
        }
        // SAFETY: `main` calls this first; there are no other threads yet that could read the environment.
        unsafe { std::env::set_var(&variable, value) };
        configured.command = reading_again(configured.command, &variable);
        configured.flags.insert(flag);
    }
    configured
}

/// The command, whose flags have read a variable when they were made, with those that read `variable` reading it again.
fn reading_again(command: Command, variable: &OsStr) -> Command {
    let reads = |argument: &&Arg| argument.get_env() == Some(variable);
    let ids: Vec<_> = command.get_arguments().filter(reads).map(|argument| argument.get_id().clone()).collect();
    // Clap takes names that live as long as the process; so do commands.
    let name: &'static OsStr = variable.to_owned().leak();
    let command = ids.into_iter().fold(command, |command, id| command.mut_arg(id, |argument| argument.env(name)));
    let names: Vec<String> = command.get_subcommands().map(|of| of.get_name().to_owned()).collect();
    names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |subcommand| reading_again(subcommand, variable)))
}

fn read(file: &Path) -> Result<Table, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { file: file.into(), source };
    if std::fs::metadata(file).map_err(unreadable)?.len() > MAX_BYTES {
        return Err(ConfigError::TooLarge(file.into()));
    }
    let text = std::fs::read_to_string(file).map_err(unreadable)?;
    text.parse().map_err(|source| ConfigError::Syntax { file: file.into(), source: Box::new(source) })
}

/// A value as a variable has it; the name of its type if it has no such form.
fn text(value: &Value, delimiter: Option<char>) -> Result<String, &'static str> {
    match (value, delimiter) {
        (Value::String(text), _) => Ok(text.clone()),
        (Value::Integer(_) | Value::Float(_) | Value::Boolean(_), _) => Ok(value.to_string()),
        (Value::Array(items), Some(delimiter)) if items.iter().all(|item| !item.is_array()) => {
            let items: Result<Vec<String>, _> = items.iter().map(|item| text(item, None)).collect();
            Ok(items?.join(&delimiter.to_string()))
        }
        (other, _) => Err(other.type_str()),
    }
}

/// What a flag is read from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Variable {
    name: OsString,
    /// What separates several values.
    delimiter: Option<char>,
    /// Whether it takes no value.
    is_switch: bool,
}

/// The variables of a flag in a command and its subcommands; none if no flag with a variable has that name.
fn variables(command: &Command, flag: &str) -> Vec<Variable> {
    let is_it = |argument: &&Arg| argument.get_long() == Some(flag) && !NOT_SETTINGS.contains(&flag);
    let own = command.get_arguments().filter(is_it);
    let own = own.filter_map(|argument| {
        let (name, delimiter) = (argument.get_env()?.to_owned(), argument.get_value_delimiter());
        Some(Variable { name, delimiter, is_switch: matches!(argument.get_action(), ArgAction::SetTrue) })
    });
    let of_subcommands = command.get_subcommands().flat_map(|subcommand| variables(subcommand, flag));
    let mut all: Vec<_> = own.chain(of_subcommands).collect();
    all.sort();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;
