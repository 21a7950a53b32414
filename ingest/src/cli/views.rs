//! `trawl-ingest views`.

use std::path::Path;

use alloy_json_abi::JsonAbi;
use trawl_core::primitives::abi::KnownEvent;
use trawl_core::schema::event_view::{LogSource, event_view};
use trawl_core::store::{MigrateError, Writer};

use super::error::Failure;
use super::flags::ViewsFlags;

/// Longest name of a view.
const MAX_NAME: usize = 64;

/// Makes a view for each event, or prints its statement. It needs no lease: no rows are written.
pub async fn views_command(flags: ViewsFlags, writer: &Writer) -> Result<(), Failure> {
    let events = match (&flags.event, &flags.abi) {
        (Some(text), _) => vec![KnownEvent::parse(text).map_err(|error| Failure::View(error.to_string()))?],
        (None, Some(file)) => events_of(file)?,
        (None, None) => Vec::new(),
    };
    let mut statements = Vec::new();
    for known in &events {
        let name = view_name(&flags, known)?;
        match event_view(&name, known, logs_of(&flags)) {
            Ok(statement) => statements.push((name, statement)),
            Err(reason) if flags.abi.is_some() => eprintln!("passed over {}: {reason}", known.text()),
            Err(reason) => return Err(Failure::View(reason.to_string())),
        }
    }
    if flags.print {
        statements.iter().for_each(|(_, statement)| print!("{statement}"));
        return Ok(());
    }
    writer.require_schema().await?;
    writer.require_every_replica().await.map_err(MigrateError::from)?;
    for (name, statement) in statements {
        if !writer.make_event_view(&name, &statement).await? {
            let taken = format!("`{name}` is the name of another table or view: choose one with --name");
            return Err(Failure::View(taken));
        }
        println!("made {name}");
    }
    Ok(())
}

/// Which logs the views read.
fn logs_of(flags: &ViewsFlags) -> LogSource<'_> {
    match &flags.address {
        Some(contract) => LogSource::Contract(contract),
        None if flags.by_contract => LogSource::Contracts,
        None => LogSource::Heights,
    }
}

/// The name of the view of an event: that of `--name`, with the event's behind it where there are several.
fn view_name(flags: &ViewsFlags, known: &KnownEvent) -> Result<String, Failure> {
    let event = in_snake_case(&known.event.name);
    let name = match (&flags.name, &flags.abi) {
        (Some(name), None) => name.clone(),
        (Some(name), Some(_)) => format!("{name}_{event}"),
        (None, _) => format!("v_{event}"),
    };
    let mut letters = name.bytes();
    let is_start = letters.next().is_some_and(|first| first.is_ascii_lowercase() || first == b'_');
    let is_rest = letters.all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'_');
    if !is_start || !is_rest || name.len() > MAX_NAME {
        let rule = format!(
            "`{name}` is not a name of a view: use a-z, 0-9 and _, at most {MAX_NAME} characters, such as v_swaps"
        );
        return Err(Failure::View(rule));
    }
    Ok(name)
}

/// The name with words apart: `TransferSingle` is `transfer_single`.
fn in_snake_case(name: &str) -> String {
    let mut text = String::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && was_lower {
            text.push('_');
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        text.push(if letter == '$' { '_' } else { letter.to_ascii_lowercase() });
    }
    text
}

/// The events of an ABI: an array, or an object with the member `abi`.
fn events_of(file: &Path) -> Result<Vec<KnownEvent>, Failure> {
    let refused = |reason: String| Failure::View(format!("{}: {reason}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    let entries = value.get("abi").cloned().unwrap_or(value);
    let abi: JsonAbi = serde_json::from_value(entries).map_err(|error| refused(error.to_string()))?;
    let events = abi.events.into_values().flatten().filter(|event| !event.anonymous);
    events.map(|event| KnownEvent::new(event).map_err(|error| refused(error.to_string()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capitals_separate_the_words_of_names() {
        for (name, snake) in [
            ("TransferSingle", "transfer_single"),
            ("URI", "uri"),
            ("ERC20Paid", "erc20_paid"),
            ("a$B", "a_b"),
            ("a$b", "a_b"),
        ] {
            assert_eq!(in_snake_case(name), snake);
        }
    }
}
