//! Answers of explorers: Etherscan's `getsourcecode`, and Blockscout's `/api/v2/smart-contracts/{address}`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::record::{ContractSource, FoundSource, MatchType, Verifier, bytes, literal_texts, text, time, version};

/// Whether an object is an item of Etherscan's answer.
pub(in crate::labels) fn is_etherscan(object: &Map<String, Value>) -> bool {
    object.get("SourceCode").is_some_and(Value::is_string)
}

/// The source of a contract in Blockscout's answer.
pub(super) fn of_blockscout(object: &Map<String, Value>) -> Result<FoundSource, String> {
    let whole = Value::Object(object.clone());
    if whole["is_verified"] == false {
        return Ok(FoundSource::Absent);
    }
    let language = capitalised(&text(&whole["language"]));
    let name = text(&whole["name"]);
    let stated = text(&whole["file_path"]);
    let file_path = if stated.is_empty() { file_name(&name, &language) } else { stated };
    let others = given_texts(&whole["additional_sources"], ["file_path", "source_code"]);
    let Some(mut texts) = others else { return Ok(FoundSource::Incomplete) };
    if texts.insert(file_path.clone(), text(&whole["source_code"])).is_some() {
        return Ok(FoundSource::Incomplete);
    }
    let optimizer = (whole["optimization_enabled"].as_bool(), whole["optimization_runs"].as_u64());
    let evm_version = whole["evm_version"].as_str().filter(|version| *version != "default");
    let is_true = |name: &str| whole[name] == true;
    let source = ContractSource {
        name,
        file_path,
        language,
        compiler_version: version(&text(&whole["compiler_version"])),
        settings: match whole["compiler_settings"].as_object() {
            Some(settings) if !settings.is_empty() => {
                let mut settings = settings.clone();
                settings.remove("compilationTarget");
                Value::Object(settings).to_string()
            }
            _ => settings(optimizer.0, optimizer.1, evm_version, Map::new()),
        },
        verifier: if is_true("is_verified_via_sourcify") { Verifier::Sourcify } else { Verifier::Blockscout },
        match_type: match () {
            () if is_true("is_fully_verified") => MatchType::Exact,
            () if is_true("is_partially_verified") => MatchType::Partial,
            () => MatchType::Unspecified,
        },
        constructor_arguments: bytes(&whole["constructor_args"]),
        verified_at: time(&whole["verified_at"]),
        ..ContractSource::default()
    };
    FoundSource::of_texts(source, texts)
}

/// The texts of a list of files, with the names of their members; `None` if one has no path or text, or a path is
/// repeated.
fn given_texts(list: &Value, [path, content]: [&str; 2]) -> Option<BTreeMap<String, String>> {
    let mut texts = BTreeMap::new();
    for file in list.as_array().into_iter().flatten() {
        let name = file[path].as_str().filter(|path| !path.is_empty())?;
        if texts.insert(name.to_owned(), file[content].as_str()?.to_owned()).is_some() {
            return None;
        }
    }
    Some(texts)
}

/// The source of an item of Etherscan's answer, or of Blockscout's, which has further files beside it. The error names
/// what is wrong.
pub(in crate::labels) fn of_etherscan(object: &Map<String, Value>) -> Result<FoundSource, String> {
    let member = |name: &str| object.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let code = object.get("SourceCode").and_then(Value::as_str).unwrap_or_default();
    let (path, name) = member("ContractName").rsplit_once(':').unwrap_or(("", member("ContractName")));
    let is_blockscout = ["Address", "FileName", "AdditionalSources"].iter().any(|name| object.contains_key(*name));
    let named = ["ContractFileName", "FileName"].map(member).into_iter().find(|name| !name.is_empty());
    let stated = if path.is_empty() { named.unwrap_or_default() } else { path };
    let compiler = member("CompilerVersion");
    let language = if compiler.starts_with("vyper") { "Vyper" } else { "Solidity" };
    let given = given_files(code)?;
    let (texts, settings, language) = match given {
        GivenFiles::Flat => {
            let path = if stated.is_empty() { file_name(name, language) } else { stated.into() };
            let others = object.get("AdditionalSources").unwrap_or(&Value::Null);
            let others = given_texts(others, ["Filename", "SourceCode"]).filter(|others| !others.contains_key(&path));
            let Some(mut texts) = others else { return Ok(FoundSource::Incomplete) };
            texts.insert(path, code.to_owned());
            (texts, separate_settings(&member), language.into())
        }
        GivenFiles::ByPath(texts) => (texts, separate_settings(&member), language.into()),
        GivenFiles::StandardInput { texts, settings, language } => (texts, settings, language),
    };
    let is_similar = !member("SimilarMatch").is_empty();
    if code.is_empty() {
        return Ok(FoundSource::Absent);
    }
    let file_path = if texts.contains_key(stated) { stated.to_owned() } else { declaring_file(&texts, name) };
    let source = ContractSource {
        name: name.into(),
        file_path,
        language,
        compiler_version: version(compiler.trim_start_matches("vyper:")),
        settings,
        verifier: match () {
            // It is the source of another contract, whose code is the same but for arguments.
            () if is_similar => Verifier::Unspecified,
            () if is_blockscout => Verifier::Blockscout,
            () => Verifier::Etherscan,
        },
        constructor_arguments: if is_similar { <_>::default() } else { bytes(&member("ConstructorArguments").into()) },
        ..ContractSource::default()
    };
    FoundSource::of_texts(source, texts)
}

/// How `SourceCode` has the files.
enum GivenFiles {
    /// The text of one file.
    Flat,
    /// `{path: {"content": text}}`.
    ByPath(BTreeMap<String, String>),
    /// The compiler's standard input, in braces once more.
    StandardInput { texts: BTreeMap<String, String>, settings: String, language: String },
}

fn given_files(code: &str) -> Result<GivenFiles, String> {
    const INCOMPLETE: &str = "a file in `SourceCode` has no content";
    let trimmed = code.trim();
    let inner = trimmed.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    let Some(object) = inner
        .map(|inner| format!("{{{inner}}}"))
        .or_else(|| (trimmed.starts_with('{') && trimmed.ends_with('}')).then(|| trimmed.to_owned()))
    else {
        return Ok(GivenFiles::Flat);
    };
    // Yul begins with a brace too.
    let Ok(input) = serde_json::from_str::<Map<String, Value>>(&object) else { return Ok(GivenFiles::Flat) };
    match input.get("sources") {
        Some(Value::Object(sources)) => Ok(GivenFiles::StandardInput {
            texts: literal_texts(sources).ok_or(INCOMPLETE)?,
            settings: input.get("settings").map_or_else(String::new, |settings| without_target(settings).to_string()),
            language: input.get("language").map_or_else(|| "Solidity".into(), text),
        }),
        _ => Ok(GivenFiles::ByPath(literal_texts(&input).ok_or(INCOMPLETE)?)),
    }
}

fn without_target(settings: &Value) -> Value {
    let mut settings = settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("compilationTarget");
    }
    settings
}

/// The settings that Etherscan states in members of their own.
fn separate_settings<'m>(member: &impl Fn(&str) -> &'m str) -> String {
    let is_enabled = match member("OptimizationUsed") {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    };
    let evm_version =
        Some(member("EVMVersion")).filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case("default"));
    let libraries = member("Library").split(';').filter_map(|library| library.split_once(':'));
    let libraries: Map<String, Value> = libraries
        .map(|(name, address)| {
            let digits = address.trim_start_matches("0x");
            (name.to_owned(), format!("0x{digits}").into())
        })
        .collect();
    let runs = ["Runs", "OptimizationRuns"].iter().find_map(|name| member(name).parse().ok());
    settings(is_enabled, runs, evm_version, libraries)
}

fn settings(
    is_optimized: Option<bool>,
    runs: Option<u64>,
    evm_version: Option<&str>,
    libraries: Map<String, Value>,
) -> String {
    let mut settings = Map::new();
    if let Some(is_optimized) = is_optimized {
        let mut optimizer = json!({ "enabled": is_optimized });
        if let Some(runs) = runs {
            optimizer["runs"] = runs.into();
        }
        settings.insert("optimizer".into(), optimizer);
    }
    if let Some(version) = evm_version {
        settings.insert("evmVersion".into(), version.to_lowercase().into());
    }
    if !libraries.is_empty() {
        settings.insert("libraries".into(), json!({ "": libraries }));
    }
    if settings.is_empty() { String::new() } else { Value::Object(settings).to_string() }
}

/// The one file whose name is that of the contract, or that alone declares it; empty if none does.
fn declaring_file(texts: &BTreeMap<String, String>, name: &str) -> String {
    if let Some((path, _)) = texts.iter().next().filter(|_| texts.len() == 1) {
        return path.clone();
    }
    let declares = |text: &str| {
        let words = text.split(|of: char| !of.is_alphanumeric() && of != '_' && of != '$');
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.windows(2).any(|pair| matches!(pair[0], "contract" | "library" | "interface") && pair[1] == name)
    };
    let stem = |path: &str| {
        path.rsplit('/').next().and_then(|file| file.rsplit_once('.')).is_some_and(|(stem, _)| stem == name)
    };
    let mut declaring: Vec<&String> = texts.iter().filter(|(_, text)| declares(text)).map(|(path, _)| path).collect();
    if declaring.iter().filter(|path| stem(path)).count() == 1 {
        declaring.retain(|path| stem(path));
    }
    if let [path] = declaring.as_slice() { (*path).clone() } else { String::new() }
}

/// The name of a file that none is stated of.
fn file_name(name: &str, language: &str) -> String {
    let ending = match language {
        "Vyper" => "vy",
        "Yul" => "yul",
        _ => "sol",
    };
    let name = if name.is_empty() { "Contract" } else { name };
    format!("{name}.{ending}")
}

/// `Solidity` of `solidity`: compilers' input has names of languages so.
fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn etherscan(code: &str, name: &str) -> ContractSource {
        let item = json!({"SourceCode": code, "ContractName": name, "CompilerVersion": "v0.8.19+commit.7dd6d404",
            "OptimizationUsed": "1", "Runs": "999", "EVMVersion": "Default", "ConstructorArguments": "00ff",
            "Library": "Math:12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab"});
        match of_etherscan(item.as_object().expect("an object")).expect("a source") {
            FoundSource::Whole(record) => record.source,
            _ => panic!("no source"),
        }
    }

    #[test]
    fn one_text_gets_the_name_of_the_contract_and_its_settings() {
        let source = etherscan("contract Coin {}", "Coin");
        assert_eq!(source.files.keys().collect::<Vec<_>>(), ["Coin.sol"]);
        let settings: Value = serde_json::from_str(&source.settings).expect("JSON");
        assert_eq!(settings["optimizer"], json!({"enabled": true, "runs": 999}));
        assert_eq!(settings["libraries"][""]["Math"], "0x12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab");
        assert!(settings.get("evmVersion").is_none());
        assert_eq!(source.constructor_arguments.as_ref(), [0, 0xff]);
    }

    #[test]
    fn several_texts_come_in_one_pair_of_braces_or_two() {
        let files = json!({"a.sol": {"content": "contract A {}"}, "b/Coin.sol": {"content": "contract Coin is A {}"}});
        let input =
            json!({"language": "Solidity", "sources": files, "settings": {"viaIR": true, "compilationTarget": {}}});
        for code in [files.to_string(), format!("{{{input}}}")] {
            let source = etherscan(&code, "Coin");
            assert_eq!((source.file_path.as_str(), source.files.len()), ("b/Coin.sol", 2), "{code}");
        }
        assert_eq!(etherscan(&format!("{{{input}}}"), "Coin").settings, r#"{"viaIR":true}"#);
    }

    #[test]
    fn a_file_is_named_only_if_one_declares_the_contract() {
        let files =
            |texts: &[(&str, &str)]| texts.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
        let texts: BTreeMap<String, String> = files(&[("a.sol", "contract  Coin {}"), ("b.sol", "interface Coin {}")]);
        assert_eq!(declaring_file(&texts, "Coin"), "");
        let texts: BTreeMap<String, String> = files(&[("a.sol", "contract\nCoin{}"), ("Coin.sol", "library Coin {}")]);
        assert_eq!(declaring_file(&texts, "Coin"), "Coin.sol");
    }

    #[test]
    fn further_files_of_blockscout_belong_to_the_source() {
        let item = |further: Value| {
            json!({"Address": "0x1111111111111111111111111111111111111111", "SourceCode": "contract Coin is A {}",
                "ContractName": "Coin", "FileName": "b/Coin.sol", "CompilerVersion": "v0.8.19", "Runs": "",
                "OptimizationUsed": "true", "OptimizationRuns": "7", "AdditionalSources": further})
        };
        let read = |item: &Value| of_etherscan(item.as_object().expect("an object")).expect("a source");
        let FoundSource::Whole(found) = read(&item(json!([{"Filename": "a.sol", "SourceCode": "contract A {}"}])))
        else {
            panic!("no source")
        };
        let source = found.source;
        assert_eq!(source.files.keys().collect::<Vec<_>>(), ["a.sol", "b/Coin.sol"]);
        assert_eq!((source.file_path.as_str(), source.verifier), ("b/Coin.sol", Verifier::Blockscout));
        assert_eq!(source.settings, r#"{"optimizer":{"enabled":true,"runs":7}}"#);
        for broken in [json!([{"Filename": "a.sol"}]), json!([{"Filename": "b/Coin.sol", "SourceCode": "x"}])] {
            assert!(matches!(read(&item(broken)), FoundSource::Incomplete));
        }
    }

    #[test]
    fn yul_and_contracts_that_are_not_verified_are_no_json() {
        assert_eq!(etherscan("{ sstore(0, 1) }", "Raw").files.len(), 1);
        let item = json!({"SourceCode": "", "ABI": "Contract source code not verified", "ContractName": ""});
        assert!(matches!(of_etherscan(item.as_object().expect("an object")), Ok(FoundSource::Absent)));
    }
}
