//! The source code of a contract as it was loaded, and what its compiler's settings say.

use serde_json::{Map, Value, json};

use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, B256, Bytes, Timestamp};

mod licence;

/// A file of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path in the input of the compiler.
    pub path: String,
    /// Keccak-256 of its text.
    pub hash: B256,
    /// The text of the file.
    pub content: String,
}

/// The source of a contract; texts that are empty are not stated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContractSource {
    /// Name of the contract in its source.
    pub name: String,
    /// File that declares the contract.
    pub file_path: String,
    /// `Solidity`, `Vyper`, `Yul` and so on, as compilers' input has it.
    pub language: String,
    /// Without a leading v.
    pub compiler_version: String,
    /// The settings of the compiler.
    pub settings: Map<String, Value>,
    /// `sourcify`, `etherscan` or `blockscout`; empty if no service verified it.
    pub verifier: String,
    /// `exact` or `partial`; empty if not stated.
    pub match_type: String,
    /// Empty for none or if not stated.
    pub constructor_arguments: Bytes,
    /// When it was verified.
    pub verified_at: Option<Timestamp>,
    /// All files; none in lists.
    pub files: Vec<SourceFile>,
}

/// A library that code was linked with.
pub(crate) struct Library<'s> {
    pub name: &'s str,
    pub address: Address,
}

impl ContractSource {
    /// The settings of a stored text; none of a text that is not an object.
    #[must_use]
    pub fn settings_of(text: &str) -> Map<String, Value> {
        serde_json::from_str(text).unwrap_or_default()
    }

    /// The file that declares the contract, if that is stated.
    #[must_use]
    pub fn main_file(&self) -> Option<&SourceFile> {
        self.files.iter().find(|file| file.path == self.file_path)
    }

    /// Whether the optimizer ran, if that is stated. Vyper's setting is a mode.
    #[must_use]
    pub fn is_optimized(&self) -> Option<bool> {
        if let Some(is_enabled) = self.optimizer("enabled").and_then(Value::as_bool) {
            return Some(is_enabled);
        }
        match self.settings.get("optimize")? {
            Value::Bool(is_enabled) => Some(*is_enabled),
            Value::String(mode) => Some(mode != "none"),
            _ => None,
        }
    }

    /// How often the code was expected to run, for the optimizer.
    #[must_use]
    pub fn optimizer_runs(&self) -> Option<u64> {
        self.optimizer("runs")?.as_u64()
    }

    fn optimizer(&self, member: &str) -> Option<&Value> {
        self.settings.get("optimizer")?.get(member)
    }

    /// The version of the EVM that was compiled for; that of the compiler's default is not stated.
    #[must_use]
    pub fn evm_version(&self) -> Option<&str> {
        self.settings.get("evmVersion")?.as_str().filter(|version| !version.is_empty())
    }

    /// The libraries of the settings.
    pub(crate) fn libraries(&self) -> impl Iterator<Item = Library<'_>> {
        let files = self.settings.get("libraries").and_then(Value::as_object);
        let libraries = files.into_iter().flat_map(Map::values).filter_map(Value::as_object).flatten();
        libraries.filter_map(|(name, address)| Some(Library { name, address: address.as_str()?.parse().ok()? }))
    }

    /// The standard input of the compiler.
    #[must_use]
    pub fn standard_input(&self) -> Value {
        let sources: Map<String, Value> =
            self.files.iter().map(|file| (file.path.clone(), json!({ "content": file.content }))).collect();
        let mut input = json!({ "sources": sources, "settings": self.settings });
        // Clients of Etherscan know no others, and fail on the whole answer.
        if ["Solidity", "Vyper"].contains(&self.language.as_str()) {
            input["language"] = self.language.as_str().into();
        }
        input
    }

    /// Whether its one text and what Etherscan states beside it are everything that a compiler needs.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        let is_stated = |(name, value): (&String, &Value)| match (name.as_str(), value) {
            ("evmVersion" | "libraries" | "outputSelection", _) => true,
            ("optimizer", Value::Object(optimizer)) => {
                optimizer.keys().all(|name| ["enabled", "runs"].contains(&name.as_str()))
            }
            (_, Value::Null | Value::Bool(false)) => true,
            (_, Value::Array(items)) => items.is_empty(),
            _ => false,
        };
        self.files.len() == 1 && self.settings.iter().all(is_stated)
    }

    /// Writes the members of Blockscout's contract that a source fills.
    pub(crate) fn write_members(&self, contract: &mut Object<'_>) {
        let main = self.main_file();
        contract.key("source_code").option(main, |writer, file| writer.string(&file.content));
        let path = Some(self.file_path.as_str()).filter(|path| !path.is_empty());
        contract.key("file_path").option(path, JsonWriter::string);
        contract.key("additional_sources").array(|files| {
            let is_main = |file: &SourceFile| main.is_some_and(|main| main.path == file.path);
            for file in self.files.iter().filter(|file| !is_main(file)) {
                files.item().object(|item| {
                    item.key("file_path").string(&file.path);
                    item.key("source_code").string(&file.content);
                });
            }
        });
        contract.key("external_libraries").array(|libraries| {
            for library in self.libraries() {
                libraries.item().object(|item| {
                    item.key("name").string(library.name);
                    item.key("address_hash").string(&library.address.to_checksum(None));
                });
            }
        });
        self.write_compiler(contract);
        contract.key("compiler_settings").raw(Value::Object(self.settings.clone()).to_string());
        contract.key("evm_version").option(self.evm_version(), JsonWriter::string);
        contract.key("optimization_runs").option(self.optimizer_runs(), JsonWriter::number);
        let arguments = Some(&self.constructor_arguments).filter(|arguments| !arguments.is_empty());
        contract.key("constructor_args").option(arguments, |writer, arguments| writer.hex(arguments));
        contract.key("is_fully_verified").option(self.is_match("exact"), JsonWriter::bool);
        contract.key("is_partially_verified").option(self.is_match("partial"), JsonWriter::bool);
        let is_sourcify = Some(self.verifier == "sourcify").filter(|_| !self.verifier.is_empty());
        contract.key("is_verified_via_sourcify").option(is_sourcify, JsonWriter::bool);
    }

    /// Writes what pages and lists of contracts say of the compiler, the licence and the time.
    pub(crate) fn write_compiler(&self, contract: &mut Object<'_>) {
        let language = Some(self.language.to_lowercase()).filter(|language| !language.is_empty());
        contract.key("language").option(language, |writer, language| writer.string(&language));
        let version = Some(&self.compiler_version).filter(|version| !version.is_empty());
        contract.key("compiler_version").option(version, |writer, version| writer.string(&format!("v{version}")));
        contract.key("optimization_enabled").option(self.is_optimized(), JsonWriter::bool);
        contract.key("license_type").option(self.licence().map(|licence| licence.blockscout), JsonWriter::string);
        contract.key("verified_at").option(self.verified_at, JsonWriter::timestamp);
        let has_arguments = Some(true).filter(|_| !self.constructor_arguments.is_empty());
        contract.key("has_constructor_args").option(has_arguments, JsonWriter::bool);
    }

    /// Whether it matched so; not known where the service did not say how.
    fn is_match(&self, match_type: &str) -> Option<bool> {
        (!self.match_type.is_empty()).then(|| self.match_type == match_type)
    }

    fn licence(&self) -> Option<&'static licence::Licence> {
        licence::of(&self.main_file()?.content)
    }

    /// The licence in Etherscan's words.
    #[must_use]
    pub(crate) fn etherscan_licence(&self) -> &'static str {
        self.licence().map_or("Unknown", |licence| licence.etherscan)
    }
}
