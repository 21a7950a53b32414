//! A record: one row or object, with facts about an address or a signature under names that many files use.

use serde_json::{Map, Value};
use trawl_core::primitives::Address;

use super::abi::Abi;
use super::error::LabelsError;
use super::label_records::{FactOrigin, LabelRecords, LabelValue};
use super::signatures;

/// A record under its plain field names.
pub(super) type Fields = Map<String, Value>;

const ADDRESS: &[&str] = &["address", "addresshash", "contractaddress"];
const NAME: &[&str] = &["name", "nametag", "addressname", "displayname"];
const CONTRACT_NAME: &[&str] = &["contractname"];
const ENS: &[&str] = &["ensdomainname", "ensname", "ens", "domainname"];
const TAGS: &[&str] = &["publictags", "publictag", "tags", "tag", "labels", "label"];
const CHAIN: &[&str] = &["chainid"];
const SIGNATURE: &[&str] = &["signature", "textsignature", "eventsignature", "functionsignature"];
const SYMBOL: &[&str] = &["symbol", "tokensymbol"];
const DECIMALS: &[&str] = &["decimals", "tokendecimals"];
const STANDARD: &[&str] = &["tokentype", "tokenstandard", "standard", "type"];
const ICON: &[&str] = &["icon", "iconurl", "logo", "logouri", "tokenicon"];
/// Standards of tokens.
const STANDARDS: [&str; 3] = ["ERC-20", "ERC-721", "ERC-1155"];
/// Kinds of tags that clients of this API family know.
const TAG_TYPES: [&str; 6] = ["name", "generic", "classifier", "information", "note", "protocol"];
/// Longest name or tag, in characters.
const MAX_VALUE: usize = 1000;
/// Longest `meta` of a tag, in bytes.
const MAX_META: usize = 4096;

/// `nameTag`, `name_tag` and `Name Tag` are one name.
pub(super) fn field_name(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase()
}

/// Whether records with such fields hold labels or signatures.
pub(super) fn is_known(names: &[String]) -> bool {
    names.iter().any(|name| ADDRESS.contains(&name.as_str()) || SIGNATURE.contains(&name.as_str()))
}

/// The object with its names made plain.
pub(super) fn plain(object: &Fields) -> Fields {
    object.iter().map(|(name, value)| (field_name(name), value.clone())).collect()
}

/// `0x` and 40 digits.
pub(super) fn address(text: &str) -> Result<Address, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let bytes = digits.filter(|digits| digits.len() == 40).and_then(|digits| const_hex::decode(digits).ok());
    bytes
        .map(|bytes| Address::from_slice(&bytes))
        .ok_or_else(|| format!("`{text:.60}` is not an address: write 0x and 40 hexadecimal digits"))
}

/// Reads a record with plain field names.
pub(super) fn read(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    fields: &Fields,
    at: &str,
) -> Result<(), LabelsError> {
    let refused = |reason: String| origin.refused(at, reason);
    if let Some(signature) = text(fields, SIGNATURE).map_err(refused)? {
        let kind = text(fields, &["kind", "type"]).map_err(refused)?;
        let hash = text(fields, &["hash", "hexsignature", "topic0", "selector", "signaturehash"]).map_err(refused)?;
        return signatures::add(found, origin, &signature, kind.as_deref(), hash.as_deref(), at);
    }
    let address = match text(fields, ADDRESS).map_err(refused)? {
        Some(text) => address(&text).map_err(refused)?,
        None => origin.address.ok_or_else(|| refused("it has no address".into()))?,
    };
    let chain_id = chain_id(fields).map_err(refused)?.or(origin.chain_id);
    if !found.is_here(origin, chain_id)? {
        return Ok(());
    }
    for (label_type, names) in [("name", NAME), ("ens_domain_name", ENS), ("contract_name", CONTRACT_NAME)] {
        if let Some(value) = text(fields, names).map_err(refused)? {
            let value = short(value).map_err(refused)?;
            found.label(origin, (address, label_type, String::new()), LabelValue { value, ..LabelValue::default() });
        }
    }
    for (slug, value) in tags(fields).map_err(refused)? {
        found.label(origin, (address, "public_tag", slug), value);
    }
    if let Some(value) = token(fields).map_err(refused)? {
        found.label(origin, (address, "token", String::new()), value);
    }
    if let Some(abi) = fields.get("abi") {
        let abi = Abi::new(abi).map_err(refused)?;
        found.abi(origin, address, None, abi);
    }
    Ok(())
}

/// What is said of a token: its symbol, and what stands beside it.
fn token(fields: &Fields) -> Result<Option<LabelValue>, String> {
    let Some(symbol) = text(fields, SYMBOL)? else {
        let alone = DECIMALS.iter().find(|name| fields.get(**name).is_some_and(|value| !is_blank(value)));
        return alone.map_or(Ok(None), |name| Err(format!("`{name}` without a `symbol`")));
    };
    let mut members = Map::new();
    if let Some(decimals) = DECIMALS.iter().find_map(|name| fields.get(*name)).filter(|value| !is_blank(value)) {
        let number = match decimals {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number = number.and_then(|number| u8::try_from(number).ok());
        members.insert("decimals".into(), number.ok_or("`decimals` is not an integer from 0 to 255")?.into());
    }
    if let Some(standard) = text(fields, STANDARD)? {
        let plain = |text: &str| text.to_uppercase().replace(['-', '_', ' '], "");
        let known = STANDARDS.into_iter().find(|known| plain(known) == plain(&standard));
        let known =
            known.ok_or_else(|| format!("type `{standard:.40}` of a token is unknown: {}", STANDARDS.join(", ")))?;
        members.insert("type".into(), known.into());
    }
    if let Some(icon) = text(fields, ICON)? {
        if !icon.starts_with("https://") {
            return Err(format!("icon `{icon:.60}` does not begin with https://"));
        }
        members.insert("icon_url".into(), short(icon)?.into());
    }
    let meta = if members.is_empty() { String::new() } else { Value::Object(members).to_string() };
    Ok(Some(LabelValue { value: short(symbol)?, meta, ..LabelValue::default() }))
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The chain a record names: a number, its decimal digits, or those after `eip155:`.
pub(super) fn chain_id(fields: &Fields) -> Result<Option<u64>, String> {
    match CHAIN.iter().find_map(|name| fields.get(*name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Number(number)) if number.is_u64() => Ok(number.as_u64()),
        Some(Value::String(text)) => {
            let digits = text.trim_start_matches("eip155:");
            digits.parse().map(Some).map_err(|_| format!("chain id `{text:.40}` is not a number"))
        }
        Some(other) => Err(format!("chain id {other} is not a number")),
    }
}

fn text(fields: &Fields, names: &[&str]) -> Result<Option<String>, String> {
    for name in names {
        match fields.get(*name) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => return Ok(Some(text.trim().into()).filter(|text: &String| !text.is_empty())),
            Some(other) => return Err(format!("`{name}` is not text but {:.60}", other.to_string())),
        }
    }
    Ok(None)
}

fn short(value: String) -> Result<String, String> {
    match value.chars().count() {
        0..=MAX_VALUE => Ok(value),
        length => Err(format!("a name of {length} characters is too long: {MAX_VALUE} at most")),
    }
}

fn tags(fields: &Fields) -> Result<Vec<(String, LabelValue)>, String> {
    let mut tags = Vec::new();
    for value in TAGS.iter().filter_map(|name| fields.get(*name)) {
        match value {
            Value::Null => {}
            Value::String(text) => {
                let each = text.split(';').map(str::trim).filter(|tag| !tag.is_empty());
                for tag in each {
                    tags.push(tag_of(&Fields::from_iter([("name".into(), tag.into())]), fields)?);
                }
            }
            Value::Array(several) => {
                for tag in several {
                    tags.push(match tag {
                        Value::String(text) => {
                            tag_of(&Fields::from_iter([("name".into(), text.as_str().into())]), fields)?
                        }
                        Value::Object(tag) => {
                            let tag = plain(tag);
                            tag_of(&tag, &tag)?
                        }
                        other => return Err(format!("{:.60} is not a tag", other.to_string())),
                    });
                }
            }
            other => return Err(format!("{:.60} is not a tag", other.to_string())),
        }
    }
    // Beside several tags a slug would be that of none of them.
    if tags.len() > 1 && fields.contains_key("slug") {
        return Err("one `slug` for several tags".into());
    }
    Ok(tags)
}

/// A tag with a text; its other members stand beside it, or in the record.
fn tag_of(tag: &Fields, members: &Fields) -> Result<(String, LabelValue), String> {
    let name = text(tag, &["name", "displayname", "label", "slug"])?.ok_or("a tag has no name")?;
    let value = short(name)?;
    let slug =
        text(members, &["slug"])?.or(if tag.contains_key("displayname") { text(tag, &["label"])? } else { None });
    let slug = slug.unwrap_or_else(|| slug_of(&value));
    let tag_type = text(members, &["tagtype"])?.unwrap_or_else(|| "generic".into());
    if !TAG_TYPES.contains(&tag_type.as_str()) {
        return Err(format!("tag type `{tag_type:.40}` is unknown: {} are known", TAG_TYPES.join(", ")));
    }
    let ordinal = match members.get("ordinal") {
        None | Some(Value::Null) => Some(0),
        Some(Value::Number(number)) => number.as_u64().and_then(|number| number.try_into().ok()),
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    let ordinal = ordinal.ok_or("`ordinal` is not a non-negative integer")?;
    Ok((slug, LabelValue { value, tag_type, ordinal, meta: meta(members)? }))
}

fn meta(members: &Fields) -> Result<String, String> {
    let meta = match members.get("meta") {
        None | Some(Value::Null) => return Ok(String::new()),
        Some(Value::String(text)) => {
            serde_json::from_str(text).map_err(|error| format!("`meta` is not JSON: {error}"))?
        }
        Some(other) => other.clone(),
    };
    match meta {
        Value::Object(meta) if meta.is_empty() => Ok(String::new()),
        Value::Object(_) if meta.to_string().len() <= MAX_META => Ok(meta.to_string()),
        Value::Object(_) => Err(format!("`meta` is longer than {MAX_META} bytes")),
        _ => Err("`meta` is not an object".into()),
    }
}

/// Letters and digits in lower case, with a dash where something else stood.
fn slug_of(name: &str) -> String {
    let parts = name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    let slug = parts.map(str::to_lowercase).collect::<Vec<_>>().join("-");
    if slug.is_empty() { name.into() } else { slug }
}
