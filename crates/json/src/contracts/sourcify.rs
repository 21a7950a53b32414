//! A contract as version 2 of Sourcify's API shows it (<https://docs.sourcify.dev/docs/api/>): what was loaded of it,
//! and null for what only a compilation could tell.

mod selection;

use alloy_primitives::keccak256;
use serde_json::{Map, Value, json};

use super::source::ContractSource;
use crate::web_assets::write_metadata;
use crate::{JsonWriter, Object};
pub use selection::{FieldPath, Selection, paths_of};
use trawl_core::primitives::abi::{KnownEvent, KnownFunction};
use trawl_core::primitives::{Address, B256};

/// The transaction that created a contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// Hash of the transaction.
    pub transaction_hash: B256,
    /// Height of its block.
    pub block_number: u64,
    /// Position in the block.
    pub transaction_index: u32,
    /// The account that signed it, if it is known.
    pub deployer: Option<Address>,
}

/// A contract whose ABI was loaded.
#[derive(Debug, Clone)]
pub struct SourcifyContract<'c> {
    /// Id of the chain.
    pub chain_id: u64,
    /// Address of the contract.
    pub address: Address,
    /// Entries of its ABI, each as JSON.
    pub abi: &'c [String],
    /// Its source, if that was loaded; the files are needed by some fields alone.
    pub source: Option<&'c ContractSource>,
    /// Its creation, if that is loaded.
    pub deployment: Option<&'c Deployment>,
}

impl SourcifyContract<'_> {
    /// The fields of a selection, beside how the code matched, the chain and the address.
    #[must_use]
    pub fn write(&self, selection: &Selection) -> Vec<u8> {
        let mut writer = JsonWriter::new();
        writer.object(|contract| {
            contract.key("match").option(self.match_level(), JsonWriter::string);
            write_place(contract, self.chain_id, &self.address);
            for field in selection.fields() {
                let value = contract.key(field);
                if selection.has_members(field) {
                    value.object(|object| {
                        for member in selection.members(field) {
                            self.write_member(object.key(member), field, member);
                        }
                    });
                } else {
                    self.write_value(value, field);
                }
            }
        });
        writer.into_bytes()
    }

    /// How the compiled code matched that of the chain, as the service said that verified it.
    fn match_level(&self) -> Option<&'static str> {
        match self.source?.match_type.as_str() {
            "exact" => Some("exact_match"),
            "partial" => Some("match"),
            _ => None,
        }
    }

    fn write_value(&self, writer: &mut JsonWriter, field: &str) {
        let source = self.source;
        match field {
            "verifiedAt" => writer.option(source.and_then(|source| source.verified_at), JsonWriter::timestamp),
            "abi" => writer.array(|abi| self.abi.iter().for_each(|entry| abi.item().raw(entry))),
            "metadata" => writer.option(source, |writer, source| writer.raw(write_metadata(self.abi, Some(source)))),
            "sources" => writer.option(source, |writer, source| writer.raw(texts(source).to_string())),
            "stdJsonInput" => writer.option(source, |writer, source| writer.raw(input(source).to_string())),
            // Which of the two codes matched is not stored, and the rest is output of a compiler.
            _ => writer.null(),
        }
    }

    fn write_member(&self, writer: &mut JsonWriter, field: &str, member: &str) {
        match (field, self.source, self.deployment) {
            ("compilation", Some(source), _) => write_compilation(writer, source, member),
            ("deployment", _, Some(deployment)) => write_deployment(writer, deployment, member),
            ("signatures", ..) => writer.option(self.signatures(member), |writer, signatures| {
                writer.array(|list| signatures.iter().for_each(|signature| write_signature(list.item(), signature)));
            }),
            _ => writer.null(),
        }
    }

    /// The signatures of the functions, events or errors of the ABI; `None` if one of them cannot be read.
    fn signatures(&self, kind: &str) -> Option<Vec<String>> {
        let is_of_kind = |entry: &&String| {
            let entry: Value = serde_json::from_str(entry).unwrap_or_default();
            // Functions are what an entry without a type is (ABI specification, JSON).
            entry["type"].as_str().unwrap_or("function") == kind
        };
        let signature = |entry: &String| match kind {
            "event" => Some(KnownEvent::from_json(entry).ok()?.event.signature()),
            "error" => Some(KnownFunction::from_error(entry).ok()?.function.signature()),
            _ => Some(KnownFunction::from_json(entry).ok()?.function.signature()),
        };
        self.abi.iter().filter(is_of_kind).map(signature).collect()
    }
}

/// An address without a verified contract.
#[must_use]
pub fn write_unverified(chain_id: u64, address: &Address) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|contract| {
        ["match", "creationMatch", "runtimeMatch"].iter().for_each(|level| contract.key(level).null());
        write_place(contract, chain_id, address);
    });
    writer.into_bytes()
}

/// A refusal: its code, what is wrong, and the id under which the request is in the log.
#[must_use]
pub fn write_error(code: &str, message: &str, id: &str) -> Vec<u8> {
    json!({"customCode": code, "message": message, "errorId": id}).to_string().into_bytes()
}

fn write_place(contract: &mut Object<'_>, chain_id: u64, address: &Address) {
    contract.key("chainId").decimal(chain_id);
    contract.key("address").string(&address.to_checksum(None));
}

/// The texts by their paths.
fn texts(source: &ContractSource) -> Value {
    let text = |file: &super::source::SourceFile| (file.path.clone(), json!({"content": file.content}));
    Value::Object(source.files.iter().map(text).collect())
}

/// The standard input of the compiler, with its language whatever that is.
fn input(source: &ContractSource) -> Value {
    let mut input = source.standard_input();
    if !source.language.is_empty() {
        input["language"] = source.language.as_str().into();
    }
    input
}

fn write_compilation(writer: &mut JsonWriter, source: &ContractSource, member: &str) {
    let stated = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let text = match member {
        "language" => stated(&source.language),
        "compiler" => compiler(source).map(str::to_owned),
        "compilerVersion" => stated(&source.compiler_version),
        "name" => stated(&source.name),
        "fullyQualifiedName" => stated(&source.file_path).map(|path| format!("{path}:{}", source.name)),
        "compilerSettings" => {
            let settings = Some(&source.settings).filter(|settings| !settings.is_empty());
            let write = |writer: &mut JsonWriter, settings: &Map<String, Value>| {
                writer.raw(Value::Object(settings.clone()).to_string());
            };
            return writer.option(settings, write);
        }
        _ => None,
    };
    writer.option(text, |writer, text| writer.string(&text));
}

/// The compiler of a language, if its version is one of it alone: those of zkSync name two.
fn compiler(source: &ContractSource) -> Option<&'static str> {
    let is_alone = source.compiler_version.starts_with(|first: char| first.is_ascii_digit());
    match source.language.as_str() {
        _ if !is_alone => None,
        "Solidity" | "Yul" => Some("solc"),
        "Vyper" => Some("vyper"),
        "Fe" => Some("fe"),
        _ => None,
    }
}

fn write_deployment(writer: &mut JsonWriter, deployment: &Deployment, member: &str) {
    match member {
        "transactionHash" => writer.hex(deployment.transaction_hash.as_slice()),
        "blockNumber" => writer.decimal(deployment.block_number),
        "transactionIndex" => writer.decimal(deployment.transaction_index.into()),
        "deployer" => {
            writer.option(deployment.deployer, |writer, deployer| writer.string(&deployer.to_checksum(None)));
        }
        _ => writer.null(),
    }
}

fn write_signature(writer: &mut JsonWriter, signature: &str) {
    let hash = keccak256(signature);
    writer.object(|object| {
        object.key("signature").string(signature);
        object.key("signatureHash32").hex(hash.as_slice());
        object.key("signatureHash4").hex(&hash[..4]);
    });
}
