//! Token transfers and the tokens they move (docs/reference/http-contract.md#token-transfers, #tokens).

use std::collections::HashMap;
use std::sync::Arc;

use super::prices::{Decimal, TokenPrice};
use crate::addresses::address::Addresses;
use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, BlockNumber, Timestamp, U256};
use trawl_core::schema::{Column, TokenRow, TokenStatisticsRow, TokenTransferView};

/// Facts about some tokens.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    /// Metadata from the contracts.
    pub metadata: HashMap<Address, Arc<TokenRow>>,
    /// Statistics from their transfers, in no order; a contract may emit transfers of several kinds.
    pub counted: HashMap<Address, Arc<[TokenStatisticsRow]>>,
    /// Prices by token contract, in the currency of the price source.
    pub prices: HashMap<Address, TokenPrice>,
}

impl Tokens {
    /// Writes the token object for the contract at `address` as that of the standard `token_type`, of which a contract
    /// may have several; empty is that of its metadata. Unknown members are null.
    pub fn write(&self, writer: &mut JsonWriter, address: &Address, token_type: &str) {
        writer.object(|object| self.write_members(object, address, token_type));
    }

    /// The same with `block_number`: after which block the holders and the supply are counted.
    pub fn write_page(&self, writer: &mut JsonWriter, address: &Address, token_type: &str, block: Option<BlockNumber>) {
        writer.object(|object| {
            self.write_members(object, address, token_type);
            object.key("block_number").option(block, JsonWriter::number);
        });
    }

    fn write_members(&self, object: &mut Object<'_>, address: &Address, token_type: &str) {
        let token = self.metadata.get(address);
        // A label may leave the standard open.
        let of_metadata = || token.map_or("", |token| token.token_type.as_str());
        let token_type = Some(token_type).filter(|kind| !kind.is_empty()).unwrap_or_else(of_metadata);
        let counted = self.counted(address, token_type);
        let supply = self.total_supply(address, token_type);
        let holders = counted.and_then(|counted| counted.holders_count);
        let unknown = TokenPrice::default();
        let price = self.prices.get(address).unwrap_or(&unknown);
        let decimals = self.decimals(address);
        let checksummed = address.to_checksum(None);
        // Clients use two names for the contract (docs/reference/http-contract.md#family).
        object.key("address_hash").string(&checksummed);
        object.key("address").string(&checksummed);
        object.key("name").option(token.and_then(|token| token.name.as_deref()), JsonWriter::string);
        object.key("symbol").option(token.and_then(|token| token.symbol.as_deref()), JsonWriter::string);
        object.key("decimals").option(decimals.map(Into::into), JsonWriter::decimal);
        object.key("type").option(Some(token_type).filter(|kind| !kind.is_empty()), JsonWriter::string);
        object.key("total_supply").option(supply, JsonWriter::decimal_256);
        object.key("holders_count").option(holders, JsonWriter::decimal);
        object.key("holders").option(holders, JsonWriter::decimal);
        for (name, number) in [
            ("exchange_rate", &price.exchange_rate),
            ("volume_24h", &price.volume_24h),
            ("circulating_supply", &price.circulating_supply),
        ] {
            object.key(name).option(number.as_ref().map(Decimal::text), JsonWriter::string);
        }
        let market_cap = price.market_cap(supply, decimals);
        object.key("circulating_market_cap").option(market_cap.as_deref(), JsonWriter::string);
        object.key("icon_url").option(price.icon_url.as_deref(), JsonWriter::string);
        object.key("reputation").string("ok");
    }

    /// Supply of the token of this kind, if known.
    #[must_use]
    pub fn total_supply(&self, address: &Address, token_type: &str) -> Option<U256> {
        // The contract was called once, while statistics follow every transfer.
        let counted = self.counted(address, token_type).and_then(|counted| counted.total_supply);
        counted.or_else(|| self.metadata.get(address)?.total_supply)
    }

    /// Adds the facts of other tokens.
    pub fn extend(&mut self, others: Self) {
        self.metadata.extend(others.metadata);
        self.counted.extend(others.counted);
        self.prices.extend(others.prices);
    }

    /// The standard of the token: as its contract reports it, else as its transfers were counted; of several kinds that
    /// of the newest.
    #[must_use]
    pub fn standard(&self, address: &Address) -> Option<&str> {
        let reported =
            self.metadata.get(address).map(|token| token.token_type.as_str()).filter(|kind| !kind.is_empty());
        let newest = || self.counted.get(address)?.iter().max_by_key(|counted| counted.block_number);
        reported.or_else(|| newest().map(|counted| counted.token_type.as_str()))
    }

    /// Number of holders of the token, if its transfers of this kind determine it.
    #[must_use]
    pub fn holders_count(&self, address: &Address, token_type: &str) -> Option<u64> {
        self.counted(address, token_type)?.holders_count
    }

    /// The kinds of transfers of the token that were counted.
    pub fn kinds(&self, address: &Address) -> impl Iterator<Item = &str> {
        self.counted.get(address).into_iter().flat_map(|rows| rows.iter().map(|row| row.token_type.as_str()))
    }

    /// Whether transfers of this kind do not determine the balances of the token.
    #[must_use]
    pub fn is_undetermined(&self, address: &Address, token_type: &str) -> bool {
        self.counted(address, token_type).is_some_and(|counted| counted.holders_count.is_none())
    }

    /// Writes the members that a search shows of a token whose metadata are known.
    pub(crate) fn write_found(&self, item: &mut Object<'_>, address: &Address) {
        let token = self.metadata.get(address);
        let token_type = token.map_or("", |token| token.token_type.as_str());
        let counted = self.counted(address, token_type).and_then(|counted| counted.total_supply);
        let supply = counted.or(token.and_then(|token| token.total_supply));
        let unknown = TokenPrice::default();
        let price = self.prices.get(address).unwrap_or(&unknown);
        item.key("name").option(token.and_then(|token| token.name.as_deref()), JsonWriter::string);
        item.key("symbol").option(token.and_then(|token| token.symbol.as_deref()), JsonWriter::string);
        item.key("token_type").string(token_type);
        item.key("total_supply").option(supply, JsonWriter::decimal_256);
        item.key("exchange_rate").option(price.exchange_rate.as_ref().map(Decimal::text), JsonWriter::string);
        item.key("icon_url").option(price.icon_url.as_deref(), JsonWriter::string);
        let market_cap = price.market_cap(supply, self.decimals(address));
        item.key("circulating_market_cap").option(market_cap.as_deref(), JsonWriter::string);
    }

    /// Number of holders of the token, if known.
    #[must_use]
    pub fn holders(&self, address: &Address) -> Option<u64> {
        self.counted(address, &self.metadata.get(address)?.token_type)?.holders_count
    }

    /// The decimals of the token, if the contract returned them.
    #[must_use]
    pub fn decimals(&self, address: &Address) -> Option<u8> {
        self.metadata.get(address)?.decimals
    }

    /// Statistics from transfers of a kind.
    fn counted(&self, address: &Address, token_type: &str) -> Option<&TokenStatisticsRow> {
        self.counted.get(address)?.iter().find(|counted| counted.token_type == token_type)
    }
}

/// A transfer of the list of an address. `method` is the method of its transaction.
pub fn write_token_transfer(
    writer: &mut JsonWriter,
    transfers: &TokenTransferView<'_>,
    row: usize,
    method: Option<&str>,
    addresses: &Addresses,
    tokens: &Tokens,
) {
    let token_type = String::get(&transfers.token_type, row);
    let token = Address::get(&transfers.token_address, row);
    let (from, to) = (Address::get(&transfers.from_address, row), Address::get(&transfers.to_address, row));
    writer.object(|item| {
        item.key("transaction_hash").hex(transfers.transaction_hash.bytes(row));
        item.key("block_hash").hex(transfers.block_hash.bytes(row));
        item.key("block_number").number(transfers.block_number[row]);
        item.key("log_index").number(transfers.log_index[row].into());
        item.key("timestamp").timestamp(Timestamp::from_micros(transfers.block_timestamp[row]));
        addresses.write(item.key("from"), &from);
        addresses.write(item.key("to"), &to);
        tokens.write(item.key("token"), &token, token_type);
        item.key("token_type").string(token_type);
        let (id, value) = (Option::<U256>::get(&transfers.token_id, row), U256::get(&transfers.value, row));
        item.key("total").object(|total| write_amounts(total, token_type, id, value, tokens.decimals(&token)));
        item.key("type").string(kind(&from, &to));
        item.key("method").option(method, JsonWriter::string);
    });
}

/// Clients distinguish the standards by the keys of this object.
pub(crate) fn write_amounts(
    total: &mut Object<'_>,
    token_type: &str,
    token_id: Option<U256>,
    value: U256,
    decimals: Option<u8>,
) {
    if token_type != "ERC-20" {
        total.key("token_id").option(token_id, JsonWriter::decimal_256);
        total.key("token_instance").null();
    }
    if token_type != "ERC-721" {
        total.key("value").decimal_256(value);
        total.key("decimals").option(decimals.map(Into::into), JsonWriter::decimal);
    }
}

/// Kind of a transfer by its ends: the zero address mints and burns.
fn kind(from: &Address, to: &Address) -> &'static str {
    match (from.is_zero(), to.is_zero()) {
        (true, true) => "token_spawning",
        (true, false) => "token_minting",
        (false, true) => "token_burning",
        (false, false) => "token_transfer",
    }
}
