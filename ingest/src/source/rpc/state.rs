//! State differences of a block from a node's tracers, and the slots of the system's contracts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use alloy_eips::{eip7002, eip7251};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl_core::primitives::{Address, B256};
use trawl_node::{Answer, ErrorKind, Failure, FailureKind, NodeClient, NodeError};

use super::age::BlockAge;
use super::answer::present;
use super::canonical::CanonicalStatus;
use super::horizon::Horizon;
use super::progress::Progress;
use crate::decode::{self, BlockParts, BlockPeek, Part, StateError};
use crate::source::SourceError;

/// Whether state is requested from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RequestedState {
    /// As far as it has it.
    IfThere,
    /// Not at all.
    #[default]
    Never,
}

/// Slots in which the contracts of EIP-7002 and EIP-7251 keep excess, count, head and tail of their queues. The system
/// sets them after the last transaction, and no other.
const QUEUE_SLOTS: u64 = 4;
const QUEUES: [Address; 2] =
    [eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS];

/// Requests state from nodes.
#[derive(Debug)]
pub(super) struct StateTracing {
    wish: RequestedState,
    /// The first block from which nodes have it.
    pub horizon: Horizon,
}

/// A method that gives differences.
struct Tracer {
    /// Key under which a node without it is remembered.
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

/// A block after its state was requested.
pub(super) enum StateOutcome {
    /// It has its state, or state was not requested.
    Known(BlockParts),
    /// No node gave its differences.
    Lacking(BlockParts, Failure),
    /// The chain has another block at its height by now.
    Replaced(BlockParts),
}

impl StateTracing {
    pub(super) fn new(wish: RequestedState) -> Self {
        Self { wish, horizon: Horizon::new("state") }
    }

    /// Whether the state of a block is to be requested. Nothing ran before block 0.
    pub(super) fn is_worth(&self, block: u64, age: BlockAge) -> bool {
        self.wish == RequestedState::IfThere && block > 0 && self.horizon.is_worth(block, age)
    }

    /// Adds the state differences of a block to its parts. A block without it is a block without that part; a node
    /// that does not answer at all is an error.
    pub(super) async fn add(
        &self,
        client: &NodeClient,
        of: &BlockPeek,
        parts: BlockParts,
    ) -> Result<StateOutcome, SourceError> {
        let state = BlockState::of(of);
        let attempt = || async { state.fetch(client, of).await.map_err(|failure| state.progress.heed(failure)) };
        let lacked = match client.with_failover(attempt).await {
            Ok(()) => None,
            Err(_) if state.is_replaced() => return Ok(StateOutcome::Replaced(parts)),
            Err(exhausted) if exhausted.failure.is_about_the_call() => Some(exhausted.failure),
            Err(exhausted) => return Err(exhausted.of(&format!("the state of block {}", of.number)).into()),
        };
        let (members, lacked) = match state.members() {
            Ok(members) => (members, lacked),
            Err(error) => (Vec::new(), Some(Failure::too_large(error.to_string()))),
        };
        let has_differences = !members.is_empty();
        let parts = members.into_iter().fold(parts, |parts, (part, value)| parts.with(part, value));
        Ok(match lacked {
            Some(failure) if !has_differences => StateOutcome::Lacking(parts, failure),
            // A node with differences but without the slots of queues is asked for them again at the next block.
            _ => {
                if !of.transactions.is_empty() {
                    self.horizon.had(of.number);
                }
                StateOutcome::Known(parts)
            }
        })
    }

    /// Whether a node has the state of a block.
    pub(super) async fn is_there(&self, client: &NodeClient, block: &BlockPeek) -> Result<bool, NodeError> {
        let state = BlockState::of(block);
        match client.with_failover(|| state.fetch(client, block)).await {
            Ok(()) => Ok(true),
            Err(exhausted) if exhausted.failure.is_about_the_call() => Ok(state.diffs().is_some()),
            Err(exhausted) => Err(exhausted.of("state")),
        }
    }
}

/// The answers on the state of one block. Every request is by hash, or its answer is compared with the hashes of the
/// block, so answers of different moments and nodes belong together, and none is requested twice.
struct BlockState {
    diffs: Mutex<Option<Box<RawValue>>>,
    slots: Mutex<Vec<Slot>>,
    is_replaced: AtomicBool,
    progress: Progress,
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
        Self {
            diffs: Mutex::new(None),
            slots: Mutex::new(slots.collect()),
            is_replaced: AtomicBool::new(false),
            progress: Progress::new(BlockAge::Final),
        }
    }

    /// Whether a node was found to have another block at its height.
    fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Relaxed)
    }

    fn diffs(&self) -> MutexGuard<'_, Option<Box<RawValue>>> {
        self.diffs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Requests missing answers from the current node.
    async fn fetch(&self, client: &NodeClient, of: &BlockPeek) -> Result<(), Failure> {
        let fetched = async {
            if self.diffs().is_none() {
                self.fetch_differences(client, of).await?;
            }
            self.fetch_slots(client).await
        };
        // Nodes have many words for a block that is gone, and any error may be one of them: while another block is at
        // its height, it is not waited for.
        match fetched.await {
            Err(failure) if matches!(failure.kind(), FailureKind::UnknownBlock | FailureKind::NotReady) => {
                match (CanonicalStatus::of(client, of).await?, failure.kind()) {
                    (CanonicalStatus::Replaced, _) => {
                        self.is_replaced.store(true, Ordering::Relaxed);
                        Err(Failure::unsupported("its chain has another block there by now"))
                    }
                    (CanonicalStatus::Old, FailureKind::UnknownBlock) => Err(Failure::pruned(failure.cause())),
                    (CanonicalStatus::New | CanonicalStatus::Old, _) => Err(failure),
                }
            }
            fetched => fetched,
        }
    }

    async fn fetch_differences(&self, client: &NodeClient, of: &BlockPeek) -> Result<(), Failure> {
        let mut refusal = Failure::unsupported("no tracer");
        for tracer in &TRACERS {
            if let Some(reason) = client.missing(tracer.way) {
                refusal = Failure::unsupported(reason);
                continue;
            }
            let call = (tracer.method, (tracer.parameters)(of.hash, of.number));
            let answer = client.batch_of_a_part(&[call]).await?.pop();
            match differences(answer, of, &self.progress)? {
                Ok(diffs) => {
                    *self.diffs() = Some(diffs);
                    return Ok(());
                }
                Err(reason) => {
                    client.mark_missing(tracer.way, &reason);
                    refusal = Failure::unsupported(reason);
                }
            }
        }
        Err(refusal.about("it returns no state"))
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
        let answers = client.batch_of_a_part(&calls).await?;
        let mut failure = None;
        for (position, answer) in open.into_iter().zip(answers) {
            match present(Some(answer), "a slot is not there yet").map_err(Failure::of_a_part) {
                Ok(value) => self.slots()[position].value = Some(value),
                Err(other) => failure = failure.filter(Failure::is_permanent).or(Some(other)),
            }
        }
        failure.map_or(Ok(()), Err)
    }

    /// The parts of a block they are. Without the slots the differences are those of the transactions, and are called
    /// so.
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
fn differences(
    answer: Option<Answer>,
    of: &BlockPeek,
    progress: &Progress,
) -> Result<Result<Box<RawValue>, String>, Failure> {
    match answer {
        Some(Err(error)) => match error.kind() {
            ErrorKind::NoMethod | ErrorKind::WrongCall => Ok(Err(error.message)),
            _ => Err(Failure::from(error).of_a_part()),
        },
        answer => {
            let diffs = present(answer, "its state differences are not there yet")?;
            match decode::state_fits(&diffs, of) {
                Ok(()) => Ok(Ok(diffs)),
                // An older tracer without this mode answers something else.
                Err(error @ StateError::Json(_)) => Ok(Err(trawl_core::error_chain(&error))),
                Err(error) => {
                    let cause = trawl_core::error_chain(&error);
                    Err(match progress.disagreement() {
                        Some(count) => Failure::inconsistent(cause, count),
                        // It is about this block: that of others may fit.
                        None => Failure::too_large(cause),
                    })
                }
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
