//! JSON in the forms that tools write: lists and lines of records, maps by address or by hash, artifacts, deployments.

use serde_json::{Map, Value};

use super::abi::{Abi, looks_like_abi};
use super::error::LabelsError;
use super::label_records::{ByChance, FactOrigin, LabelRecords};
use super::record::{self, Fields};
use super::signatures;
use super::source::{self, FoundSource, SourceRecord};

/// Reads a text of one or more JSON values.
pub(super) fn read(found: &mut LabelRecords, origin: &FactOrigin<'_>, text: &str) -> Result<(), LabelsError> {
    let mut values = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}')).into_iter::<Value>();
    loop {
        let start = values.byte_offset();
        let Some(value) = values.next() else { return Ok(()) };
        let value =
            value.map_err(|error| origin.refused(format!("line {}", error.line()), format!("not JSON: {error}")))?;
        let skipped = text.get(start..).map_or(0, |rest| rest.len() - rest.trim_start().len());
        let line = text.get(..start + skipped).map_or(0, |before| before.matches('\n').count()) + 1;
        whole(found, origin, &value, &format!("line {line}"))?;
    }
}

/// A value that stands by itself.
fn whole(found: &mut LabelRecords, origin: &FactOrigin<'_>, value: &Value, at: &str) -> Result<(), LabelsError> {
    match value {
        Value::Array(_) if looks_like_abi(value) => bare_abi(found, origin, value, at),
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                let at = format!("{at}, item {position}");
                match item {
                    Value::String(signature) => signatures::add(found, origin, signature, None, None, &at)?,
                    Value::Object(object) => object_of(found, origin, object, &at)?,
                    other => return unknown(found, origin, &at, &format!("{:.60}", other.to_string())),
                }
            }
            Ok(())
        }
        Value::Object(object) => object_of(found, origin, object, at),
        other => unknown(found, origin, at, &format!("{:.60}", other.to_string())),
    }
}

fn unknown(found: &mut LabelRecords, origin: &FactOrigin<'_>, at: &str, what: &str) -> Result<(), LabelsError> {
    if origin.found == ByChance::Yes {
        found.pass_over("files of other formats");
        return Ok(());
    }
    Err(origin.refused(at, format!("{what} has an unknown format: see `labels` in the README")))
}

fn object_of(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    object: &Map<String, Value>,
    at: &str,
) -> Result<(), LabelsError> {
    let inner = |name: &str| object.get(name).and_then(Value::as_object);
    if source::is_etherscan(object) {
        return etherscan_item(found, origin, object, at);
    }
    if let Some(Value::Array(items)) = object.get("result") {
        return whole(found, origin, &Value::Array(items.clone()), &format!("{at}, result"));
    }
    if let Some(abi) = object.get("abi").or_else(|| object.get("output")?.get("abi")) {
        return artifact(found, origin, object, abi, at);
    }
    if let (Some(Value::Array(transactions)), true) = (object.get("transactions"), object.contains_key("chain")) {
        return broadcast(found, origin, object, transactions);
    }
    if let Some(Value::Array(results)) = object.get("results") {
        return whole(found, origin, &Value::Array(results.clone()), &format!("{at}, results"));
    }
    if let Some(result) = inner("result") {
        return object_of(found, origin, result, at);
    }
    if inner("event").is_some() || inner("function").is_some() {
        for kind in ["event", "function"] {
            by_hash(found, origin, inner(kind).unwrap_or(&Map::new()), Some(kind), at)?;
        }
        return Ok(());
    }
    let is_map_by = |is_key: fn(&str) -> bool| !object.is_empty() && object.keys().all(|key| is_key(key));
    if is_map_by(|key| record::address(key).is_ok()) {
        return by_address(found, origin, object, at);
    }
    if is_map_by(is_hash) {
        return by_hash(found, origin, object, None, at);
    }
    if is_map_by(|key| key.contains('#')) {
        return ignition(found, origin, object, at);
    }
    let fields = record::plain(object);
    let names: Vec<String> = fields.keys().cloned().collect();
    if record::is_known(&names) || (origin.address.is_some() && origin.found == ByChance::No) {
        return record::read(found, origin, &fields, at);
    }
    unknown(found, origin, at, "this object")
}

fn is_hash(key: &str) -> bool {
    key.strip_prefix("0x")
        .is_some_and(|digits| matches!(digits.len(), 8 | 64) && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// A value for each address: a name, tags, an ABI, or a record.
fn by_address(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    map: &Map<String, Value>,
    at: &str,
) -> Result<(), LabelsError> {
    for (address, value) in map {
        let at = format!("{at}, {address}");
        let mut fields = match value {
            Value::Object(object) => record::plain(object),
            Value::String(name) => Fields::from_iter([("name".into(), name.as_str().into())]),
            Value::Array(_) if looks_like_abi(value) => Fields::from_iter([("abi".into(), value.clone())]),
            Value::Array(_) => Fields::from_iter([("tags".into(), value.clone())]),
            other => return Err(origin.refused(at, format!("{:.60} is not a label of an address", other.to_string()))),
        };
        fields.insert("address".into(), address.as_str().into());
        record::read(found, origin, &fields, &at)?;
    }
    Ok(())
}

/// Signatures by their hashes, which are held against them.
fn by_hash(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    map: &Map<String, Value>,
    kind: Option<&str>,
    at: &str,
) -> Result<(), LabelsError> {
    for (hash, value) in map {
        let at = format!("{at}, {hash}");
        // Four bytes are of functions, and a whole hash of events, unless the file states the kind.
        let kind = kind.or(Some(if hash.len() == 10 { "function" } else { "event" }));
        let several = match value {
            Value::Array(several) => several.as_slice(),
            Value::Null => &[],
            one => std::slice::from_ref(one),
        };
        for one in several {
            let signature = one.as_str().or_else(|| one["name"].as_str()).or_else(|| one["signature"].as_str());
            let signature = signature.ok_or_else(|| origin.refused(&at, "there is no signature"))?;
            signatures::add(found, origin, signature, kind, Some(hash), &at)?;
        }
    }
    Ok(())
}

fn bare_abi(found: &mut LabelRecords, origin: &FactOrigin<'_>, value: &Value, at: &str) -> Result<(), LabelsError> {
    let abi = Abi::new(value).map_err(|reason| origin.refused(at, reason))?;
    match origin.address {
        Some(address) if found.is_here(origin, origin.chain_id)? => found.abi(origin, address, None, abi),
        Some(_) => {}
        None if origin.found == ByChance::Yes => found.without_address(origin, None, &abi, None),
        None => return Err(without_address(origin, at)),
    }
    Ok(())
}

fn without_address(origin: &FactOrigin<'_>, at: &str) -> LabelsError {
    origin.refused(at, "an ABI without a contract: give it as ADDRESS=FILE")
}

/// An artifact of a compiler, a record of a deployment, or the metadata of verified source.
fn artifact(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    object: &Map<String, Value>,
    abi: &Value,
    at: &str,
) -> Result<(), LabelsError> {
    let refused = |reason: String| origin.refused(at, reason);
    if abi.is_null() {
        return unknown(found, origin, at, "an artifact without an ABI");
    }
    let abi = Abi::new(abi).map_err(refused)?;
    let mut fields = record::plain(object);
    let chain_id = record::chain_id(&fields).map_err(refused)?.or(origin.chain_id);
    let own = match object.get("address") {
        Some(Value::String(text)) => Some(record::address(text).map_err(refused)?),
        _ => deployed_on(object, found.chain_id).map(|text| record::address(text).map_err(refused)).transpose()?,
    };
    let name = contract_name(object).or_else(|| stated_name(object, &fields));
    let address = origin.address.or(own);
    if address.is_some() && !found.is_here(origin, chain_id)? {
        return Ok(());
    }
    let source = match source::of_artifact(object, origin.file) {
        Err(_) if origin.found == ByChance::Yes => {
            found.pass_over("sources that are too long");
            None
        }
        source => whole_source(found, source.map_err(refused)?),
    };
    let Some(address) = address else {
        if origin.found == ByChance::Yes || name.is_some() {
            found.without_address(origin, name, &abi, source.as_ref());
            return Ok(());
        }
        return Err(without_address(origin, at));
    };
    // A record of a deployment is called like its contract.
    let by_file = || origin.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or_else(|| by_file().filter(|stem| stem != "metadata" && record::address(stem).is_err()));
    found.abi(origin, address, name, abi);
    if let Some(source) = source {
        found.source(origin.name(), address, source);
    }
    // Other fields of a record with an address are labels; artifacts have other things under such names.
    if object.contains_key("address") {
        fields
            .retain(|name, _| matches!(name.as_str(), "nametag" | "ensdomainname" | "ensname" | "tags" | "publictags"));
        fields.insert("address".into(), address.to_string().into());
        record::read(found, origin, &fields, at)?;
    }
    Ok(())
}

/// A source with all its texts; others are counted.
fn whole_source(found: &mut LabelRecords, source: FoundSource) -> Option<SourceRecord> {
    match source {
        FoundSource::Absent => None,
        FoundSource::Incomplete => {
            found.pass_over("sources without the text of each file");
            None
        }
        FoundSource::Whole(record) => Some(*record),
    }
}

/// An item of Etherscan's `getsourcecode`: a contract that is not verified has a sentence instead of an ABI.
fn etherscan_item(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    object: &Map<String, Value>,
    at: &str,
) -> Result<(), LabelsError> {
    let refused = |reason: String| origin.refused(at, reason);
    let member = |name: &str| object.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    // Blockscout's answer has the address; Etherscan's has none.
    let own = member("Address").map(|text| record::address(text).map_err(refused)).transpose()?;
    let address = origin.address.or(own).ok_or_else(|| {
        origin.refused(at, "a source without a contract: give it as ADDRESS=FILE, or name the file by its address")
    })?;
    let Some(source) = whole_source(found, source::of_etherscan(object).map_err(refused)?) else {
        found.pass_over("contracts that are not verified");
        return Ok(());
    };
    if !found.is_here(origin, origin.chain_id)? {
        return Ok(());
    }
    let abi = member("ABI").map(|text| Abi::new(&text.into()).map_err(refused)).transpose()?;
    if let Some(abi) = abi {
        found.abi(origin, address, Some(source.source.name.clone()), abi);
    }
    found.source(origin.name(), address, source);
    Ok(())
}

/// The name of the contract, as far as compilers name it.
fn contract_name(object: &Map<String, Value>) -> Option<String> {
    let text = |value: &Value| value.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    let target = |metadata: &Value| metadata["settings"]["compilationTarget"].as_object()?.values().find_map(text);
    let whole = Value::Object(object.clone());
    text(&whole["contractName"])
        .or_else(|| text(&whole["compilation"]["name"]))
        .or_else(|| target(&whole))
        .or_else(|| target(&whole["metadata"]))
}

/// The name that a record with an address has for its contract, in the words of labels.
fn stated_name(object: &Map<String, Value>, fields: &Fields) -> Option<String> {
    let text = |name: &str| fields.get(name)?.as_str().filter(|name| !name.is_empty()).map(str::to_owned);
    object.contains_key("address").then(|| text("contractname").or_else(|| text("name")))?
}

/// The deployment that an artifact names: `networks.<chain id>.address`.
fn deployed_on(object: &Map<String, Value>, chain_id: Option<u64>) -> Option<&str> {
    object.get("networks")?.get(chain_id?.to_string())?.get("address")?.as_str()
}

/// What a script deployed: transactions that create, with the name of the contract.
fn broadcast(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    object: &Map<String, Value>,
    transactions: &[Value],
) -> Result<(), LabelsError> {
    if !found.is_here(origin, object.get("chain").and_then(Value::as_u64).or(origin.chain_id))? {
        return Ok(());
    }
    for (position, transaction) in transactions.iter().enumerate() {
        let is_creation = matches!(transaction["transactionType"].as_str(), Some("CREATE" | "CREATE2"));
        if let (true, Some(address), Some(name)) =
            (is_creation, transaction["contractAddress"].as_str(), transaction["contractName"].as_str())
        {
            let address =
                record::address(address).map_err(|reason| origin.refused(format!("transaction {position}"), reason))?;
            found.deployed.push((address, name.into(), origin.name()));
        }
    }
    Ok(())
}

/// Addresses by `Module#Contract`.
fn ignition(
    found: &mut LabelRecords,
    origin: &FactOrigin<'_>,
    map: &Map<String, Value>,
    at: &str,
) -> Result<(), LabelsError> {
    if !found.is_here(origin, origin.chain_id)? {
        return Ok(());
    }
    for (name, address) in map {
        let address = record::address(address.as_str().unwrap_or_default())
            .map_err(|reason| origin.refused(format!("{at}, {name}"), reason))?;
        found.deployed.push((address, name.clone(), origin.name()));
    }
    Ok(())
}
