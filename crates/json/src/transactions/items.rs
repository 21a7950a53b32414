//! Transactions of REST: the page of one and the items of lists (docs/reference/http-contract.md#transactions).

use std::collections::BTreeMap;

use trawl_chains::{Family, GasPayment};

use super::authorizations::{AuthorizingTransaction, write_authorizations};
use super::type_of;
use crate::addresses::address::Addresses;
use crate::stats::chain_facts;
use crate::writer::missing_columns::MissingColumns;
use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, B256, BlockNumber, Timestamp, TransactionFee, TransactionType, U256};
use trawl_core::schema::{Authorization, Column, TransactionView};

/// Facts about a transaction beyond its row. What is `None` is unknown, and `null` in the answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionFacts {
    /// Wei per gas, of its block; none before London.
    pub base_fee: Option<U256>,
    /// The rules of its chain.
    pub family: Option<&'static Family>,
    /// The name or selector of the called function.
    pub method: Option<String>,
    /// The highest readable block.
    pub head: BlockNumber,
    /// Whether it moved tokens.
    pub moves_tokens: Option<bool>,
    /// Whether its recipient is a contract.
    pub calls_contract: Option<bool>,
    /// The function that it called with its parameters, as JSON.
    pub decoded_input: Option<Vec<u8>>,
    /// Whether the created contract is a token.
    pub creates_token: bool,
    /// Error and output of its outermost call frame, if it failed.
    pub failure: Option<Failure>,
    /// Whether a call in it failed.
    pub has_failed_calls: Option<bool>,
    /// The token that it pays its gas with, as JSON, on chains where that can be another than the coin.
    pub gas_token: Option<Vec<u8>>,
    /// Its first token transfers, as JSON, and whether there are more.
    pub token_transfers: Option<(Vec<u8>, bool)>,
    /// Nonces before the transaction of accounts that signed authorizations for it, as far as they are known.
    pub authority_nonces: BTreeMap<Address, u64>,
}

/// Why a transaction failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The error message of the node.
    pub error: String,
    /// The output of the call.
    pub output: Vec<u8>,
    /// The decoded output, as JSON, if its error is known.
    pub reason: Option<Vec<u8>>,
}

impl TransactionFacts {
    /// The rules of the chain; Ethereum's if it is not known.
    fn family(&self) -> &'static Family {
        self.family.unwrap_or(&trawl_chains::ETHEREUM)
    }
}

/// A row, and which of its columns the source did not have.
struct Transaction<'t, 'v> {
    view: &'t TransactionView<'v>,
    row: usize,
    lacking: MissingColumns<'t>,
}

/// A transaction, with the members that all lists of them have.
pub fn write_transaction_item(
    writer: &mut JsonWriter,
    view: &TransactionView<'_>,
    row: usize,
    facts: &TransactionFacts,
    addresses: &Addresses,
) {
    let of = Transaction { view, row, lacking: MissingColumns::new(view.lacking.items::<String>(row)) };
    writer.object(|item| {
        of.write_position(item, facts);
        of.write_sides(item, addresses);
        of.write_input(item, facts);
        of.write_prices(item);
        of.write_fees(item, facts);
        of.write_outcome(item, facts);
        item.key("transaction_types").array(|types| {
            transaction_types(view, row, facts).for_each(|name| types.item().string(name));
        });
        match &facts.token_transfers {
            Some((first, more)) => {
                item.key("token_transfers").raw(first);
                item.key("token_transfers_overflow").bool(*more);
            }
            None => {
                item.key("token_transfers").null();
                item.key("token_transfers_overflow").null();
            }
        }
        of.write_typed(item, &facts.authority_nonces);
        chain_facts::write_transaction(item, facts.family(), view, row, facts.gas_token.as_deref());
        for key in ["exchange_rate", "historic_exchange_rate", "transaction_tag"] {
            item.key(key).null();
        }
        item.key("is_pending_update").bool(false);
        item.key("fhe_operations_count").number(0);
    });
}

/// The types of a transaction as lists name them; it may be of several.
pub fn transaction_types(
    view: &TransactionView<'_>,
    row: usize,
    facts: &TransactionFacts,
) -> impl Iterator<Item = &'static str> {
    let kind = type_of(view, row);
    // What a chain's own type does without a recipient only its receipt says: it may be calls, or nothing.
    let is_own = chain_facts::type_name(facts.family(), view, row).is_some() || !kind.has_columns();
    let is_known = !is_own || Option::<Address>::get(&view.contract_address, row).is_some();
    let creates = is_known && Option::<Address>::get(&view.to_address, row).is_none();
    let has_input = !view.input.value(row).is_empty();
    let types = [
        ("blob_transaction", kind == TransactionType::Blob),
        ("set_code_transaction", kind == TransactionType::SetCode),
        ("token_creation", facts.creates_token),
        ("contract_creation", creates),
        ("token_transfer", facts.moves_tokens == Some(true)),
        ("contract_call", !creates && facts.calls_contract.unwrap_or(has_input)),
        ("coin_transfer", !U256::get(&view.value, row).is_zero()),
    ];
    types.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name)
}

impl Transaction<'_, '_> {
    fn has(&self, column: &str) -> bool {
        self.lacking.has(column)
    }

    fn has_outcome(&self) -> bool {
        self.view.has_receipt[self.row] == 1
    }

    /// Wei per gas that was paid.
    fn paid_price(&self) -> Option<U256> {
        let is_known = self.has_outcome() && self.has("effective_gas_price");
        is_known.then(|| U256::get(&self.view.effective_gas_price, self.row))
    }

    fn write_position(&self, item: &mut Object<'_>, facts: &TransactionFacts) {
        let (view, row) = (self.view, self.row);
        item.key("hash").hex(view.hash.bytes(row));
        item.key("block_number").number(view.block_number[row]);
        item.key("block_hash").hex(view.block_hash.bytes(row));
        item.key("position").number(view.transaction_index[row].into());
        item.key("timestamp").timestamp(Timestamp::from_micros(view.block_timestamp[row]));
        item.key("confirmations").number(facts.head.saturating_sub(view.block_number[row]) + 1);
        // When somebody first saw it is unknown.
        item.key("confirmation_duration").array(|_| {});
        self.lacking.known(item, "nonce", &["nonce"], |writer| writer.number(view.nonce[row]));
        let kind = view.transaction_type[row];
        self.lacking.known(item, "type", &["transaction_type"], |writer| writer.number(kind.into()));
    }

    fn write_sides(&self, item: &mut Object<'_>, addresses: &Addresses) {
        let (view, row) = (self.view, self.row);
        addresses.write(item.key("from"), &Address::get(&view.from_address, row));
        for (key, column) in [("to", &view.to_address), ("created_contract", &view.contract_address)] {
            let address = Option::<Address>::get(column, row);
            item.key(key).option(address, |writer, address| addresses.write(writer, &address));
        }
        self.lacking.known(item, "value", &["value"], |writer| writer.decimal_256(U256::get(&view.value, row)));
    }

    fn write_input(&self, item: &mut Object<'_>, facts: &TransactionFacts) {
        item.key("method").option(facts.method.as_deref(), JsonWriter::string);
        self.lacking.known(item, "raw_input", &["input"], |writer| writer.hex(self.view.input.value(self.row)));
        item.key("decoded_input").option(facts.decoded_input.as_deref(), JsonWriter::raw);
    }

    fn write_prices(&self, item: &mut Object<'_>) {
        let (view, row) = (self.view, self.row);
        self.lacking.known(item, "gas_limit", &["gas_limit"], |writer| writer.decimal(view.gas_limit[row]));
        let price = self.paid_price().or_else(|| Option::<U256>::get(&view.gas_price, row));
        item.key("gas_price").option(price, JsonWriter::decimal_256);
        for (key, column) in
            [("max_fee_per_gas", &view.max_fee_per_gas), ("max_priority_fee_per_gas", &view.max_priority_fee_per_gas)]
        {
            item.key(key).option(Option::<U256>::get(column, row), JsonWriter::decimal_256);
        }
    }

    fn write_fees(&self, item: &mut Object<'_>, facts: &TransactionFacts) {
        let (view, row) = (self.view, self.row);
        let gas = self.has_outcome().then(|| view.gas_used[row]);
        item.key("gas_used").option(gas, JsonWriter::decimal);
        item.key("base_fee_per_gas").option(facts.base_fee, JsonWriter::decimal_256);
        let price = self.paid_price();
        item.key("fee").object(|fee| {
            let limit = self.has("gas_limit").then(|| U256::from(view.gas_limit[row]));
            let most = || Option::<U256>::get(&view.gas_price, row)?.checked_mul(limit?);
            fee.key("type").string(if gas.is_some() { "actual" } else { "maximum" });
            let (l1_fee, operator_fee) =
                (Option::<U256>::get(&view.l1_fee, row), Option::<U256>::get(&view.operator_fee, row));
            let is_whole = self.has("l1_fee") && self.has("operator_fee");
            let paid = |gas_used| TransactionFee { gas_used, gas_price: price?, l1_fee, operator_fee }.total();
            let paid = |gas_used| paid(gas_used).filter(|_| is_whole);
            fee.key("value").option(gas.map_or_else(most, paid), JsonWriter::decimal_256);
        });
        let family = facts.family();
        let paid = gas.zip(price).zip(facts.base_fee);
        let paid = paid.map(|((gas, price), base_fee)| GasPayment { gas, price, base_fee });
        item.key("priority_fee").option(paid.and_then(|paid| family.tip(paid)), JsonWriter::decimal_256);
        item.key("transaction_burnt_fee").option(paid.and_then(|paid| family.burnt(paid)), JsonWriter::decimal_256);
    }

    fn write_outcome(&self, item: &mut Object<'_>, facts: &TransactionFacts) {
        let status = self.has_outcome().then(|| Option::<u8>::get(&self.view.status, self.row)).flatten();
        item.key("status").option(status, |writer, status| writer.string(if status == 1 { "ok" } else { "error" }));
        let failure = facts.failure.as_ref();
        let result = status.map(|status| match (status, failure) {
            (1, _) => "success",
            (_, Some(failure)) => failure.error.as_str(),
            (_, None) => "awaiting_internal_transactions",
        });
        item.key("result").option(result, JsonWriter::string);
        let reason = failure.filter(|failure| !failure.output.is_empty());
        item.key("revert_reason").option(reason, |writer, failure| match &failure.reason {
            Some(reason) => writer.raw(reason),
            None => writer.object(|reason| reason.key("raw").hex(&failure.output)),
        });
        item.key("has_error_in_internal_transactions").option(facts.has_failed_calls, JsonWriter::bool);
    }

    fn write_typed(&self, item: &mut Object<'_>, authority_nonces: &BTreeMap<Address, u64>) {
        let (view, row) = (self.view, self.row);
        let kind = type_of(view, row);
        let is_set_code = (kind == TransactionType::SetCode && self.has("authorization_list")).then_some(());
        item.key("authorization_list").option(is_set_code, |writer, ()| {
            let transaction = AuthorizingTransaction {
                chain_id: Option::<u64>::get(&view.chain_id, row).filter(|_| self.has("chain_id")),
                sender: Address::get(&view.from_address, row),
                nonce: self.has("nonce").then_some(view.nonce[row]),
                authority_nonces,
            };
            let authorizations: Vec<Authorization> = view.authorization_list.items::<Authorization>(row).collect();
            write_authorizations(writer, &authorizations, &transaction);
        });
        if kind != TransactionType::Blob || !self.has("blob_versioned_hashes") {
            return;
        }
        item.key("blob_versioned_hashes").array(|hashes| {
            view.blob_versioned_hashes.items::<B256>(row).for_each(|hash| hashes.item().hex(hash.as_slice()));
        });
        let gas = Option::<u64>::get(&view.blob_gas_used, row);
        let price = Option::<U256>::get(&view.blob_gas_price, row);
        let most = Option::<U256>::get(&view.max_fee_per_blob_gas, row);
        let fee = gas.zip(price).map(|(gas, price)| price.saturating_mul(U256::from(gas)));
        for (key, amount) in [
            ("blob_gas_used", gas.map(U256::from)),
            ("blob_gas_price", price),
            ("max_fee_per_blob_gas", most),
            ("burnt_blob_fee", fee),
        ] {
            if let Some(amount) = amount {
                item.key(key).decimal_256(amount);
            }
        }
    }
}
