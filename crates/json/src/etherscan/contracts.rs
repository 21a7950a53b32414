//! Contracts of the Etherscan-compatible interface.

use super::super::JsonWriter;
use super::super::address::Addresses;
use super::transactions::{write_address, write_time};
use trawl_core::primitives::{Address, B256, BlockNumber};

/// How a contract was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCreation {
    /// Who signed the transaction.
    pub sender: Address,
    /// The contract that ran the creation, if one did.
    pub factory: Option<Address>,
    /// The transaction.
    pub transaction: B256,
    /// Height of its block.
    pub block_number: BlockNumber,
    /// Time of its block in microseconds.
    pub block_timestamp: i64,
}

/// Writes the creation of a contract.
pub fn write_creation(writer: &mut JsonWriter, contract: &Address, creation: &ContractCreation) {
    writer.object(|item| {
        item.key("contractAddress").hex(contract.as_slice());
        item.key("contractCreator").hex(creation.sender.as_slice());
        item.key("txHash").hex(creation.transaction.as_slice());
        item.key("blockNumber").decimal(creation.block_number);
        write_time(item, creation.block_timestamp);
        write_address(item.key("contractFactory"), creation.factory);
    });
}

/// An ABI as JSON text, of its entries.
#[must_use]
pub fn abi_text<'e>(entries: impl Iterator<Item = &'e str>) -> String {
    format!("[{}]", entries.collect::<Vec<_>>().join(","))
}

/// Members about a source, of which loaded ABIs say nothing.
const UNKNOWN: [&str; 8] = [
    "CompilerVersion",
    "OptimizationUsed",
    "Runs",
    "ConstructorArguments",
    "EVMVersion",
    "Library",
    "LicenseType",
    "SwarmSource",
];

/// Writes a verified contract without its source.
pub fn write_source(writer: &mut JsonWriter, contract: &Address, (addresses, abi): (&Addresses, &str)) {
    let name = addresses.source(contract).and_then(|(source, _)| addresses.name_of(&source));
    let proxy = addresses.proxy(contract);
    writer.object(|item| {
        item.key("SourceCode").string("");
        item.key("ABI").string(abi);
        item.key("ContractName").string(name.unwrap_or_default());
        UNKNOWN.iter().for_each(|member| item.key(member).string(""));
        item.key("Proxy").string(if proxy.is_some() { "1" } else { "0" });
        write_address(item.key("Implementation"), proxy.and_then(|proxy| proxy.implementation));
    });
}
