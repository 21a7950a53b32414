//! Metadata of token ids (ERC-721, ERC-1155) that stand in the URI itself, as the answer of an id has them
//! (docs/reference/http-contract.md#metadata-of-ids). A contract may return anything: what is written is always one
//! JSON object whose names differ, and no more than the contract gave.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::data_uri::DataUri;
use crate::{JsonWriter, Object};
use trawl_core::primitives::U256;

/// Most bytes of a URI that is read, and of the JSON in it.
pub const MAX_URI_BYTES: usize = 64 << 10;
/// Most objects and lists around a value.
const MAX_DEPTH: usize = 32;
/// Digits that every double keeps: clients read numbers as doubles.
const MAX_DIGITS: usize = 15;
/// Stands for the id in the metadata of ERC-1155.
const PLACEHOLDER: &str = "{id}";

/// The metadata of an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdMetadata {
    json: Vec<u8>,
    image_url: Option<String>,
    media_type: Option<String>,
    animation_url: Option<String>,
    external_app_url: Option<String>,
}

/// The members of an object by name; of those with one name the last counts, as in browsers.
type Members<'j> = BTreeMap<String, &'j RawValue>;

impl IdMetadata {
    /// The metadata in a `data:` URI of JSON; `None` for other URIs, and for other JSON than an object.
    ///
    /// `id` is that of an ERC-1155 token, in whose metadata it replaces `{id}`.
    #[must_use]
    pub fn of_uri(uri: &str, id: Option<U256>) -> Option<Self> {
        let uri =
            DataUri::new(uri).filter(|data| data.media_type == "application/json" && uri.len() <= MAX_URI_BYTES)?;
        let decoded = uri.bytes().and_then(|bytes| String::from_utf8(bytes).ok());
        let found = decoded.and_then(|json| Self::of_json(json, id));
        // Some contracts put JSON into the URI as it is, in which a `%` is no escape.
        found.or_else(|| Self::of_json(uri.body.to_owned(), id).filter(|_| !uri.is_base64))
    }

    fn of_json(json: String, id: Option<U256>) -> Option<Self> {
        let json = match id {
            Some(id) if json.contains(PLACEHOLDER) => json.replace(PLACEHOLDER, &format!("{id:064x}")),
            _ => json,
        };
        let members: Members<'_> = serde_json::from_str(&json).ok().filter(|_| json.len() <= MAX_URI_BYTES)?;
        let mut writer = JsonWriter::new();
        write_object(&mut writer, &members, MAX_DEPTH)?;
        let picture = |name: &str| text(&members, name).filter(|url| is_elsewhere(url) || media_type(url).is_some());
        let image_url = picture("image_url").or_else(|| picture("image"));
        Some(Self {
            json: writer.into_bytes(),
            media_type: image_url.as_deref().and_then(media_type),
            image_url,
            animation_url: text(&members, "animation_url").filter(|url| is_elsewhere(url)),
            external_app_url: text(&members, "external_url").filter(|url| is_page(url)),
        })
    }

    /// Writes the members of an id that are made of its metadata; null without.
    pub(super) fn write(metadata: Option<&Self>, item: &mut Object<'_>) {
        item.key("metadata").option(metadata, |writer, metadata| writer.raw(&metadata.json));
        for (name, value) in [
            ("image_url", metadata.and_then(|metadata| metadata.image_url.as_deref())),
            ("media_type", metadata.and_then(|metadata| metadata.media_type.as_deref())),
            ("animation_url", metadata.and_then(|metadata| metadata.animation_url.as_deref())),
            ("external_app_url", metadata.and_then(|metadata| metadata.external_app_url.as_deref())),
        ] {
            item.key(name).option(value, JsonWriter::string);
        }
    }
}

/// The text of a member; `None` if it is none.
fn text(members: &Members<'_>, name: &str) -> Option<String> {
    serde_json::from_str(members.get(name)?.get()).ok()
}

/// Whether the text begins with one of these, in capitals or not.
fn begins_with(text: &str, beginnings: &[&str]) -> bool {
    let begins = |with: &str| text.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    beginnings.iter().any(|with| begins(with))
}

/// Whether it is a page that a client may link to: no scheme that runs something.
fn is_page(url: &str) -> bool {
    begins_with(url, &["https://", "http://"])
}

/// Whether it names a file elsewhere.
fn is_elsewhere(url: &str) -> bool {
    is_page(url) || begins_with(url, &["ipfs://", "ar://"])
}

/// The media type of a picture that stands in the URL itself; `None` for anything else, so for documents too.
fn media_type(url: &str) -> Option<String> {
    let is_subtype = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    DataUri::new(url).map(|uri| uri.media_type).filter(|kind| kind.strip_prefix("image/").is_some_and(is_subtype))
}

/// Writes an object anew; `None` if something in it is too deep or no text.
fn write_object(writer: &mut JsonWriter, members: &Members<'_>, depth: usize) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    let mut written = Some(());
    writer.object(|object| {
        written = members.iter().try_for_each(|(name, value)| write_value(object.text_key(name), value, depth));
    });
    written
}

fn write_value(writer: &mut JsonWriter, value: &RawValue, depth: usize) -> Option<()> {
    let json = value.get();
    match json.as_bytes().first()? {
        b'{' => write_object(writer, &serde_json::from_str(json).ok()?, depth)?,
        b'[' => {
            let (items, depth): (Vec<&RawValue>, _) = (serde_json::from_str(json).ok()?, depth.checked_sub(1)?);
            let mut written = Some(());
            writer.array(|list| {
                written = items.iter().try_for_each(|item| write_value(list.item(), item, depth));
            });
            written?;
        }
        b'"' => writer.string(&serde_json::from_str::<String>(json).ok()?),
        b'-' | b'0'..=b'9' if !is_number_of_clients(json) => writer.string(json),
        _ => writer.raw(json),
    }
    Some(())
}

/// Whether clients read the number as it is written: they would lose digits of others, or take them for infinite.
fn is_number_of_clients(number: &str) -> bool {
    number.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte)) && number.len() <= MAX_DIGITS
}

#[cfg(test)]
mod tests;
