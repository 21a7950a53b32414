//! Each field of each result is of the kind that the page of the documentation says.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use serde_json::Value;

use super::ask;
use super::examples::{documented, examples, names};
use super::transactions::lower;
use super::transfers;
use crate::chains::{Chain, chain};

/// A kind of text, and whether it may be empty or `null`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kind {
    name: String,
    is_optional: bool,
}

/// The fields of an action's result; a result that is no object has one without a name.
type Fields = BTreeMap<String, Kind>;

/// The fields of all actions, by names in small letters.
fn fields() -> anyhow::Result<BTreeMap<String, Fields>> {
    let mut fields = BTreeMap::new();
    for row in documented("\n## Fields\n")?.iter().filter(|row| row[0].starts_with('`')) {
        // What stands in parentheses is of the members of a list.
        let cell: String = row[1]
            .split('(')
            .enumerate()
            .map(|(index, part)| if index == 0 { part } else { part.split_once(')').map_or("", |(_, rest)| rest) })
            .collect();
        let mut of_action = Fields::new();
        for part in cell.split(';') {
            let word = part.split_whitespace().next().context("a kind")?;
            let kind = Kind { name: word.trim_end_matches('?').into(), is_optional: word.ends_with('?') };
            let mut named = names(part);
            if named.is_empty() {
                named.push("");
            }
            of_action.extend(named.into_iter().map(|name| (name.to_owned(), kind.clone())));
        }
        fields.extend(names(&row[0]).into_iter().map(|action| (action.to_lowercase(), of_action.clone())));
    }
    Ok(fields)
}

fn is_hex(text: &str, digits: usize) -> bool {
    let rest = text.strip_prefix("0x").unwrap_or_default();
    rest.len() == digits && is_bytes(text)
}

fn is_bytes(text: &str) -> bool {
    text.strip_prefix("0x").is_some_and(|rest| {
        rest.len() % 2 == 0 && rest.bytes().all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
    })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

impl Kind {
    fn is_of(&self, value: &Value) -> bool {
        match (&*self.name, value) {
            (_, Value::Null) => self.is_optional && ["bool", "object"].contains(&&*self.name),
            ("number", value) => value.is_u64(),
            ("bool", value) => value.is_boolean(),
            ("list", value) => value.is_array(),
            ("object", value) => value.is_object(),
            (kind, Value::String(text)) => (self.is_optional && text.is_empty()) || is_text_of(kind, text),
            _ => false,
        }
    }
}

fn is_text_of(kind: &str, text: &str) -> bool {
    match kind {
        "digits" => is_digits(text) && (text == "0" || !text.starts_with('0')),
        "decimal" => text.parse::<f64>().is_ok() || text.replace(',', "").parse::<f64>().is_ok(),
        "quantity" => text
            .strip_prefix("0x")
            .is_some_and(|rest| rest == "0" || (!rest.starts_with('0') && u128::from_str_radix(rest, 16).is_ok())),
        "flag" => text == "0" || text == "1",
        "hash" => is_hex(text, 64),
        "address" => is_hex(text, 40),
        "data" => is_bytes(text),
        "date" => text.len() == 10 && text.split('-').all(is_digits),
        "text" => true,
        other => panic!("the page has an unknown kind {other}"),
    }
}

/// Holds a result, or each row of a list, against what the page says of the action.
pub fn ensure_fields(action: &str, answer: &Value) -> anyhow::Result<()> {
    let all = fields()?;
    let fields = all.get(&action.to_lowercase()).with_context(|| action.to_owned())?;
    let rows: Vec<&Value> = match &answer["result"] {
        Value::Array(rows) => rows.iter().collect(),
        one => vec![one],
    };
    for row in rows {
        let Some(members) = row.as_object() else {
            let kind = fields.get("").with_context(|| format!("{action} is not an object: {row}"))?;
            ensure!(kind.is_of(row), "{action}: {row} is not {kind:?}");
            continue;
        };
        let (found, due): (BTreeSet<&String>, BTreeSet<&String>) =
            (members.keys().collect(), fields.keys().filter(|name| !name.is_empty()).collect());
        ensure!(found == due, "{action} has {found:?}, due {due:?}");
        for (name, value) in members {
            ensure!(fields[name].is_of(value), "{action}: {name} is {value}, not {:?}: {row}", fields[name]);
        }
    }
    Ok(())
}

/// Holds the answers to all examples of a chain; the result is the actions that had some.
fn ensure_examples(api: &str, chain: &Chain) -> anyhow::Result<BTreeSet<String>> {
    let mut answered = BTreeSet::new();
    for example in examples(chain)? {
        let answer = ask(api, &example.text())?;
        if answer["status"] == "0" || answer["result"].is_null() {
            continue;
        }
        ensure_fields(example.action, &answer).with_context(|| format!("{}: {}", chain.name, example.text()))?;
        if answer["result"].as_array().is_none_or(|rows| !rows.is_empty()) {
            answered.insert(example.action.to_lowercase());
        }
    }
    Ok(answered)
}

/// Actions that need state and tokens.
const OF_STATE: [&str; 2] = ["tokenbalancehistory", "tokensupplyhistory"];
/// Actions that need contracts whose ABIs were loaded.
const OF_SOURCES: [&str; 3] = ["getabi", "getsourcecode", "listcontracts"];

/// On the scenario chain with its state, where the metadata of all tokens was read: amounts of each are known
/// with their decimals.
pub fn of_tokens_with_metadata(api: &str) -> anyhow::Result<()> {
    let answered = ensure_examples(api, chain("devchain"))?;
    ensure!(OF_STATE.iter().all(|action| answered.contains(*action)), "{answered:?}");
    let mut tokens = BTreeSet::new();
    for transfer in transfers::all(chain("devchain"))? {
        tokens.insert((transfer.action, lower(&transfer.row["contractAddress"])));
    }
    for (action, token) in &tokens {
        let found = ask(api, &format!("module=account&action={action}&contractaddress={token}"))?;
        for row in found["result"].as_array().into_iter().flatten() {
            ensure!(row["tokenDecimal"].as_str().is_some_and(is_digits), "{row}");
        }
    }
    ensure!(tokens.len() > 5, "{tokens:?}");
    Ok(())
}

#[test]
fn every_field_of_every_action_is_of_its_kind() -> anyhow::Result<()> {
    let mut answered = BTreeSet::new();
    for name in ["hive", "devchain", "mainnet"] {
        answered.extend(ensure_examples(&chain(name).api, chain(name))?);
    }
    let is_elsewhere = |action: &String| OF_STATE.iter().chain(&OF_SOURCES).any(|other| action == other);
    let due = fields()?.into_keys().filter(|action| !is_elsewhere(action));
    let absent: Vec<String> = due.filter(|action| !answered.contains(action)).collect();
    ensure!(absent.is_empty(), "no chain has an answer of {absent:?}");
    Ok(())
}
