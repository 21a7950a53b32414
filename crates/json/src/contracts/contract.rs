//! A contract: its code, its ABI, and who runs its calls (docs/reference/http-contract.md#contracts).

use crate::JsonWriter;
use crate::addresses::address::Addresses;
use trawl_core::primitives::{Address, Bytes, U256};

/// Facts about a contract besides the address object; `None` is unknown.
#[derive(Debug, Clone, Default)]
pub struct SmartContract {
    /// The code that ran to create it, with the arguments after it.
    pub creation_bytecode: Option<Bytes>,
    /// Its current code; `eth_getCode` of JSON-RPC.
    pub deployed_bytecode: Option<Bytes>,
    /// `success` while the contract exists, `selfdestructed` after.
    pub creation_status: Option<&'static str>,
    /// The entries of its verified ABI, each as JSON text.
    pub abi: Option<Vec<String>>,
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

/// Members about a verified source, of which loaded ABIs say nothing.
const UNKNOWN: [&str; 20] = [
    "source_code",
    "file_path",
    "language",
    "compiler_version",
    "compiler_settings",
    "evm_version",
    "optimization_enabled",
    "optimization_runs",
    "verified_at",
    "constructor_args",
    "decoded_constructor_args",
    "has_constructor_args",
    "license_type",
    "is_fully_verified",
    "is_partially_verified",
    "is_verified_via_sourcify",
    "sourcify_repo_url",
    "is_changed_bytecode",
    "is_blueprint",
    "transactions_count",
];

/// Writes a contract of the list: the source of a loaded ABI is unknown, and no contract is certified here.
pub fn write_listed(writer: &mut JsonWriter, address: &Address, addresses: &Addresses) {
    writer.object(|contract| {
        addresses.write(contract.key("address"), address);
        contract.key("certified").bool(false);
        for member in [
            "coin_balance",
            "compiler_version",
            "has_constructor_args",
            "language",
            "license_type",
            "market_cap",
            "optimization_enabled",
            "transactions_count",
            "verified_at",
        ] {
            contract.key(member).null();
        }
        contract.key("reputation").string("ok");
    });
}

impl SmartContract {
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
            contract.key("additional_sources").array(|_| {});
            contract.key("external_libraries").array(|_| {});
            UNKNOWN.iter().for_each(|member| contract.key(member).null());
            contract.key("reputation").string("ok");
        });
    }
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
