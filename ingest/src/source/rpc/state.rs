//! State differences of a block from a node's tracers, and the slots of the system's contracts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy_eips::{eip7002, eip7251};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl_core::primitives::{Address, B256};
use trawl_node::{Answer, CallError, Failure, METHOD_NOT_FOUND, NodeClient};

use super::answer::present;
use super::progress::Progress;
use crate::decode::{self, BlockParts, BlockPeek, Part, StateError};
use crate::source::SourceError;

/// Whether state is requested from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StateWish {
    /// As far as it has it.
    IfThere,
    /// Not at all.
    #[default]
    Never,
}

/// JSON-RPC: the node does not take the request or its parameters.
const WRONG_CALL: [i64; 2] = [-32600, -32602];

/// Slots in which the contracts of EIP-7002 and EIP-7251 keep excess, count, head and tail of their queues. The system
/// sets them after the last transaction, and no other.
const QUEUE_SLOTS: u64 = 4;
const QUEUES: [Address; 2] =
    [eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS];

/// Requests state from nodes.
#[derive(Debug, Default)]
pub(super) struct StateTracing {
    wish: StateWish,
    warned: AtomicBool,
}

/// A method that gives differences.
struct Tracer {
    /// What a node is remembered by that does not have it.
    way: &'static str,
    method: &'static str,
    parameters: fn(B256, u64) -> Value,
}

const TRACERS: [Tracer; 2] = [
    Tracer {
        way: "prestateTracer",
        method: "debug_traceBlockByHash",
        parameters: |hash, _| json!([hash, {"tracer": "prestateTracer", "tracerConfig": {"diffMode": true}}]),
    },
    // OpenEthereum's method takes no hash; the hashes of the transactions show whether it was the same block.
    Tracer {
        way: "stateDiff",
        method: "trace_replayBlockTransactions",
        parameters: |_, number| json!([format!("{number:#x}"), ["stateDiff"]]),
    },
];

impl StateTracing {
    pub(super) fn new(wish: StateWish) -> Self {
        Self { wish, warned: AtomicBool::new(false) }
    }

    /// Adds the state differences of a block to its parts. A block without it is a block without that part; a node
    /// that does not answer at all is an error.
    pub(super) async fn add(
        &self,
        client: &NodeClient,
        of: &BlockPeek,
        parts: BlockParts,
    ) -> Result<BlockParts, SourceError> {
        // Nothing ran before block 0.
        if self.wish == StateWish::Never || of.number == 0 {
            return Ok(parts);
        }
        let state = BlockState::of(of);
        let progress = Progress::default();
        let attempt = || async { state.fetch(client, of).await.map_err(|failure| progress.heed(failure)) };
        match client.with_failover(attempt).await {
            Ok(()) => {}
            Err(exhausted) if exhausted.failure.is_about_the_call() => {
                self.warn(of.number, exhausted.failure.cause());
            }
            Err(exhausted) => return Err(exhausted.of(&format!("the state of block {}", of.number)).into()),
        }
        let members = state.members().unwrap_or_else(|error| {
            self.warn(of.number, &error.to_string());
            Vec::new()
        });
        Ok(members.into_iter().fold(parts, |parts, (part, value)| parts.with(part, value)))
    }

    fn warn(&self, block: u64, cause: &str) {
        if !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                block,
                cause,
                "no node gives all of the state of a block; what is missing is recorded as missing, here and elsewhere"
            );
        }
    }
}

/// The answers on the state of one block. Every request is by hash, or its answer is compared with the hashes of the
/// block, so answers of different moments and nodes belong together, and none is requested twice.
struct BlockState {
    diffs: Mutex<Option<Box<RawValue>>>,
    slots: Mutex<Vec<Slot>>,
}

/// A value of a slot, before the block or after it.
struct Slot {
    address: Address,
    slot: u64,
    block: B256,
    value: Option<Box<RawValue>>,
}

impl BlockState {
    fn of(block: &BlockPeek) -> Self {
        let contracts = if block.requests_hash.is_some() { &QUEUES[..] } else { &[] };
        let slots = contracts.iter().flat_map(|address| {
            let sides = |slot| [block.parent_hash, block.hash].map(|hash| (slot, hash));
            let slots = (0..QUEUE_SLOTS).flat_map(sides);
            slots.map(|(slot, block)| Slot { address: *address, slot, block, value: None })
        });
        Self { diffs: Mutex::new(None), slots: Mutex::new(slots.collect()) }
    }

    fn diffs(&self) -> MutexGuard<'_, Option<Box<RawValue>>> {
        self.diffs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests what is not there yet from the current node.
    async fn fetch(&self, client: &NodeClient, of: &BlockPeek) -> Result<(), Failure> {
        let is_open = self.diffs().is_none();
        let tracers = TRACERS.iter().filter(|_| is_open);
        let mut refusal = None;
        for tracer in tracers {
            if let Some(reason) = client.missing(tracer.way) {
                refusal = Some(reason);
                continue;
            }
            let call = (tracer.method, (tracer.parameters)(of.hash, of.number));
            let answer = client.batch(&[call]).await.map_err(Failure::of_a_part)?.pop();
            match differences(answer, of)? {
                Ok(diffs) => {
                    *self.diffs() = Some(diffs);
                    refusal = None;
                    break;
                }
                Err(reason) => {
                    client.mark_missing(tracer.way, &reason);
                    refusal = Some(reason);
                }
            }
        }
        match refusal {
            Some(reason) => Err(Failure::unsupported(format!("it gives no state: {reason}"))),
            None => self.fetch_slots(client).await,
        }
    }

    async fn fetch_slots(&self, client: &NodeClient) -> Result<(), Failure> {
        let (open, calls): (Vec<usize>, Vec<_>) = self
            .slots()
            .iter()
            .enumerate()
            .filter(|(_, slot)| slot.value.is_none())
            .map(|(position, Slot { address, slot, block, .. })| {
                (position, ("eth_getStorageAt", json!([address, format!("{slot:#x}"), {"blockHash": block}])))
            })
            .unzip();
        if open.is_empty() {
            return Ok(());
        }
        let answers = client.batch(&calls).await.map_err(Failure::of_a_part)?;
        let mut failure = None;
        for (position, answer) in open.into_iter().zip(answers) {
            match answer {
                Err(error) if is_for_good(&error) => failure = Some(Failure::unsupported(error.message)),
                answer => match present(Some(answer), "a slot is not there yet") {
                    Ok(value) => self.slots()[position].value = Some(value),
                    Err(other) => failure = failure.or(Some(other.of_a_part())),
                },
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// The parts of a block they are. Without the slots the differences are those of the transactions, and are called so.
    fn members(self) -> Result<Vec<(Part, Box<RawValue>)>, serde_json::Error> {
        let slots = self.slots.into_inner().unwrap_or_else(PoisonError::into_inner);
        let Some(diffs) = self.diffs.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            return Ok(Vec::new());
        };
        let mut members = vec![(Part::TransactionStateDiffs, diffs)];
        if !slots.is_empty() && slots.iter().all(|slot| slot.value.is_some()) {
            members.push((Part::QueueSlots, queue_member(&slots)?));
        }
        Ok(members)
    }
}

/// The differences in an answer, or the node's text that it does not have this tracer.
fn differences(answer: Option<Answer>, of: &BlockPeek) -> Result<Result<Box<RawValue>, String>, Failure> {
    match answer {
        Some(Err(error)) if error.is_rate_limited() => Err(error.into()),
        Some(Err(error)) if error.code == METHOD_NOT_FOUND => Ok(Err(error.message)),
        Some(Err(error)) if is_for_good(&error) => Err(Failure::unsupported(error.message)),
        Some(Err(error)) if WRONG_CALL.contains(&error.code) => Ok(Err(error.message)),
        answer => {
            let diffs = present(answer, "its state differences are not there yet").map_err(Failure::of_a_part)?;
            match decode::state_fits(&diffs, of) {
                Ok(()) => Ok(Ok(diffs)),
                // An older tracer without this mode answers something else.
                Err(error @ StateError::Json(_)) => Ok(Err(trawl_core::error_chain(&error))),
                Err(error) => Err(Failure::not_ready(trawl_core::error_chain(&error))),
            }
        }
    }
}

/// `{address: {slot: [before, after], …}, …}`.
fn queue_member(slots: &[Slot]) -> Result<Box<RawValue>, serde_json::Error> {
    let mut contracts: serde_json::Map<String, Value> = serde_json::Map::new();
    for sides in slots.chunks(2) {
        let values: Vec<&Option<Box<RawValue>>> = sides.iter().map(|side| &side.value).collect();
        let slots = contracts.entry(sides[0].address.to_string()).or_insert_with(|| json!({}));
        slots[format!("{:#x}", sides[0].slot)] = json!(values);
    }
    serde_json::value::to_raw_value(&contracts)
}

/// Whether a retry cannot help: the node does not keep the state of that block.
fn is_for_good(error: &CallError) -> bool {
    let text = error.message.to_lowercase();
    ["historical state", "missing trie node", "not available", "pruned", "not supported"]
        .iter()
        .any(|phrase| text.contains(phrase))
}
