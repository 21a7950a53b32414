//! Fields of transactions in scans: the transaction and its outcome, null for columns that the source did not have.

use super::{Field, Kind, ScanRow, Value, field};
use trawl_core::primitives::{Address, B256, Timestamp, U256};
use trawl_core::schema::{Column, ScannedTransaction, ScannedTransactionView};

impl ScanRow for ScannedTransaction {
    const FIELDS: &'static [Field] = &[
        field("blockNumber", "block_number", Kind::Number),
        field("blockHash", "block_hash", Kind::Word),
        field("blockTimestamp", "block_timestamp", Kind::Time),
        field("transactionIndex", "transaction_index", Kind::Number),
        field("hash", "hash", Kind::Word),
        field("type", "transaction_type", Kind::Number),
        field("from", "from_address", Kind::Address),
        field("to", "to_address", Kind::Address),
        field("nonce", "nonce", Kind::Number),
        field("value", "value", Kind::Wide).in_unit("wei"),
        field("gas", "gas_limit", Kind::Number).in_unit("gas"),
        field("gasPrice", "gas_price", Kind::Wide).in_unit("wei per gas"),
        field("maxFeePerGas", "max_fee_per_gas", Kind::Wide).in_unit("wei per gas"),
        field("maxPriorityFeePerGas", "max_priority_fee_per_gas", Kind::Wide).in_unit("wei per gas"),
        field("input", "input", Kind::Bytes),
        field("status", "status", Kind::Number),
        field("gasUsed", "gas_used", Kind::Number).in_unit("gas"),
        field("effectiveGasPrice", "effective_gas_price", Kind::Wide).in_unit("wei per gas"),
        field("contractAddress", "contract_address", Kind::Address),
    ];

    fn block_hash(transactions: &ScannedTransactionView<'_>, row: usize) -> Option<B256> {
        Some(transactions.block_hash.bytes(row).into())
    }

    fn values<'a>(
        transactions: &ScannedTransactionView<'a>,
        row: usize,
        block_hash: B256,
        put: &mut dyn FnMut(Value<'a>),
    ) {
        let lacking: Vec<&str> = transactions.lacking.items::<String>(row).collect();
        let mut fields = Self::FIELDS.iter();
        // A lacking column is null, whatever its value.
        let mut put = |value| {
            let is_known = fields.next().is_some_and(|field| !lacking.contains(&field.column));
            put(if is_known { value } else { Value::Null });
        };
        let wide = |column, row| Value::of(Option::<U256>::get(column, row), Value::Wide);
        put(Value::Number(transactions.block_number[row]));
        put(Value::Word(block_hash));
        put(Value::Time(Timestamp::from_micros(transactions.block_timestamp[row])));
        put(Value::Number(transactions.transaction_index[row].into()));
        put(Value::Word(transactions.hash.bytes(row).into()));
        put(Value::Number(transactions.transaction_type[row].into()));
        put(Value::Address(Address::get(&transactions.from_address, row)));
        put(Value::of(Option::<Address>::get(&transactions.to_address, row), Value::Address));
        put(Value::Number(transactions.nonce[row]));
        put(Value::Wide(U256::get(&transactions.value, row)));
        put(Value::Number(transactions.gas_limit[row]));
        put(wide(&transactions.gas_price, row));
        put(wide(&transactions.max_fee_per_gas, row));
        put(wide(&transactions.max_priority_fee_per_gas, row));
        put(Value::Bytes(transactions.input.value(row)));
        let ended = transactions.has_receipt[row] == 1;
        let outcome = |value| if ended { value } else { Value::Null };
        let status = Option::<u8>::get(&transactions.status, row);
        put(outcome(Value::of(status.map(u64::from), Value::Number)));
        put(outcome(Value::Number(transactions.gas_used[row])));
        put(outcome(Value::Wide(U256::get(&transactions.effective_gas_price, row))));
        put(outcome(Value::of(Option::<Address>::get(&transactions.contract_address, row), Value::Address)));
    }
}
