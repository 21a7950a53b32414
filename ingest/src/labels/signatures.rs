//! Signatures of events, functions and errors for the dictionaries. Their hashes are computed here and never believed.

use alloy_primitives::{B256, Selector, keccak256};
use trawl_core::primitives::abi::{KnownEvent, function_text, parse_function};

use super::error::LabelsError;
use super::label_records::{FactOrigin, LabelRecords};

/// Reads a text of one signature a line; empty lines and lines that begin with `#` or `//` are skipped.
pub(super) fn read_lines(found: &mut LabelRecords, origin: &FactOrigin<'_>, text: &str) -> Result<(), LabelsError> {
    for (position, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') && !line.starts_with("//") {
            add(found, origin, line, None, None, &format!("line {}", position + 1))?;
        }
    }
    Ok(())
}

/// Adds a signature: as an event or a function if it names its kind, else as both, because a log and a call need
/// different ones.
pub(super) fn add(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    text: &str,
    kind: Option<&str>,
    hash: Option<&str>,
    at: &str,
) -> Result<(), LabelsError> {
    let refused = |reason: String| origin.refused(at, reason);
    let is_declared = |kind: &str| text.starts_with(&format!("{kind} "));
    let (as_event, as_function) = match kind.map(str::to_lowercase).as_deref() {
        Some("event") => (true, false),
        Some("function") => (false, true),
        None if is_declared("event") || text.contains(" indexed ") => (true, false),
        None if is_declared("function") => (false, true),
        // The data of an error is written as that of a function, and found by the same four bytes.
        Some("error") => (false, true),
        None if is_declared("error") => (false, true),
        None => (true, true),
        Some(other) => return Err(refused(format!("kind `{other:.40}` is neither event, function nor error"))),
    };
    let quoted = || text.chars().take(80).collect::<String>();
    let is_of_hash = |computed: &B256| match hash {
        Some(given) if !begins(computed, given) => {
            Err(refused(format!("`{}` has the hash {computed}, not {given:.80}", quoted())))
        }
        _ => Ok(()),
    };
    if as_event {
        let known = KnownEvent::parse(text).map_err(|error| refused(format!("`{}` is {error}", quoted())))?;
        let hash = known.event.selector();
        is_of_hash(&hash)?;
        // An anonymous event has no hash in its logs, so no lookup finds it.
        if !known.event.anonymous {
            found.events.insert((hash, known.text()), origin.name());
        }
    }
    if as_function {
        let text = text.strip_prefix("error ").unwrap_or(text);
        let function = parse_function(text).map_err(|error| refused(format!("`{}` is {error}", quoted())))?;
        let hash = keccak256(function.signature());
        is_of_hash(&hash)?;
        found.functions.insert((Selector::from_slice(&hash[..4]), function_text(&function)), origin.name());
    }
    Ok(())
}

/// Whether a hash begins with the part that a file gives: four bytes at least.
fn begins(hash: &B256, given: &str) -> bool {
    let given = const_hex::decode(given);
    given.is_ok_and(|given| given.len() >= 4 && hash.starts_with(&given))
}
