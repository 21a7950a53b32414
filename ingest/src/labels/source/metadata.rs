//! The metadata that solc writes (<https://docs.soliditylang.org/en/latest/metadata.html>): in Sourcify's folders, in
//! artifacts of Foundry, and in deployments of hardhat-deploy. It has the hash of each file; where the texts are is
//! found out by it.

use std::collections::BTreeMap;
use std::path::Path;

use alloy_primitives::{Address, B256, keccak256};
use serde_json::{Map, Value};

use super::files::{SourceFinder, read_regular};
use super::record::{ContractSource, FoundSource, MAX_BYTES, MatchType, Verifier, bytes, text, version};

/// The source of an artifact with metadata, or of metadata alone.
pub(super) fn read(object: &Map<String, Value>, file: &Path) -> Result<FoundSource, String> {
    let Some(metadata) = of(object) else { return Ok(FoundSource::Absent) };
    let Some(sources) = metadata["sources"].as_object().filter(|sources| !sources.is_empty()) else {
        return Ok(FoundSource::Absent);
    };
    let mut finder = SourceFinder::new(file, object)?;
    let mut texts = BTreeMap::new();
    for (path, source) in sources {
        let hash: Option<B256> = source["keccak256"].as_str().and_then(|hash| hash.parse().ok());
        let Some(hash) = hash else { return Ok(FoundSource::Incomplete) };
        let literal = source["content"].as_str().filter(|text| keccak256(text) == hash).map(str::to_owned);
        let Some(text) = literal.or_else(|| finder.find(path, &hash)) else { return Ok(FoundSource::Incomplete) };
        texts.insert(path.clone(), text);
    }
    FoundSource::of_texts(stated(&metadata, file), texts)
}

/// The metadata of an artifact: text, an object, or the artifact itself.
fn of(object: &Map<String, Value>) -> Option<Value> {
    let metadata = match object.get("metadata") {
        Some(Value::String(text)) => serde_json::from_str(text).ok()?,
        Some(metadata @ Value::Object(_)) => metadata.clone(),
        _ => Value::Object(object.clone()),
    };
    (metadata["compiler"].is_object() && metadata["settings"].is_object()).then_some(metadata)
}

fn stated(metadata: &Value, file: &Path) -> ContractSource {
    let target = metadata["settings"]["compilationTarget"].as_object().and_then(|target| target.iter().next());
    let (file_path, name) = target.map_or_else(Default::default, |(path, name)| (path.clone(), text(name)));
    let (verifier, match_type) = verification(file);
    let beside = |name: &str| read_regular(&file.with_file_name(name), MAX_BYTES).map_or(Value::Null, Value::String);
    let is_folder = verifier == Verifier::Sourcify;
    ContractSource {
        name,
        file_path,
        language: text(&metadata["language"]),
        compiler_version: version(&text(&metadata["compiler"]["version"])),
        settings: settings(&metadata["settings"]),
        verifier,
        match_type,
        constructor_arguments: if is_folder { bytes(&beside("constructor-args.txt")) } else { <_>::default() },
        ..ContractSource::default()
    }
}

/// What Sourcify's folders say: `contracts/{full_match|partial_match}/{chain id}/{address}/metadata.json`.
fn verification(file: &Path) -> (Verifier, MatchType) {
    let folder = |depth: usize| file.ancestors().nth(depth)?.file_name()?.to_str();
    let is_chain = folder(2).is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()));
    let is_contract = folder(1).is_some_and(|name| name.starts_with("0x") && name.parse::<Address>().is_ok());
    if !is_chain || !is_contract || file.file_stem().is_none_or(|stem| stem != "metadata") {
        return (Verifier::Unspecified, MatchType::Unspecified);
    }
    let match_type = match folder(3) {
        Some("full_match") => MatchType::Exact,
        Some("partial_match") => MatchType::Partial,
        _ => MatchType::Unspecified,
    };
    (Verifier::Sourcify, match_type)
}

/// The settings as the compiler's input has them: without the target, and with libraries by file.
fn settings(settings: &Value) -> String {
    let mut settings = settings.as_object().cloned().unwrap_or_default();
    settings.remove("compilationTarget");
    if let Some(Value::Object(libraries)) = settings.get_mut("libraries") {
        let mut by_file: Map<String, Value> = Map::new();
        for (name, address) in std::mem::take(libraries) {
            let (path, name) = name.rsplit_once(':').map_or(("", name.as_str()), |(path, name)| (path, name));
            if address.is_string() {
                by_file.entry(path).or_insert_with(|| Map::new().into())[name] = address;
            } else {
                by_file.insert(name.to_owned(), address);
            }
        }
        *libraries = by_file;
    }
    Value::Object(settings).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn folders_of_sourcify_say_how_a_source_matched() {
        let of = |path: &str| verification(Path::new(path));
        let address = "0x1111111111111111111111111111111111111111";
        let metadata = |folder: &str| format!("{folder}/{address}/metadata.json");
        assert_eq!(of(&metadata("contracts/full_match/1")), (Verifier::Sourcify, MatchType::Exact));
        assert_eq!(of(&metadata("contracts/partial_match/1")), (Verifier::Sourcify, MatchType::Partial));
        assert_eq!(of(&metadata("1")), (Verifier::Sourcify, MatchType::Unspecified));
        assert_eq!(of(&metadata("deployments")), (Verifier::Unspecified, MatchType::Unspecified));
        assert_eq!(of("out/Coin.sol/Coin.json"), (Verifier::Unspecified, MatchType::Unspecified));
    }

    #[test]
    fn libraries_are_listed_by_file_as_in_the_input_of_the_compiler() {
        let given =
            json!({"compilationTarget": {"a.sol": "A"}, "libraries": {"lib/m.sol:Math": "0x12", "Old": "0x34"}});
        let settings: Value = serde_json::from_str(&settings(&given)).expect("JSON");
        assert_eq!(settings, json!({"libraries": {"lib/m.sol": {"Math": "0x12"}, "": {"Old": "0x34"}}}));
    }
}
