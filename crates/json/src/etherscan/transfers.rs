//! Token transfers of the Etherscan-compatible interface.

use super::super::JsonWriter;
use super::tokens::decimals;
use super::transactions::{TransactionGas, write_confirmations, write_method, write_time};
use super::write_known;
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::schema::{Column, TokenTransferView};

/// What is known of a transfer beside its row.
#[derive(Debug, Clone, Copy)]
pub struct TransferFacts<'f> {
    /// The highest block.
    pub newest: BlockNumber,
    /// Nonce and gas of its transaction.
    pub gas: Option<&'f TransactionGas>,
    /// The first four bytes of its transaction's input, or all of a shorter one.
    pub selector: Option<&'f [u8]>,
    /// What its transaction calls, if that has a name.
    pub method: Option<&'f str>,
}

/// Writes a transfer of a list.
pub fn write_token_transfer(
    writer: &mut JsonWriter,
    view: &TokenTransferView<'_>,
    row: usize,
    facts: &TransferFacts<'_>,
    tokens: &Tokens,
) {
    let TransferFacts { newest, gas, selector, method } = *facts;
    let token = Address::get(&view.token_address, row);
    let metadata = tokens.metadata.get(&token);
    let id = Option::<U256>::get(&view.token_id, row);
    let value = U256::get(&view.value, row);
    let standard = String::get(&view.token_type, row);
    writer.object(|item| {
        item.key("blockNumber").decimal(view.block_number[row]);
        write_time(item, view.block_timestamp[row]);
        item.key("hash").hex(view.transaction_hash.bytes(row));
        write_known(item.key("nonce"), gas.and_then(|gas| gas.nonce), JsonWriter::decimal);
        item.key("blockHash").hex(view.block_hash.bytes(row));
        item.key("from").hex(view.from_address.bytes(row));
        item.key("contractAddress").hex(token.as_slice());
        item.key("to").hex(view.to_address.bytes(row));
        match standard {
            "ERC-20" => item.key("value").decimal_256(value),
            "ERC-721" => write_known(item.key("tokenID"), id, JsonWriter::decimal_256),
            _ => {
                write_known(item.key("tokenID"), id, JsonWriter::decimal_256);
                item.key("tokenValue").decimal_256(value);
            }
        }
        let known = |text: Option<&Option<String>>| text.and_then(Option::clone).unwrap_or_default();
        item.key("tokenName").string(&known(metadata.map(|token| &token.name)));
        item.key("tokenSymbol").string(&known(metadata.map(|token| &token.symbol)));
        write_known(item.key("tokenDecimal"), decimals(tokens, &token, standard), JsonWriter::decimal);
        item.key("transactionIndex").decimal(view.transaction_index[row].into());
        write_known(item.key("gas"), gas.and_then(|gas| gas.limit), JsonWriter::decimal);
        write_known(item.key("gasPrice"), gas.and_then(|gas| gas.price), JsonWriter::decimal_256);
        write_known(item.key("gasUsed"), gas.and_then(|gas| gas.used), JsonWriter::decimal);
        write_known(item.key("cumulativeGasUsed"), gas.and_then(|gas| gas.cumulative), JsonWriter::decimal);
        item.key("input").string("deprecated");
        write_method(item, selector, method);
        item.key("logIndex").decimal(view.log_index[row].into());
        write_confirmations(item, newest, view.block_number[row]);
    });
}
