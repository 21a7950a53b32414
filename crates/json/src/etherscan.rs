//! The Etherscan-compatible interface: the envelope `{"status": …, "message": …, "result": …}`, and results. Whatever
//! is in a result is text, and what is not known is an empty one.

mod accounts;
mod contracts;
mod days;
mod frames;
mod logs;
mod stats;
mod tokens;
mod transaction_info;
mod transactions;
mod transfers;

pub use accounts::{Funding, write_funding, write_withdrawal};
pub use contracts::{
    ContractCreation, abi_text, write_creation, write_genesis_contract, write_listed_contract, write_source,
};
pub use days::{Figure, grouped_thousands, write_day};
pub use frames::write_frame;
pub use logs::write_log;
pub use stats::{
    BlockCounts, BlockReward, Countdown, write_block_counts, write_block_reward, write_countdown, write_gas_oracle,
    write_made_block,
};
pub use tokens::{
    TokenHolding, decimals, write_held_id, write_held_token, write_holder, write_holding, write_token,
    write_token_holder, write_token_info, write_top_holder,
};
pub use transaction_info::{Ending, LogsOfTransaction, write_transaction_info};
pub use transactions::{TransactionFacts, TransactionGas, write_transaction};
pub use transfers::{TransferFacts, write_token_transfer};

use super::{JsonWriter, Object};
use trawl_core::primitives::{Address, U256};

/// Writes an envelope.
#[must_use]
pub fn write_envelope(status: &str, message: &str, result: impl FnOnce(&mut JsonWriter)) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|envelope| {
        envelope.key("status").string(status);
        envelope.key("message").string(message);
        result(envelope.key("result"));
    });
    writer.into_bytes()
}

/// Writes an envelope up to the first row of its list.
pub fn write_list_start(writer: &mut JsonWriter, status: &str, message: &str) {
    writer.raw(r#"{"status":"#);
    writer.string(status);
    writer.raw(r#","message":"#);
    writer.string(message);
    writer.raw(r#","result":["#);
}

/// Writes what follows the last row of a list.
pub fn write_list_end(writer: &mut JsonWriter) {
    writer.raw("]}");
}

/// Writes a number as text; one that is not known is empty.
fn write_known<T>(writer: &mut JsonWriter, number: Option<T>, write: impl FnOnce(&mut JsonWriter, T)) {
    match number {
        Some(number) => write(writer, number),
        None => writer.string(""),
    }
}

/// Writes the balance of an account, in wei, as a member of a list.
pub fn write_balance(item: &mut Object<'_>, account: &Address, balance: U256) {
    item.key("account").string(&format!("{account:#x}"));
    item.key("balance").decimal_256(balance);
}

/// Writes the status of a receipt; `None` is not known.
pub fn write_receipt_status(writer: &mut JsonWriter, status: Option<u8>) {
    writer.object(|item| item.key("status").string(status.map_or("", |status| if status == 1 { "1" } else { "0" })));
}

/// Writes whether a transaction failed and why; `None` is not known.
pub fn write_execution_status(writer: &mut JsonWriter, has_failed: Option<bool>, reason: &str) {
    writer.object(|item| {
        item.key("isError").string(has_failed.map_or("", |has_failed| if has_failed { "1" } else { "0" }));
        item.key("errDescription").string(reason);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_in_a_result_is_text() {
        let written = write_envelope("1", "OK", |writer| {
            writer.array(|list| list.item().object(|item| write_balance(item, &Address::ZERO, U256::from(7))));
        });
        let zero = "0x0000000000000000000000000000000000000000";
        let expected = format!(r#"{{"status":"1","message":"OK","result":[{{"account":"{zero}","balance":"7"}}]}}"#);
        assert_eq!(String::from_utf8(written).expect("UTF-8"), expected);
    }
}
