//! State differences of a block from a node's tracers, and what only its state tells of the system's contracts.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use alloy_eips::{eip7002, eip7251};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl::primitives::{Address, B256};

use super::client::{CallError, Failure, METHOD_NOT_FOUND, NodeClient};
use crate::decode::{self, BlockPeek};

/// Whether a node is asked for state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateWish {
    /// As far as it has it.
    IfThere,
    /// Not at all.
    #[default]
    Never,
}

/// JSON-RPC: the node does not know the method, the request or its parameters.
const WRONG_CALL: [i64; 3] = [METHOD_NOT_FOUND, -32600, -32602];
/// How often a block is asked for again because its state does not come, before it is taken without.
const ATTEMPTS: u32 = 7;

/// Slots in which the contracts of EIP-7002 and EIP-7251 keep excess, count, head and tail of their queues. The system
/// sets them after the last transaction, and no other.
const QUEUE_SLOTS: u64 = 4;

/// What is known of a node's tracers.
#[derive(Debug)]
pub(super) struct StateTracing {
    /// The tracer that is asked: an index into [`TRACERS`]; the end of it when there is none.
    tracer: AtomicU8,
    told: AtomicBool,
}

/// A way to ask for differences.
struct Tracer {
    method: &'static str,
    parameters: fn(B256, u64) -> Value,
}

const TRACERS: [Tracer; 2] = [
    Tracer {
        method: "debug_traceBlockByHash",
        parameters: |hash, _| json!([hash, {"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}}]),
    },
    // OpenEthereum's method takes no hash; the hashes of the transactions tell whether it was the same block.
    Tracer {
        method: "trace_replayBlockTransactions",
        parameters: |_, number| json!([format!("{number:#x}"), ["stateDiff"]]),
    },
];

impl Default for StateTracing {
    fn default() -> Self {
        Self::new(StateWish::Never)
    }
}

impl StateTracing {
    pub(super) fn new(wish: StateWish) -> Self {
        let tracer = match wish {
            StateWish::IfThere => 0,
            StateWish::Never => TRACERS.len(),
        };
        Self { tracer: AtomicU8::new(u8::try_from(tracer).unwrap_or(u8::MAX)), told: AtomicBool::new(false) }
    }

    /// Adds what the node tells of the state of a block to its line. A block without it is a block without that part.
    pub(super) async fn add(
        &self,
        node: &NodeClient,
        block: &RawValue,
        peek: &BlockPeek,
        attempt: u32,
        line: String,
    ) -> Result<String, Failure> {
        // Nothing ran before block 0.
        if peek.number == 0 {
            return Ok(line);
        }
        while let Some(tracer) = TRACERS.get(usize::from(self.tracer.load(Ordering::Relaxed))) {
            match self.ask(node, tracer, block, peek, attempt).await? {
                Asked::There(members) => return Ok(decode::with_members(line, &members)),
                Asked::No(error) if WRONG_CALL.contains(&error.code) => self.give_up(tracer),
                Asked::No(error) if attempt < ATTEMPTS && !is_for_good(&error) => {
                    return Err(Failure::transient(error.message));
                }
                Asked::No(error) => {
                    self.tell(peek.number, &error.message);
                    return Ok(line);
                }
                Asked::Unfit(cause) if attempt < ATTEMPTS => return Err(Failure::transient(cause)),
                // An older tracer without this mode answers, and says something else.
                Asked::Unfit(cause) => {
                    self.tell(peek.number, &cause);
                    self.give_up(tracer);
                }
            }
        }
        Ok(line)
    }

    /// Goes on to the next tracer, unless another block did already.
    fn give_up(&self, tracer: &Tracer) {
        let position = TRACERS.iter().position(|known| known.method == tracer.method).unwrap_or_default();
        let position = u8::try_from(position).unwrap_or(u8::MAX);
        let next = position.saturating_add(1);
        if self.tracer.compare_exchange(position, next, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            tracing::info!(method = tracer.method, "the node does not have a way to tell of state");
        }
    }

    fn tell(&self, block: u64, cause: &str) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                block,
                cause,
                "the node does not tell all of the state of a block; what is missing is recorded as missing, here and elsewhere"
            );
        }
    }

    async fn ask(
        &self,
        node: &NodeClient,
        tracer: &Tracer,
        block: &RawValue,
        peek: &BlockPeek,
        attempt: u32,
    ) -> Result<Asked, Failure> {
        let header: PeekHeader =
            serde_json::from_str(block.get()).map_err(|error| Failure::transient(error.to_string()))?;
        let queues = if header.requests_hash.is_some() { queue_slots() } else { Vec::new() };
        let mut calls = vec![(tracer.method, (tracer.parameters)(peek.hash, peek.number))];
        for (address, slot) in &queues {
            for hash in [header.parent_hash, peek.hash] {
                let parameters = json!([address, format!("{slot:#x}"), {"blockHash": hash}]);
                calls.push(("eth_getStorageAt", parameters));
            }
        }
        let mut answers = node.batch(&calls).await?.into_iter();
        let diffs = match answers.next() {
            Some(Ok(diffs)) => diffs,
            Some(Err(error)) => return Ok(Asked::No(error)),
            None => return Err(Failure::transient("no answer")),
        };
        if let Err(cause) = decode::state_fits(&diffs, peek) {
            return Ok(Asked::Unfit(trawl::chain(&cause)));
        }
        let mut members = vec![("txStateDiffs", diffs)];
        match answers.collect::<Result<Vec<Box<RawValue>>, _>>() {
            Ok(values) if !queues.is_empty() => members.push(("queueSlots", queue_member(&queues, &values)?)),
            Ok(_) => {}
            Err(error) if attempt < ATTEMPTS && !WRONG_CALL.contains(&error.code) && !is_for_good(&error) => {
                return Ok(Asked::No(error));
            }
            // Without them the differences are those of the transactions, and are called so.
            Err(error) => self.tell(peek.number, &error.message),
        }
        Ok(Asked::There(members))
    }
}

/// What a node answered.
enum Asked {
    There(Vec<(&'static str, Box<RawValue>)>),
    /// It refused.
    No(CallError),
    /// It answered with what is not of that block.
    Unfit(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PeekHeader {
    parent_hash: B256,
    requests_hash: Option<B256>,
}

fn queue_slots() -> Vec<(Address, u64)> {
    let contracts = [eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS];
    contracts.into_iter().flat_map(|address| (0..QUEUE_SLOTS).map(move |slot| (address, slot))).collect()
}

/// `{address: {slot: [before, after], …}, …}`.
fn queue_member(slots: &[(Address, u64)], values: &[Box<RawValue>]) -> Result<Box<RawValue>, Failure> {
    let mut contracts: serde_json::Map<String, Value> = serde_json::Map::new();
    for ((address, slot), values) in slots.iter().zip(values.chunks(2)) {
        let slots = contracts.entry(address.to_string()).or_insert_with(|| json!({}));
        slots[format!("{slot:#x}")] = json!(values);
    }
    serde_json::value::to_raw_value(&contracts).map_err(|error| Failure::transient(error.to_string()))
}

/// Whether asking again cannot help: the node does not keep the state of that block.
fn is_for_good(error: &CallError) -> bool {
    let text = error.message.to_lowercase();
    ["historical state", "missing trie node", "not available", "pruned", "not supported"]
        .iter()
        .any(|words| text.contains(words))
}
