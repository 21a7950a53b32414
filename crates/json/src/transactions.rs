//! Transactions and receipts of the Ethereum JSON-RPC specification, and the list of a transaction's blobs.

pub mod authorizations;
pub mod calls;
pub mod internal;
pub mod items;
pub mod raw_trace;
pub mod receipt_proofs;
pub mod state_changes;
pub mod summary;
pub mod user_operations;

use std::ops::Range;

use super::{Array, JsonWriter, Object};
use trawl_core::primitives::{Address, B256, Bloom, Timestamp, TransactionType, U256};
use trawl_core::schema::{AccessListItem, Authorization, Column, LogView, TransactionView};

/// The type of the transaction in a row.
pub(super) fn type_of(transactions: &TransactionView<'_>, row: usize) -> TransactionType {
    transactions.transaction_type[row].into()
}

/// The blobs of a transaction as REST lists them: blocks have their hashes alone.
pub fn write_blobs(transactions: &TransactionView<'_>, row: usize) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.object(|page| {
        page.key("items").array(|blobs| {
            for hash in transactions.blob_versioned_hashes.items::<B256>(row) {
                blobs.item().object(|blob| {
                    blob.key("hash").hex(hash.as_slice());
                    ["blob_data", "kzg_commitment", "kzg_proof"].iter().for_each(|key| blob.key(key).null());
                });
            }
        });
    });
    writer.into_bytes()
}

/// A transaction object.
pub fn write_transaction(writer: &mut JsonWriter, transactions: &TransactionView<'_>, row: usize) {
    write_with_input(writer, transactions, row, transactions.input.value(row));
}

/// A transaction object with an input that is cut. One of a type without columns is written as the source gave it.
pub(super) fn write_with_input(writer: &mut JsonWriter, transactions: &TransactionView<'_>, row: usize, input: &[u8]) {
    let kind = type_of(transactions, row);
    if !kind.has_columns() {
        return writer.raw(transactions.raw_transaction.value(row));
    }
    writer.object(|transaction| {
        transaction.key("blockHash").hex(transactions.block_hash.bytes(row));
        transaction.key("blockNumber").quantity(transactions.block_number[row]);
        transaction.key("blockTimestamp").quantity(Timestamp::from_micros(transactions.block_timestamp[row]).seconds());
        transaction.key("from").hex(transactions.from_address.bytes(row));
        transaction.key("gas").quantity(transactions.gas_limit[row]);
        let price = Option::<U256>::get(&transactions.gas_price, row);
        transaction.key("gasPrice").option(price, JsonWriter::quantity_256);
        for (key, fee) in [
            ("maxFeePerGas", &transactions.max_fee_per_gas),
            ("maxPriorityFeePerGas", &transactions.max_priority_fee_per_gas),
            ("maxFeePerBlobGas", &transactions.max_fee_per_blob_gas),
        ] {
            if let Some(fee) = Option::<U256>::get(fee, row) {
                transaction.key(key).quantity_256(fee);
            }
        }
        transaction.key("hash").hex(transactions.hash.bytes(row));
        transaction.key("input").hex(input);
        transaction.key("nonce").quantity(transactions.nonce[row]);
        let to = Option::<Address>::get(&transactions.to_address, row);
        transaction.key("to").option(to, |writer, to| writer.hex(to.as_slice()));
        transaction.key("transactionIndex").quantity(transactions.transaction_index[row].into());
        transaction.key("value").quantity_256(U256::get(&transactions.value, row));
        transaction.key("type").quantity(kind.byte().into());
        write_typed_fields(transaction, transactions, row);
        write_signature(transaction, transactions, row);
        transaction.members_of(transactions.extra_fields.value(row));
    });
}

/// Fields of EIP-155, 2930, 4844 and 7702.
fn write_typed_fields(transaction: &mut Object<'_>, transactions: &TransactionView<'_>, row: usize) {
    let kind = type_of(transactions, row);
    if kind != TransactionType::Legacy {
        transaction.key("accessList").array(|list| {
            for item in transactions.access_list.items::<AccessListItem>(row) {
                write_access(list, &item);
            }
        });
    }
    if let Some(chain_id) = Option::<u64>::get(&transactions.chain_id, row) {
        transaction.key("chainId").quantity(chain_id);
    }
    if kind == TransactionType::Blob {
        transaction.key("blobVersionedHashes").array(|hashes| {
            for hash in transactions.blob_versioned_hashes.items::<B256>(row) {
                hashes.item().hex(hash.as_slice());
            }
        });
    }
    if kind == TransactionType::SetCode {
        transaction.key("authorizationList").array(|list| {
            for authorization in transactions.authorization_list.items::<Authorization>(row) {
                write_authorization(list, &authorization);
            }
        });
    }
}

fn write_access(list: &mut Array<'_>, access: &AccessListItem) {
    list.item().object(|item| {
        item.key("address").hex(access.address.as_slice());
        item.key("storageKeys").array(|keys| {
            for key in &access.storage_keys {
                keys.item().hex(key.as_slice());
            }
        });
    });
}

fn write_authorization(list: &mut Array<'_>, authorization: &Authorization) {
    list.item().object(|item| {
        item.key("chainId").quantity_256(authorization.chain_id);
        item.key("address").hex(authorization.address.as_slice());
        item.key("nonce").quantity(authorization.nonce);
        item.key("yParity").quantity(authorization.y_parity.into());
        item.key("r").quantity_256(authorization.r);
        item.key("s").quantity_256(authorization.s);
    });
}

fn write_signature(transaction: &mut Object<'_>, transactions: &TransactionView<'_>, row: usize) {
    let v = U256::get(&transactions.v, row);
    transaction.key("v").quantity_256(v);
    transaction.key("r").quantity_256(U256::get(&transactions.r, row));
    transaction.key("s").quantity_256(U256::get(&transactions.s, row));
    if type_of(transactions, row) != TransactionType::Legacy {
        transaction.key("yParity").quantity_256(v);
    }
}

/// A receipt. `logs`: the transaction's logs in order, as rows of batches.
pub fn write_receipt<'l>(
    writer: &mut JsonWriter,
    transactions: &TransactionView<'_>,
    row: usize,
    logs: &[(LogView<'l>, Range<usize>)],
) {
    writer.object(|receipt| write_receipt_members(receipt, transactions, row, (logs, None)));
}

/// The logs of a transaction, and whether it failed if its receipt does not say that.
pub type LogsAndFailure<'r, 'l> = (&'r [(LogView<'l>, Range<usize>)], Option<bool>);

/// The members of a receipt.
pub(super) fn write_receipt_members(
    receipt: &mut Object<'_>,
    transactions: &TransactionView<'_>,
    row: usize,
    (logs, has_failed): LogsAndFailure<'_, '_>,
) {
    if !type_of(transactions, row).has_columns() {
        // An object without logs, which are added here.
        let raw = transactions.raw_receipt.value(row);
        receipt.members_of(raw);
    } else {
        write_outcome(receipt, transactions, row, has_failed);
        receipt.members_of(transactions.receipt_extra_fields.value(row));
        receipt.key("logsBloom").hex(bloom(logs).as_slice());
    }
    receipt.key("logs").array(|array| {
        for (view, rows) in logs {
            for row in rows.clone() {
                super::logs::write_rpc_log(array.item(), view, row);
            }
        }
    });
}

/// Whether a transaction succeeded: EIP-658 replaced the state root by a status. If it is known otherwise that it
/// failed, or did not, that is a status in place of the root.
fn write_status(receipt: &mut Object<'_>, transactions: &TransactionView<'_>, row: usize, has_failed: Option<bool>) {
    let status = Option::<u8>::get(&transactions.status, row);
    let root = Option::<B256>::get(&transactions.post_state_root, row);
    if let Some(root) = root.filter(|_| has_failed.is_none()) {
        receipt.key("root").hex(root.as_slice());
    }
    if let Some(status) = status.or_else(|| Some(u8::from(!has_failed?))) {
        receipt.key("status").quantity(status.into());
    }
}

/// The members of a receipt that do not follow from its logs.
pub(super) fn write_outcome(
    receipt: &mut Object<'_>,
    transactions: &TransactionView<'_>,
    row: usize,
    has_failed: Option<bool>,
) {
    receipt.key("blockHash").hex(transactions.block_hash.bytes(row));
    receipt.key("blockNumber").quantity(transactions.block_number[row]);
    let contract = Option::<Address>::get(&transactions.contract_address, row);
    receipt.key("contractAddress").option(contract, |writer, address| writer.hex(address.as_slice()));
    receipt.key("cumulativeGasUsed").quantity(transactions.cumulative_gas_used[row]);
    receipt.key("effectiveGasPrice").quantity_256(U256::get(&transactions.effective_gas_price, row));
    receipt.key("from").hex(transactions.from_address.bytes(row));
    receipt.key("gasUsed").quantity(transactions.gas_used[row]);
    if let Some(gas) = Option::<u64>::get(&transactions.blob_gas_used, row) {
        receipt.key("blobGasUsed").quantity(gas);
    }
    if let Some(price) = Option::<U256>::get(&transactions.blob_gas_price, row) {
        receipt.key("blobGasPrice").quantity_256(price);
    }
    write_status(receipt, transactions, row, has_failed);
    let to = Option::<Address>::get(&transactions.to_address, row);
    receipt.key("to").option(to, |writer, to| writer.hex(to.as_slice()));
    receipt.key("transactionHash").hex(transactions.hash.bytes(row));
    receipt.key("transactionIndex").quantity(transactions.transaction_index[row].into());
    receipt.key("type").quantity(transactions.transaction_type[row].into());
}

/// The bloom filter of a receipt. It is not stored, since it is derived from the logs.
fn bloom(logs: &[(LogView<'_>, Range<usize>)]) -> Bloom {
    let mut bloom = Bloom::ZERO;
    for (view, rows) in logs {
        for row in rows.clone() {
            let topics = [&view.topic0, &view.topic1, &view.topic2, &view.topic3];
            bloom.accrue(alloy_primitives::BloomInput::Raw(view.address.bytes(row)));
            for topic in topics.into_iter().take(view.topics_count[row].into()) {
                bloom.accrue(alloy_primitives::BloomInput::Raw(topic.bytes(row)));
            }
        }
    }
    bloom
}
