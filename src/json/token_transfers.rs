//! Token transfers and the tokens they move (specification 2.3 and 2.4).

use std::collections::HashMap;

use super::address::Addresses;
use super::{JsonWriter, Object};
use crate::primitives::{Address, Timestamp, U256};
use crate::schema::{Column, TokenRow, TokenTransferView};

/// What token contracts said of themselves.
#[derive(Debug, Clone, Default)]
pub struct Tokens(pub HashMap<Address, TokenRow>);

impl Tokens {
    /// Writes the token object for the contract at `address`, of which a transfer looks like `token_type`. What nobody
    /// told is null.
    pub fn write(&self, writer: &mut JsonWriter, address: &Address, token_type: &str) {
        let token = self.0.get(address);
        let checksummed = address.to_checksum(None);
        writer.object(|object| {
            // The specification and older clients of this API family name the contract differently; both find it.
            object.key("address_hash").string(&checksummed);
            object.key("address").string(&checksummed);
            object.key("name").option(token.and_then(|token| token.name.as_deref()), JsonWriter::string);
            object.key("symbol").option(token.and_then(|token| token.symbol.as_deref()), JsonWriter::string);
            object.key("decimals").option(self.decimals(address), JsonWriter::decimal);
            object.key("type").string(token.map_or(token_type, |token| &token.token_type));
            object.key("total_supply").option(token.and_then(|token| token.total_supply), JsonWriter::decimal_256);
            for unknown in [
                "holders_count",
                "holders",
                "exchange_rate",
                "volume_24h",
                "circulating_market_cap",
                "circulating_supply",
                "icon_url",
            ] {
                object.key(unknown).null();
            }
            object.key("reputation").string("ok");
        });
    }

    fn decimals(&self, address: &Address) -> Option<u64> {
        self.0.get(address)?.decimals.map(Into::into)
    }
}

/// A transfer of the list of an address. `method` is what its transaction called.
pub fn write_token_transfer(
    writer: &mut JsonWriter,
    transfers: &TokenTransferView<'_>,
    row: usize,
    method: Option<&str>,
    (addresses, tokens): (&Addresses, &Tokens),
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
        item.key("total").object(|total| write_total(total, transfers, row, token_type, tokens.decimals(&token)));
        item.key("type").string(kind(&from, &to));
        item.key("method").option(method, JsonWriter::string);
    });
}

/// Clients tell the standards apart by which keys are there.
fn write_total(
    total: &mut Object<'_>,
    transfers: &TokenTransferView<'_>,
    row: usize,
    token_type: &str,
    decimals: Option<u64>,
) {
    if token_type != "ERC-20" {
        total.key("token_id").option(Option::<U256>::get(&transfers.token_id, row), JsonWriter::decimal_256);
        total.key("token_instance").null();
    }
    if token_type != "ERC-721" {
        total.key("value").decimal_256(U256::get(&transfers.value, row));
        total.key("decimals").option(decimals, JsonWriter::decimal);
    }
}

/// What the transfer is by its ends: the zero address makes and destroys.
fn kind(from: &Address, to: &Address) -> &'static str {
    match (from.is_zero(), to.is_zero()) {
        (true, true) => "token_spawning",
        (true, false) => "token_minting",
        (false, true) => "token_burning",
        (false, false) => "token_transfer",
    }
}
