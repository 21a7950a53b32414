//! Call frames of the Etherscan-compatible interface.

use super::super::JsonWriter;
use super::transactions::{write_address, write_confirmations, write_time};
use super::write_known;
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::schema::{AccountFrameView, Column};

/// Writes a call frame of a list. `newest` is the highest block. One that was undone has an error, and its code only if
/// it failed itself.
pub fn write_frame(writer: &mut JsonWriter, view: &AccountFrameView<'_>, row: usize, newest: BlockNumber) {
    let text = |column| String::get(column, row);
    let (kind, call_type, error) = (text(&view.frame_type), text(&view.call_type), text(&view.error));
    let is_call = kind == "call";
    writer.object(|item| {
        item.key("blockNumber").decimal(view.block_number[row]);
        write_time(item, view.block_timestamp[row]);
        for key in ["hash", "transactionHash"] {
            item.key(key).hex(view.transaction_hash.bytes(row));
        }
        item.key("index").decimal(view.frame_index[row].into());
        item.key("from").hex(view.from_address.bytes(row));
        write_address(item.key("to"), Option::<Address>::get(&view.to_address, row));
        item.key("value").decimal_256(U256::get(&view.value, row));
        write_address(item.key("contractAddress"), Option::<Address>::get(&view.created_contract, row));
        item.key("input").hex(view.input.value(row));
        item.key("type").string(if is_call || call_type.is_empty() { kind } else { call_type });
        item.key("callType").string(if is_call { call_type } else { "" });
        let gas = Option::<u64>::get(&view.execution_gas_limit, row).unwrap_or(view.gas_limit[row]);
        item.key("gas").decimal(gas);
        let used = Option::<u64>::get(&view.execution_gas_used, row).or(Option::<u64>::get(&view.gas_used, row));
        write_known(item.key("gasUsed"), used.or_else(|| unstated_gas(kind, error, gas)), JsonWriter::decimal);
        item.key("traceId").string(&trace_id(view.trace_address.items::<u32>(row)));
        item.key("isError").string(if view.is_undone[row] == 0 { "0" } else { "1" });
        item.key("errCode").string(error);
        write_confirmations(item, newest, view.block_number[row]);
    });
}

/// The path from the outermost call. Readers take it for a number (`0_1` is one to Python), so an outermost frame has
/// `0`.
fn trace_id(path: impl Iterator<Item = u32>) -> String {
    let path: Vec<String> = path.map(|child| child.to_string()).collect();
    if path.is_empty() { "0".to_owned() } else { path.join("_") }
}

/// Words of failures before a frame ran.
const NEVER_RAN: [&str; 3] = ["collision", "balance", "depth"];

/// The gas that a frame used of what it was given, where its source does not say: none if it never ran, and none by the
/// end of a contract; all of it if it failed without a revert.
fn unstated_gas(kind: &str, error: &str, given: u64) -> Option<u64> {
    let error = error.to_lowercase();
    match kind {
        "call" | "create" if error.is_empty() || error.contains("revert") => None,
        "call" | "create" if NEVER_RAN.iter().all(|word| !error.contains(word)) => Some(given),
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_numbers() {
        for (path, id) in [(vec![], "0"), (vec![0], "0"), (vec![2], "2"), (vec![0, 11, 3], "0_11_3")] {
            assert_eq!(trace_id(path.into_iter()), id);
        }
    }

    #[test]
    fn failures_tell_the_gas_that_sources_do_not() {
        for (kind, error, used) in [
            ("call", "out of gas", Some(700)),
            ("call", "Bad instruction", Some(700)),
            ("call", "insufficient balance for transfer", Some(0)),
            ("call", "max call depth exceeded", Some(0)),
            ("create", "contract address collision", Some(0)),
            ("call", "Reverted", None),
            ("create", "", None),
            ("selfdestruct", "", Some(0)),
        ] {
            assert_eq!(unstated_gas(kind, error, 700), used, "{kind} {error}");
        }
    }
}
