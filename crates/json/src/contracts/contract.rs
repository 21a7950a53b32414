//! A contract: its code, its ABI, and who runs its calls (docs/reference/http-contract.md#contracts).

use crate::addresses::address::Addresses;
use crate::contracts::source::ContractSource;
use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, Bytes, U256};

/// Facts about a contract besides the address object; `None` is unknown.
#[derive(Debug, Clone, Default)]
pub struct SmartContract<'s> {
    /// The code that ran to create it, with the arguments after it.
    pub creation_bytecode: Option<Bytes>,
    /// Its current code; `eth_getCode` of JSON-RPC.
    pub deployed_bytecode: Option<Bytes>,
    /// `success` while the contract exists, `selfdestructed` after.
    pub creation_status: Option<&'static str>,
    /// The entries of its verified ABI, each as JSON text.
    pub abi: Option<Vec<String>>,
    /// Its source, if one was loaded.
    pub source: Option<&'s ContractSource>,
    /// Its balance in wei.
    pub balance: Option<U256>,
}

/// How many contracts there are with a loaded ABI, as text; how many others there are, and since when, is not counted.
#[must_use]
pub fn write_counters(verified: u64) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|counters| {
        counters.key("smart_contracts").null();
        counters.key("new_smart_contracts_24h").null();
        counters.key("verified_smart_contracts").string(&verified.to_string());
        counters.key("new_verified_smart_contracts_24h").null();
    });
    writer.into_bytes()
}

/// Members that no loaded file states.
const UNKNOWN: [&str; 5] =
    ["decoded_constructor_args", "sourcify_repo_url", "is_changed_bytecode", "is_blueprint", "transactions_count"];

/// Members that a source fills, of a contract whose ABI alone was loaded.
const WITHOUT_SOURCE: [&str; 8] = [
    "source_code",
    "file_path",
    "compiler_settings",
    "evm_version",
    "optimization_runs",
    "constructor_args",
    "is_fully_verified",
    "is_partially_verified",
];

/// Members about the compiler, of a contract whose ABI alone was loaded.
const WITHOUT_COMPILER: [&str; 6] =
    ["language", "compiler_version", "optimization_enabled", "license_type", "verified_at", "has_constructor_args"];

/// Writes a contract of the list with what its source says of the compiler; no contract is certified here.
pub fn write_listed(
    writer: &mut JsonWriter,
    address: &Address,
    addresses: &Addresses,
    source: Option<&ContractSource>,
) {
    writer.object(|contract| {
        addresses.write(contract.key("address"), address);
        contract.key("certified").bool(false);
        match source {
            Some(source) => source.write_compiler(contract),
            None => WITHOUT_COMPILER.iter().for_each(|member| contract.key(member).null()),
        }
        ["coin_balance", "market_cap", "transactions_count"].iter().for_each(|member| contract.key(member).null());
        contract.key("reputation").string("ok");
    });
}

impl SmartContract<'_> {
    /// Writes the contract at `address`.
    pub fn write(&self, writer: &mut JsonWriter, address: &Address, addresses: &Addresses) {
        let source = addresses.source(address).map(|(source, _)| source);
        let bytes = |writer: &mut JsonWriter, bytes: &Bytes| writer.hex(bytes);
        writer.object(|contract| {
            contract.key("creation_bytecode").option(self.creation_bytecode.as_ref(), bytes);
            contract.key("deployed_bytecode").option(self.deployed_bytecode.as_ref(), bytes);
            contract.key("creation_status").option(self.creation_status, JsonWriter::string);
            addresses.write_proxy(contract, address);
            contract.key("conflicting_implementations").null();
            contract.key("is_verified").bool(source.is_some());
            // Clients show something else instead of a name that is not there, and take null for one.
            if let Some(name) = source.as_ref().and_then(|source| addresses.source_name(source)) {
                contract.key("name").string(name);
            }
            // One that is not verified has none.
            if source.is_some() {
                contract.key("certified").bool(false);
            }
            contract.key("abi").option(self.abi.as_ref(), |writer, entries| {
                writer.array(|abi| entries.iter().for_each(|entry| abi.item().raw(entry)));
            });
            let twin = source.filter(|source| source != address);
            contract
                .key("verified_twin_address_hash")
                .option(twin, |writer, twin| writer.string(&twin.to_checksum(None)));
            contract.key("coin_balance").option(self.balance, JsonWriter::decimal_256);
            match self.source {
                Some(source) => source.write_members(contract),
                None => write_without_source(contract),
            }
            UNKNOWN.iter().for_each(|member| contract.key(member).null());
            contract.key("reputation").string("ok");
        });
    }
}

fn write_without_source(contract: &mut Object<'_>) {
    contract.key("additional_sources").array(|_| {});
    contract.key("external_libraries").array(|_| {});
    let members = WITHOUT_SOURCE.iter().chain(&WITHOUT_COMPILER).chain(&["is_verified_via_sourcify"]);
    members.for_each(|member| contract.key(member).null());
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Arc;

    use super::*;
    use crate::addresses::address::{AddressFacts, Labels};
    use serde_json::Value;

    #[test]
    fn a_contract_without_a_name_has_no_member_for_it() {
        let address = Address::repeat_byte(0xab);
        let written = |contract_name: Option<&str>| -> Value {
            let labels = Labels { contract_name: contract_name.map(str::to_owned), abi: Some(1), ..Labels::default() };
            let facts = AddressFacts { labels: Arc::new(labels), ..AddressFacts::default() };
            let mut writer = JsonWriter::new();
            let addresses = Addresses(HashMap::from([(address, facts)]));
            SmartContract::default().write(&mut writer, &address, &addresses);
            serde_json::from_slice(&writer.into_bytes()).expect("valid JSON")
        };
        assert_eq!(written(Some("Coin"))["name"], "Coin");
        let nameless = written(None);
        assert!(nameless.get("name").is_none() && nameless["certified"] == false, "{nameless}");
    }
}
