//! An answer of Sourcify's API v2, `GET /v2/contract/{chain id}/{address}?fields=all`.

use serde_json::{Map, Value};

use super::record::{ContractSource, FoundSource, MatchType, Verifier, bytes, literal_texts, text, time, version};

/// The source of the answer.
pub(super) fn read(object: &Map<String, Value>) -> Result<FoundSource, String> {
    let whole = Value::Object(object.clone());
    let sources = [&whole["sources"], &whole["stdJsonInput"]["sources"]];
    let Some(sources) = sources.into_iter().find_map(Value::as_object) else { return Ok(FoundSource::Absent) };
    let Some(texts) = literal_texts(sources) else { return Ok(FoundSource::Incomplete) };
    let compilation = &whole["compilation"];
    let qualified = text(&compilation["fullyQualifiedName"]);
    // A path may have colons itself.
    let (file_path, name) = qualified.rsplit_once(':').unwrap_or(("", qualified.as_str()));
    let stated = text(&compilation["name"]);
    let source = ContractSource {
        name: if stated.is_empty() { name.into() } else { stated },
        file_path: file_path.into(),
        language: text(&compilation["language"]),
        compiler_version: version(&text(&compilation["compilerVersion"])),
        settings: compilation["compilerSettings"]
            .as_object()
            .map_or_else(String::new, |settings| Value::Object(settings.clone()).to_string()),
        verifier: Verifier::Sourcify,
        match_type: match whole["match"].as_str() {
            Some("exact_match") => MatchType::Exact,
            Some("match") => MatchType::Partial,
            _ => MatchType::Unspecified,
        },
        constructor_arguments: bytes(&whole["creationBytecode"]["transformationValues"]["constructorArguments"]),
        verified_at: time(&whole["verifiedAt"]),
        ..ContractSource::default()
    };
    FoundSource::of_texts(source, texts)
}
