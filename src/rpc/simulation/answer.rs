//! The answer of a simulation.

use alloy_consensus::{EMPTY_OMMER_ROOT_HASH, TxType};

use crate::error::Problem;
use trawl_core::primitives::B256;
use trawl_evm::Failure;
use trawl_evm::simulation::{CallOutcome, Envelope, SimulatedBlock, SimulatedLog};
use trawl_json::{JsonWriter, Object};

/// Code of a call that failed, and did not revert.
const FAILED: i64 = -32_015;

/// Whether transactions are shown whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TransactionForm {
    /// As objects, with all fields.
    Whole,
    /// By their hashes.
    Hashes,
}

/// Writes the blocks.
pub(super) fn write(writer: &mut JsonWriter, blocks: &[SimulatedBlock], transactions: TransactionForm) {
    writer.array(|array| {
        for block in blocks {
            array.item().object(|object| {
                header(object, block);
                body(object, block, transactions);
            });
        }
    });
}

fn header(object: &mut Object<'_>, block: &SimulatedBlock) {
    let header = &block.header;
    hash(object.key("hash"), block.hash);
    hash(object.key("parentHash"), block.parent_hash);
    hash(object.key("stateRoot"), block.state_root);
    object.key("number").quantity(header.number);
    object.key("timestamp").quantity(header.timestamp);
    object.key("miner").hex(header.beneficiary.as_slice());
    object.key("gasLimit").quantity(header.gas_limit);
    object.key("gasUsed").quantity(header.gas_used);
    object.key("difficulty").quantity_256(header.difficulty);
    object.key("extraData").hex(&header.extra_data);
    object.key("mixHash").hex(header.mix_hash.as_slice());
    object.key("nonce").hex(header.nonce.as_slice());
    object.key("logsBloom").hex(header.logs_bloom.as_slice());
    object.key("sha3Uncles").hex(EMPTY_OMMER_ROOT_HASH.as_slice());
    object.key("transactionsRoot").hex(header.transactions_root.as_slice());
    object.key("receiptsRoot").hex(header.receipts_root.as_slice());
    object.key("size").quantity(block.size);
    for (name, number) in [
        ("baseFeePerGas", header.base_fee_per_gas),
        ("blobGasUsed", header.blob_gas_used),
        ("excessBlobGas", header.excess_blob_gas),
    ] {
        if let Some(number) = number {
            object.key(name).quantity(number);
        }
    }
    for (name, root) in [
        ("parentBeaconBlockRoot", header.parent_beacon_block_root),
        ("withdrawalsRoot", header.withdrawals_root),
        ("requestsHash", header.requests_hash),
    ] {
        if let Some(root) = root {
            object.key(name).hex(root.as_slice());
        }
    }
}

fn body(object: &mut Object<'_>, block: &SimulatedBlock, transactions: TransactionForm) {
    object.key("uncles").raw("[]");
    if let Some(withdrawals) = &block.withdrawals {
        object.key("withdrawals").array(|array| {
            for withdrawal in withdrawals {
                array.item().object(|object| {
                    object.key("index").quantity(withdrawal.index);
                    object.key("validatorIndex").quantity(withdrawal.validator_index);
                    object.key("address").hex(withdrawal.address.as_slice());
                    object.key("amount").quantity(withdrawal.amount);
                });
            }
        });
    }
    object.key("transactions").array(|array| {
        for (index, envelope) in block.transactions.iter().enumerate() {
            match transactions {
                TransactionForm::Hashes => array.item().hex(envelope.hash.as_slice()),
                TransactionForm::Whole => {
                    array.item().object(|object| transaction(object, block, index as u64, envelope));
                }
            }
        }
    });
    object.key("calls").array(|array| {
        for (index, outcome) in block.calls.iter().enumerate() {
            let transaction = block.transactions.get(index).map_or(B256::ZERO, |envelope| envelope.hash);
            array
                .item()
                .object(|object| call(object, block, CallPosition { index: index as u64, transaction }, outcome));
        }
    });
}

/// A call in a simulated block.
#[derive(Clone, Copy)]
struct CallPosition {
    /// Which of the block it is.
    index: u64,
    /// Hash of its transaction.
    transaction: B256,
}

fn call(object: &mut Object<'_>, block: &SimulatedBlock, position: CallPosition, outcome: &CallOutcome) {
    object.key("returnData").hex(&outcome.output);
    object.key("logs").array(|array| {
        for one in &outcome.logs {
            array.item().object(|object| log(object, block, position, one));
        }
    });
    object.key("gasUsed").quantity(outcome.gas_used);
    object.key("maxUsedGas").quantity(outcome.gas_needed);
    object.key("status").quantity(u64::from(outcome.failure.is_none()));
    if let Some(failure) = &outcome.failure {
        object.key("error").object(|object| error(object, failure));
    }
}

fn error(object: &mut Object<'_>, failure: &Failure) {
    object.key("message").string(&failure.to_string());
    match failure {
        Failure::Reverted(output) => {
            object.key("code").number(3);
            object.key("data").hex(output);
        }
        _ => object.key("code").raw(FAILED.to_string()),
    }
}

fn log(object: &mut Object<'_>, block: &SimulatedBlock, position: CallPosition, one: &SimulatedLog) {
    object.key("address").hex(one.log.address.as_slice());
    object.key("topics").array(|topics| {
        one.log.data.topics().iter().for_each(|topic| topics.item().hex(topic.as_slice()));
    });
    object.key("data").hex(&one.log.data.data);
    object.key("blockNumber").quantity(block.header.number);
    object.key("transactionHash").hex(position.transaction.as_slice());
    object.key("transactionIndex").quantity(position.index);
    hash(object.key("blockHash"), block.hash);
    object.key("blockTimestamp").quantity(block.header.timestamp);
    object.key("logIndex").quantity(one.index);
    object.key("removed").bool(false);
}

fn transaction(object: &mut Object<'_>, block: &SimulatedBlock, index: u64, envelope: &Envelope) {
    let (call, (max, priority)) = (&envelope.call, envelope.fees());
    let wei = |amount: u128| trawl_core::primitives::U256::from(amount);
    hash(object.key("blockHash"), block.hash);
    object.key("blockNumber").quantity(block.header.number);
    object.key("blockTimestamp").quantity(block.header.timestamp);
    object.key("from").hex(call.from.as_slice());
    object.key("gas").quantity(envelope.gas);
    let price = envelope.price(block.header.base_fee_per_gas.unwrap_or_default());
    object.key("gasPrice").quantity_256(wei(price));
    object.key("hash").hex(envelope.hash.as_slice());
    object.key("input").hex(&call.input);
    object.key("nonce").quantity(envelope.nonce);
    object.key("to").option(call.to, |writer, to| writer.hex(to.as_slice()));
    object.key("transactionIndex").quantity(index);
    object.key("value").quantity_256(call.value);
    object.key("type").quantity(envelope.kind as u64);
    for name in ["v", "r", "s"] {
        object.key(name).quantity(0);
    }
    if envelope.kind == TxType::Legacy {
        return;
    }
    object.key("maxFeePerGas").quantity_256(wei(max));
    object.key("maxPriorityFeePerGas").quantity_256(wei(priority));
    object.key("chainId").quantity(envelope.chain_id);
    object.key("yParity").quantity(0);
    let list = call.access_list.clone().unwrap_or_default();
    object.key("accessList").raw(json(&list));
    if envelope.kind == TxType::Eip4844 {
        object.key("maxFeePerBlobGas").quantity_256(wei(call.max_fee_per_blob_gas));
        object.key("blobVersionedHashes").raw(json(&call.blob_hashes));
    }
    if envelope.kind == TxType::Eip7702 {
        object.key("authorizationList").raw(json(&call.authorizations));
    }
}

/// JSON of a type that has its form of JSON-RPC itself.
fn json(value: &impl serde::Serialize) -> Vec<u8> {
    // Lists and hashes have no keys that are no text, so that nothing fails.
    serde_json::to_vec(value).map_err(|error| Problem::not_encoded(&error)).unwrap_or_else(|_| b"null".to_vec())
}

/// A hash that is null if it is not known.
fn hash(writer: &mut JsonWriter, hash: Option<B256>) {
    writer.option(hash, |writer, hash| writer.hex(hash.as_slice()));
}
