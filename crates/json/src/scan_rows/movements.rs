//! Transactions, call frames and token transfers that a filter allows, as CSV with the columns of Blockscout
//! (docs/reference/scans.md#exports-of-a-filter). What is not known is empty.

use alloy_primitives::Selector;

use super::csv_line::Line;
use crate::JsonWriter;
use crate::advanced_filters::{Movement, MovementKind};
use crate::amount::decimal;
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::U256;

/// The header line.
pub const MOVEMENTS: &str = "TxHash,Type,MethodId,UtcTimestamp,FromAddress,ToAddress,CreatedContractAddress,Value,\
                             TokenContractAddressHash,TokenDecimals,TokenSymbol,TokenValue,TokenID,BlockNumber,Fee,\
                             CurrentPrice,TxDateOpeningPrice,TxDateClosingPrice\r\n";

/// What is known of the transaction of a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionOfMovement {
    /// The function that it calls.
    pub selector: Option<Selector>,
    /// Wei that it paid for gas.
    pub fee: Option<U256>,
}

/// Writes a row: coins in wei; ERC-20 in whole tokens, or in the smallest units where the decimals are empty; tokens
/// with ids in pieces, and of ERC-721 the id alone.
pub fn write_movement(out: &mut JsonWriter, movement: &Movement, transaction: &TransactionOfMovement, tokens: &Tokens) {
    let mut line = Line::new(out);
    line.hex(movement.transaction_hash.as_slice());
    line.text(movement.kind());
    match &transaction.selector {
        Some(selector) => line.hex(selector.as_slice()),
        None => line.text(""),
    }
    line.time(movement.timestamp.micros());
    line.address(movement.from);
    line.address(movement.to);
    line.address(movement.created);
    write_amounts(&mut line, movement, tokens);
    line.number(movement.block_number);
    line.wide(transaction.fee);
    // Prices of the coin: now, and at the beginning and the end of the day.
    (0..3).for_each(|_| line.text(""));
    line.end();
}

/// The amount of coins, or the token with its amount.
fn write_amounts(line: &mut Line<'_>, movement: &Movement, tokens: &Tokens) {
    let MovementKind::Transfer { token, standard, token_id, .. } = &movement.what else {
        line.wide(Some(movement.value));
        (0..5).for_each(|_| line.text(""));
        return;
    };
    let symbol = tokens.metadata.get(token).and_then(|token| token.symbol.as_deref());
    let decimals = tokens.decimals(token).filter(|_| standard == "ERC-20");
    let amount = decimals.map_or_else(|| movement.value.to_string(), |decimals| decimal(movement.value, decimals));
    line.text("");
    line.address(*token);
    line.number(decimals.map(u64::from));
    line.literal(symbol.unwrap_or_default());
    line.text(if standard == "ERC-721" { "" } else { &amount });
    line.wide(*token_id);
}

#[cfg(test)]
mod tests {
    use trawl_core::primitives::{Address, B256, Timestamp};

    use super::*;

    fn line(what: MovementKind, transaction: &TransactionOfMovement) -> Vec<String> {
        let movement = Movement {
            block_number: 7,
            transaction_index: 1,
            transaction_hash: B256::repeat_byte(0xab),
            timestamp: Timestamp::from_micros(1_708_159_776_000_000),
            from: Address::repeat_byte(0x11),
            to: Some(Address::repeat_byte(0x22)),
            created: None,
            value: U256::from(1_500_000),
            what,
        };
        let mut out = JsonWriter::new();
        write_movement(&mut out, &movement, transaction, &Tokens::default());
        let text = String::from_utf8(out.into_bytes()).expect("text");
        text.trim_end_matches("\r\n").split(',').map(str::to_owned).collect()
    }

    #[test]
    fn rows_have_a_cell_for_each_column() {
        let paid = TransactionOfMovement { selector: Some([1, 2, 3, 4].into()), fee: Some(U256::from(9)) };
        let coins = line(MovementKind::Transaction { status: Some(1), calls: true }, &paid);
        assert_eq!(coins.len(), MOVEMENTS.split(',').count());
        assert_eq!(coins[1..4], ["contract_interaction", "0x01020304", "2024-02-17 08:49:36.000000Z"]);
        assert_eq!(coins[7..], ["1500000", "", "", "", "", "", "7", "9", "", "", ""]);
        let transfer = |standard: &str, token_id: Option<u64>| {
            let (token, token_id) = (Address::repeat_byte(0x33), token_id.map(U256::from));
            let what =
                MovementKind::Transfer { log_index: 0, batch_index: 0, token, standard: standard.into(), token_id };
            line(what, &TransactionOfMovement::default())
        };
        let token = Address::repeat_byte(0x33).to_checksum(None);
        for (standard, id, due) in [
            ("ERC-20", None, ["", token.as_str(), "", "", "1500000", ""]),
            ("ERC-721", Some(5), ["", token.as_str(), "", "", "", "5"]),
            ("ERC-1155", Some(5), ["", token.as_str(), "", "", "1500000", "5"]),
        ] {
            let cells = transfer(standard, id);
            assert_eq!((cells[2].as_str(), &cells[7..13]), ("", &due.map(str::to_owned)[..]), "{standard}");
        }
    }
}
