//! What packages declare, a line each, with the names of parameters that most of them use.

use std::collections::{BTreeMap, BTreeSet};

use alloy_json_abi::{Error, Event, EventParam, Function, Param};
use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Function,
    Event,
    Error,
}

/// A declaration without names of parameters: what hashes are made of, and which parameters of an event are indexed.
type Bare = (Kind, String);
/// The lines that differ in names alone, each with the packages that have it.
type Lines = BTreeMap<String, BTreeSet<String>>;

#[derive(Debug, Default)]
pub struct Declarations {
    found: BTreeMap<Bare, Lines>,
}

/// Longest line: longer ones take much room and are rare.
const MAX_LINE: usize = 600;
/// What Solidity itself reverts with; no ABI names them.
const OF_SOLIDITY: [&str; 2] = ["Error(string reason)", "Panic(uint256 code)"];

impl Declarations {
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// An entry of an ABI; what is none is passed over, as are anonymous events, which no hash finds.
    pub fn add_entry(&mut self, package: &str, kind: Kind, entry: &Value) {
        let mut entry = entry.clone();
        if let Some(object) = entry.as_object_mut() {
            // Those of old compilers lack what newer ones require, and nothing of it is in a signature.
            object.entry("anonymous").or_insert(Value::Bool(false));
            object.entry("stateMutability").or_insert("nonpayable".into());
            object.insert("outputs".into(), Value::Array(Vec::new()));
        }
        let read = match kind {
            Kind::Function => serde_json::from_value(entry).ok().map(|function: Function| of_function(&function)),
            Kind::Event => serde_json::from_value(entry).ok().and_then(|event: Event| of_event(&event)),
            Kind::Error => serde_json::from_value(entry).ok().map(|error: Error| of_error(&error)),
        };
        self.add(package, kind, read);
    }

    /// A line for people.
    pub fn add_line(&mut self, package: &str, kind: Kind, line: &str) {
        let line = line.trim().trim_end_matches(';').replace("tuple(", "(");
        let read = match kind {
            Kind::Function => Function::parse(&line).ok().map(|function| of_function(&function)),
            Kind::Event => Event::parse(&line).ok().and_then(|event| of_event(&event)),
            Kind::Error => Error::parse(&line).ok().map(|error| of_error(&error)),
        };
        self.add(package, kind, read);
    }

    fn add(&mut self, package: &str, kind: Kind, read: Option<(String, String)>) {
        let Some((bare, line)) = read else { return };
        let is_plain = line.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
        if is_of_known_types(&bare)
            && line.len() <= MAX_LINE
            && is_plain
            && line.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        {
            self.found.entry((kind, bare)).or_default().entry(line).or_default().insert(package.into());
        }
    }

    /// In order, so that a new version of a package is a small difference.
    pub fn lines(&self, kind: Kind) -> Vec<String> {
        let of_kind = self.found.iter().filter(|((known, _), _)| *known == kind);
        let mut lines: Vec<String> = of_kind.filter_map(|(_, lines)| most_used(lines)).collect();
        if kind == Kind::Error {
            lines.retain(|line| !OF_SOLIDITY.iter().any(|own| own.split('(').next() == line.split('(').next()));
            lines.extend(OF_SOLIDITY.map(str::to_owned));
        }
        lines.sort();
        lines
    }
}

/// Libraries that are linked have names of their own types in their ABIs, of which no selector is made.
fn is_of_known_types(bare: &str) -> bool {
    let types = bare.split_once('(').map_or("", |(_, types)| types);
    types.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').all(|word| {
        let name = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        match name {
            "" | "int" | "uint" | "bytes" => true,
            _ => name == word && ["address", "bool", "string", "function"].contains(&word),
        }
    })
}

/// The line of most packages, of as many the one with most names.
fn most_used(lines: &Lines) -> Option<String> {
    let names = |line: &str| line.matches(' ').count();
    lines.iter().max_by_key(|(line, packages)| (packages.len(), names(line))).map(|(line, _)| line.clone())
}

fn of_function(function: &Function) -> (String, String) {
    (function.signature(), line(&function.name, &function.inputs))
}

fn of_error(error: &Error) -> (String, String) {
    (error.signature(), line(&error.name, &error.inputs))
}

fn line(name: &str, inputs: &[Param]) -> String {
    let input = |input: &Param| format!("{} {}", input.selector_type(), input.name).trim_end().to_owned();
    format!("{name}({})", inputs.iter().map(input).collect::<Vec<_>>().join(", "))
}

fn of_event(event: &Event) -> Option<(String, String)> {
    let indexed = event.inputs.iter().filter(|input| input.indexed).count();
    if event.anonymous || indexed > 3 {
        return None;
    }
    let input = |input: &EventParam| {
        let flag = if input.indexed { " indexed" } else { "" };
        format!("{}{flag} {}", input.selector_type(), input.name).trim_end().to_owned()
    };
    let line = format!("{}({})", event.name, event.inputs.iter().map(input).collect::<Vec<_>>().join(", "));
    let flags: String = event.inputs.iter().map(|input| if input.indexed { '1' } else { '0' }).collect();
    Some((format!("{} {flags}", event.signature()), line))
}
