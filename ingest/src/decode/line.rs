//! Writes the line that [`decode`](super::decode) reads.

use serde_json::value::RawValue;

/// Puts the pieces of a block into one line.
#[must_use]
pub fn line(block: &RawValue, receipts: Option<&RawValue>, uncle_headers: &[Box<RawValue>]) -> String {
    let uncles_length: usize = uncle_headers.iter().map(|uncle| uncle.get().len() + 1).sum();
    let length = block.get().len() + receipts.map_or(0, |receipts| receipts.get().len()) + uncles_length + 64;
    let mut text = String::with_capacity(length);
    text.push_str(r#"{"block":"#);
    text.push_str(block.get());
    if let Some(receipts) = receipts {
        text.push_str(r#","receipts":"#);
        text.push_str(receipts.get());
    }
    text.push_str(r#","uncleHeaders":["#);
    for (position, uncle) in uncle_headers.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(uncle.get());
    }
    text.push_str("]}");
    text
}

/// Adds members to a line that [`fn@line`] made.
#[must_use]
pub fn with_members(mut line: String, members: &[(&str, Box<RawValue>)]) -> String {
    for (name, value) in members {
        line = with_part(line, name, value);
    }
    line
}

/// Adds a part from another request to a `line`.
#[must_use]
pub fn with_part(mut line: String, name: &str, part: &RawValue) -> String {
    let is_object = line.pop() == Some('}');
    debug_assert!(is_object, "a line is a JSON object");
    line.reserve(part.get().len() + name.len() + 5);
    line.extend([",\"", name, "\":", part.get(), "}"]);
    line
}
