//! The source code of a contract with its texts, as what was read from a file.

use std::collections::BTreeMap;

use alloy_primitives::{B256, Bytes, keccak256};
use serde_json::{Map, Value};
use trawl_core::primitives::Timestamp;

/// Most bytes of the texts of one contract.
pub(in crate::labels) const MAX_BYTES: usize = 4 << 20;
/// Most files of one contract.
pub(in crate::labels) const MAX_FILES: usize = 4_000;

/// The service that compiled a source and compared the result with the code of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Verifier {
    /// <https://sourcify.dev>, or an instance of it.
    Sourcify,
    /// Etherscan, or an explorer with its API.
    Etherscan,
    /// A Blockscout instance.
    Blockscout,
    /// The source does not name one.
    #[default]
    Unspecified,
}

impl Verifier {
    /// Its name in `contract_sources`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sourcify => "sourcify",
            Self::Etherscan => "etherscan",
            Self::Blockscout => "blockscout",
            Self::Unspecified => "",
        }
    }
}

/// How well the compiled source matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatchType {
    /// The hash of the metadata too, and so every byte of the source.
    Exact,
    /// All but the metadata: comments and names may differ.
    Partial,
    /// The service does not say.
    #[default]
    Unspecified,
}

impl MatchType {
    /// Its name in `contract_sources`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Partial => "partial",
            Self::Unspecified => "",
        }
    }
}

/// The source code of a contract as its compiler was given it; texts that are empty are not stated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContractSource {
    /// Name of the contract in its source.
    pub name: String,
    /// File that declares the contract.
    pub file_path: String,
    /// `Solidity`, `Vyper`, `Yul` and so on.
    pub language: String,
    /// With its commit, and without a leading v.
    pub compiler_version: String,
    /// The settings of the compiler, a JSON object.
    pub settings: String,
    /// The service that verified it.
    pub verifier: Verifier,
    /// How well it matched, as they say.
    pub match_type: MatchType,
    /// ABI-encoded arguments of the constructor.
    pub constructor_arguments: Bytes,
    /// When they verified it.
    pub verified_at: Option<Timestamp>,
    /// The hashes of its files by their paths.
    pub files: BTreeMap<String, B256>,
}

/// A source and the texts of its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceRecord {
    /// What is stated of the source.
    pub source: ContractSource,
    /// The texts by their Keccak-256.
    pub contents: BTreeMap<B256, String>,
}

impl ContractSource {
    /// Keccak-256 of everything that is stated of it, by which a further load knows it.
    #[must_use]
    pub fn digest(&self) -> B256 {
        let files: Vec<(&String, &B256)> = self.files.iter().collect();
        let stated = serde_json::json!([
            [&self.name, &self.file_path, &self.language, &self.compiler_version, &self.settings],
            [self.verifier.name(), self.match_type.name()],
            self.constructor_arguments,
            self.verified_at.map(Timestamp::micros),
            files,
        ]);
        keccak256(stated.to_string())
    }
}

impl SourceRecord {
    /// A source with its texts by path. The error says what is too much.
    fn new(mut source: ContractSource, texts: BTreeMap<String, String>) -> Result<Self, String> {
        let bytes: usize = texts.values().map(String::len).sum();
        if bytes > MAX_BYTES || texts.len() > MAX_FILES {
            return Err(format!(
                "a source of {} files and {bytes} bytes is too long: {MAX_FILES} files and {MAX_BYTES} bytes at most",
                texts.len()
            ));
        }
        let mut contents = BTreeMap::new();
        for (path, text) in texts {
            let hash = keccak256(&text);
            source.files.insert(path, hash);
            contents.insert(hash, text);
        }
        Ok(Self { source, contents })
    }
}

/// What an artifact with an ABI says of the source.
pub(in crate::labels) enum FoundSource {
    /// That it has none.
    Absent,
    /// Its files are named, and not all of their texts are there.
    Incomplete,
    /// A source with all its texts.
    Whole(Box<SourceRecord>),
}

impl FoundSource {
    pub(super) fn of_texts(source: ContractSource, texts: BTreeMap<String, String>) -> Result<Self, String> {
        if texts.is_empty() {
            return Ok(Self::Absent);
        }
        SourceRecord::new(source, texts).map(|record| Self::Whole(Box::new(record)))
    }
}

/// The text of a member; empty if it is not there.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The version of a compiler without a leading v, as its own metadata has it.
pub(super) fn version(text: &str) -> String {
    text.strip_prefix('v').unwrap_or(text).to_owned()
}

/// The time of a text as RFC 3339 has it.
pub(super) fn time(value: &Value) -> Option<Timestamp> {
    let time = humantime::parse_rfc3339(value.as_str()?).ok()?;
    let micros = time.duration_since(std::time::UNIX_EPOCH).ok()?.as_micros();
    Some(Timestamp::from_micros(i64::try_from(micros).ok()?))
}

/// Bytes in hexadecimal digits, with or without `0x`; none of another text.
pub(super) fn bytes(value: &Value) -> Bytes {
    value.as_str().and_then(|text| const_hex::decode(text.trim()).ok()).map(Bytes::from).unwrap_or_default()
}

/// The texts of `{path: {"content": text}}`; `None` if one of them has no text.
pub(super) fn literal_texts(sources: &Map<String, Value>) -> Option<BTreeMap<String, String>> {
    sources.iter().map(|(path, source)| Some((path.clone(), source["content"].as_str()?.to_owned()))).collect()
}
