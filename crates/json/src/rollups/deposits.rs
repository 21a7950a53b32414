//! Transactions from L1 in REST (docs/reference/http-contract.md#transactions-from-l1).

use trawl_chains::{Deposit, DepositList, DepositSource, L1Origin};
use trawl_core::primitives::{Timestamp, U256};
use trawl_core::schema::TransactionView;

use crate::JsonWriter;

/// A transaction of a list. `origin`: the L1 block that its block follows, if that is known.
pub fn write_rest_deposit(
    writer: &mut JsonWriter,
    list: &DepositList,
    view: &TransactionView<'_>,
    row: usize,
    origin: Option<L1Origin>,
) {
    let fields = serde_json::from_slice(view.raw_transaction.value(row)).unwrap_or_default();
    let deposit = Deposit { fields: &fields, input: view.input.value(row), origin };
    writer.object(|item| {
        for member in list.members {
            let value = item.key(member.key);
            match member.source {
                DepositSource::TransactionHash => value.fixed_hex(view.hash.bytes(row)),
                DepositSource::GasLimit => value.decimal(view.gas_limit[row]),
                of_deposit => write_value(value, &deposit, of_deposit),
            }
        }
    });
}

fn write_value(writer: &mut JsonWriter, deposit: &Deposit<'_>, source: DepositSource) {
    match source {
        DepositSource::Integer(name) => writer.option(integer(deposit.number(name)), JsonWriter::number),
        DepositSource::Argument { selector, position } => {
            writer.option(deposit.argument(selector, position), JsonWriter::decimal_256);
        }
        DepositSource::L1BlockNumber => {
            writer.option(deposit.origin, |writer, origin| writer.number(origin.number));
        }
        DepositSource::L1BlockTime => {
            let time = deposit.origin.and_then(|origin| Timestamp::from_seconds(origin.timestamp).ok());
            writer.option(time, JsonWriter::timestamp);
        }
        DepositSource::Constant(text) => writer.string(text),
        DepositSource::TransactionHash | DepositSource::GasLimit | DepositSource::OnL1 => writer.null(),
    }
}

/// Positions in queues are far below 64 bits.
fn integer(number: Option<U256>) -> Option<u64> {
    number.and_then(|number| u64::try_from(number).ok())
}
