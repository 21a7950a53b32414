//! Contracts of the Etherscan-compatible interface.

use super::super::{JsonWriter, Object};
use super::transactions::{write_address, write_time};
use super::write_known;
use crate::addresses::address::Addresses;
use crate::contracts::source::ContractSource;
use trawl_core::primitives::{Address, B256, BlockNumber, Bytes, Timestamp};

/// How a contract was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCreation {
    /// Who signed the transaction.
    pub sender: Address,
    /// The contract that ran the creation, if one did.
    pub factory: Option<Address>,
    /// Hash of the transaction that created it.
    pub transaction: B256,
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Time of its block in microseconds.
    pub block_timestamp: i64,
    /// The code that created it, with the arguments after it; `None` if it is not known.
    pub code: Option<Bytes>,
}

/// Writes the creation of a contract, whose time has the names of both Etherscan's versions.
pub fn write_creation(writer: &mut JsonWriter, contract: &Address, creation: &ContractCreation) {
    writer.object(|item| {
        item.key("contractAddress").hex(contract.as_slice());
        item.key("contractCreator").hex(creation.sender.as_slice());
        item.key("txHash").hex(creation.transaction.as_slice());
        item.key("blockNumber").decimal(creation.block_number);
        write_time(item, creation.block_timestamp);
        item.key("timestamp").decimal(Timestamp::from_micros(creation.block_timestamp).seconds());
        write_address(item.key("contractFactory"), creation.factory);
        write_known(item.key("creationBytecode"), creation.code.as_ref(), |writer, code| writer.hex(code));
    });
}

/// Writes that a contract is of the genesis, in the words of Etherscan: no transaction created it.
pub fn write_genesis_contract(writer: &mut JsonWriter, contract: &Address) {
    writer.object(|item| {
        item.key("contractAddress").hex(contract.as_slice());
        item.key("contractCreator").string("GENESIS");
        item.key("txHash").string(&format!("GENESIS_{}", const_hex::encode(contract)));
        item.key("blockNumber").string("0");
        for member in ["timeStamp", "timestamp", "contractFactory", "creationBytecode"] {
            item.key(member).string("");
        }
    });
}

/// An ABI as JSON text, of its entries.
#[must_use]
pub fn abi_text<'e>(entries: impl Iterator<Item = &'e str>) -> String {
    format!("[{}]", entries.collect::<Vec<_>>().join(","))
}

/// What a contract says of its source.
struct SourceMembers {
    code: String,
    compiler_version: String,
    is_optimized: bool,
    runs: u64,
    constructor_arguments: String,
    evm_version: String,
    libraries: String,
    licence: &'static str,
}

impl SourceMembers {
    /// Of a contract whose ABI alone was loaded: numbers are 0, as of one that was not compiled here.
    fn unknown() -> Self {
        Self {
            code: String::new(),
            compiler_version: String::new(),
            is_optimized: false,
            runs: 0,
            constructor_arguments: String::new(),
            evm_version: "Default".into(),
            libraries: String::new(),
            licence: "Unknown",
        }
    }

    fn of(source: &ContractSource) -> Self {
        let version = &source.compiler_version;
        let libraries =
            source.libraries().map(|library| format!("{}:{}", library.name, const_hex::encode(library.address)));
        Self {
            code: source_code(source),
            compiler_version: match source.language.as_str() {
                "Vyper" => format!("vyper:{version}"),
                _ if version.is_empty() => String::new(),
                _ => format!("v{version}"),
            },
            is_optimized: source.is_optimized() == Some(true),
            runs: source.optimizer_runs().unwrap_or_default(),
            constructor_arguments: const_hex::encode(&source.constructor_arguments),
            evm_version: source.evm_version().unwrap_or("Default").into(),
            libraries: libraries.collect::<Vec<_>>().join(";"),
            licence: source.etherscan_licence(),
        }
    }

    fn write_compiler(&self, item: &mut Object<'_>) {
        item.key("CompilerVersion").string(&self.compiler_version);
        item.key("OptimizationUsed").string(if self.is_optimized { "1" } else { "0" });
    }
}

/// One text, or the compiler's standard input in braces once more, as clients of Etherscan expect several files.
fn source_code(source: &ContractSource) -> String {
    match source.files.as_slice() {
        [] => String::new(),
        [file] if source.is_flat() => file.content.clone(),
        _ => format!("{{{}}}", source.standard_input()),
    }
}

/// Writes a verified contract of a list, without its source.
pub fn write_listed_contract(
    writer: &mut JsonWriter,
    contract: &Address,
    addresses: &Addresses,
    abi: &str,
    source: Option<&ContractSource>,
) {
    let name = addresses.source(contract).and_then(|(source, _)| addresses.source_name(&source));
    writer.object(|item| {
        item.key("Address").hex(contract.as_slice());
        item.key("SourceCode").string("");
        item.key("ABI").string(abi);
        item.key("ContractName").string(name.unwrap_or_default());
        source.map_or_else(SourceMembers::unknown, SourceMembers::of).write_compiler(item);
    });
}

/// Writes a contract with its source, as far as one was loaded; of one that is not verified `abi` is a sentence that
/// says so, and the name is empty.
pub fn write_source(
    writer: &mut JsonWriter,
    contract: &Address,
    addresses: &Addresses,
    abi: &str,
    source: Option<&ContractSource>,
) {
    let name = addresses.source(contract).and_then(|(source, _)| addresses.source_name(&source));
    let name = source.map(|source| source.name.as_str()).filter(|name| !name.is_empty()).or(name);
    let implementation = addresses.proxy(contract).and_then(|proxy| proxy.implementation);
    let members = source.map_or_else(SourceMembers::unknown, SourceMembers::of);
    writer.object(|item| {
        item.key("SourceCode").string(&members.code);
        item.key("ABI").string(abi);
        item.key("ContractName").string(name.unwrap_or_default());
        members.write_compiler(item);
        item.key("Runs").decimal(members.runs);
        item.key("ConstructorArguments").string(&members.constructor_arguments);
        item.key("EVMVersion").string(&members.evm_version);
        item.key("Library").string(&members.libraries);
        item.key("LicenseType").string(members.licence);
        item.key("SwarmSource").string("");
        item.key("Proxy").string(if implementation.is_some() { "1" } else { "0" });
        write_address(item.key("Implementation"), implementation);
    });
}
