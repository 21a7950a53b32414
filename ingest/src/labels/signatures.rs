//! Signatures of events and functions for the dictionaries. Their hashes are computed here and never believed.

use alloy_primitives::{B256, Selector, keccak256};
use trawl_core::primitives::abi::{KnownEvent, function_text, parse_function};

use super::error::LabelsError;
use super::found::{Found, Place};

/// Reads a text of one signature a line; empty lines and lines that begin with `#` or `//` say nothing.
pub(super) fn read_lines(found: &mut Found, place: &Place<'_>, text: &str) -> Result<(), LabelsError> {
    for (position, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') && !line.starts_with("//") {
            add(found, place, line, None, None, &format!("line {}", position + 1))?;
        }
    }
    Ok(())
}

/// Adds a signature: as an event or a function if it says which, else as both, because a log and a call ask for
/// different ones.
pub(super) fn add(
    found: &mut Found,
    place: &Place<'_>,
    text: &str,
    kind: Option<&str>,
    hash: Option<&str>,
    at: &str,
) -> Result<(), LabelsError> {
    let refused = |reason: String| place.refused(at, reason);
    let is_declared = |word: &str| text.starts_with(&format!("{word} "));
    let (as_event, as_function) = match kind.map(str::to_lowercase).as_deref() {
        Some("event") => (true, false),
        Some("function") => (false, true),
        None if is_declared("event") || text.contains(" indexed ") => (true, false),
        None if is_declared("function") => (false, true),
        None => (true, true),
        Some(other) => return Err(refused(format!("kind `{other:.40}` is neither event nor function"))),
    };
    let quoted = || text.chars().take(80).collect::<String>();
    let mut computed = None;
    if as_event {
        let known = KnownEvent::parse(text).map_err(|error| refused(format!("`{}` is {error}", quoted())))?;
        let hash = known.event.selector();
        computed = Some(hash);
        // An event without a hash in its logs is found by nobody.
        if !known.event.anonymous {
            found.events.insert((hash, known.text()), place.name());
        }
    }
    if as_function {
        let function = parse_function(text).map_err(|error| refused(format!("`{}` is {error}", quoted())))?;
        let hash = keccak256(function.signature());
        computed = Some(hash);
        found.functions.insert((Selector::from_slice(&hash[..4]), function_text(&function)), place.name());
    }
    match (hash, computed) {
        (Some(told), Some(computed)) if !begins(&computed, told) => {
            Err(refused(format!("`{}` has the hash {computed}, not {told:.80}", quoted())))
        }
        _ => Ok(()),
    }
}

/// Whether a hash begins with what a file tells of it: four bytes at least.
fn begins(hash: &B256, told: &str) -> bool {
    let told = const_hex::decode(told);
    told.is_ok_and(|told| told.len() >= 4 && hash.starts_with(&told))
}
