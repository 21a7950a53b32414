//! Contracts of the Etherscan-compatible interface.

use super::super::JsonWriter;
use super::transactions::{write_address, write_time};
use super::write_known;
use crate::addresses::address::Addresses;
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

/// Members about a source, of which loaded ABIs say nothing: numbers are 0, as of a contract that was not compiled
/// here.
const OF_SOURCE: [(&str, &str); 8] = [
    ("CompilerVersion", ""),
    ("OptimizationUsed", "0"),
    ("Runs", "0"),
    ("ConstructorArguments", ""),
    ("EVMVersion", "Default"),
    ("Library", ""),
    ("LicenseType", "Unknown"),
    ("SwarmSource", ""),
];

/// Writes a verified contract of a list, without its source.
pub fn write_listed_contract(writer: &mut JsonWriter, contract: &Address, addresses: &Addresses, abi: &str) {
    let name = addresses.source(contract).and_then(|(source, _)| addresses.source_name(&source));
    writer.object(|item| {
        item.key("Address").hex(contract.as_slice());
        item.key("SourceCode").string("");
        item.key("ABI").string(abi);
        item.key("ContractName").string(name.unwrap_or_default());
        OF_SOURCE[..2].iter().for_each(|(member, text)| item.key(member).string(text));
    });
}

/// Writes a contract without its source; of one that is not verified `abi` is a sentence that says so, and the name is
/// empty.
pub fn write_source(writer: &mut JsonWriter, contract: &Address, addresses: &Addresses, abi: &str) {
    let name = addresses.source(contract).and_then(|(source, _)| addresses.source_name(&source));
    let implementation = addresses.proxy(contract).and_then(|proxy| proxy.implementation);
    writer.object(|item| {
        item.key("SourceCode").string("");
        item.key("ABI").string(abi);
        item.key("ContractName").string(name.unwrap_or_default());
        OF_SOURCE.iter().for_each(|(member, text)| item.key(member).string(text));
        item.key("Proxy").string(if implementation.is_some() { "1" } else { "0" });
        write_address(item.key("Implementation"), implementation);
    });
}
