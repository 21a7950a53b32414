//! State differences of a block from a node's tracers, and what only its state tells of the system's contracts.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

use alloy_eips::{eip7002, eip7251};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl::primitives::{Address, B256, BlockNumber};

use super::client::{Answer, CallError, Failure, METHOD_NOT_FOUND, NodeClient};
use crate::decode::{self, BlockPeek};
use crate::source::SourceError;

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
/// How often a call is repeated that the node refuses, before a block is taken without its answer.
const ATTEMPTS: u32 = 7;
/// Pause before the first repetition; it doubles.
const PAUSE: Duration = Duration::from_millis(50);

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

    /// Adds what the node tells of the state of a block to its line. A block without it is a block without that part; a
    /// node that does not answer at all is an error.
    pub(super) async fn add(&self, node: &NodeClient, of: &StateOf, line: String) -> Result<String, SourceError> {
        // Nothing ran before block 0.
        if of.peek.number == 0 {
            return Ok(line);
        }
        while let Some(tracer) = TRACERS.get(usize::from(self.tracer.load(Ordering::Relaxed))) {
            match self.ask(node, tracer, of).await? {
                Asked::There(members) => return Ok(decode::with_members(line, &members)),
                Asked::No(error) if WRONG_CALL.contains(&error.code) => self.give_up(tracer),
                Asked::No(error) => {
                    self.tell(of.peek.number, &error.message);
                    return Ok(line);
                }
                // An older tracer without this mode answers, and says something else.
                Asked::Unfit(cause) => {
                    self.tell(of.peek.number, &cause);
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

    async fn ask(&self, node: &NodeClient, tracer: &Tracer, of: &StateOf) -> Result<Asked, SourceError> {
        let queues = if of.has_requests { queue_slots() } else { Vec::new() };
        let mut calls = vec![(tracer.method, (tracer.parameters)(of.peek.hash, of.peek.number))];
        for (address, slot) in &queues {
            for hash in [of.parent_hash, of.peek.hash] {
                let parameters = json!([address, format!("{slot:#x}"), {"blockHash": hash}]);
                calls.push(("eth_getStorageAt", parameters));
            }
        }
        let mut answers = insist(node, &calls, of.peek.number).await?.into_iter();
        let diffs = match answers.next() {
            Some(Ok(diffs)) => diffs,
            Some(Err(error)) => return Ok(Asked::No(error)),
            None => return Ok(Asked::Unfit("no answer".into())),
        };
        if let Err(cause) = decode::state_fits(&diffs, &of.peek) {
            return Ok(Asked::Unfit(trawl::chain(&cause)));
        }
        let mut members = vec![("txStateDiffs", diffs)];
        match answers.map(|answer| answer.map_err(|error| error.message)).collect::<Result<Vec<_>, _>>() {
            Ok(values) if !queues.is_empty() => match queue_member(&queues, &values) {
                Ok(slots) => members.push(("queueSlots", slots)),
                Err(error) => self.tell(of.peek.number, &error.to_string()),
            },
            Ok(_) => {}
            // Without them the differences are those of the transactions, and are called so.
            Err(cause) => self.tell(of.peek.number, &cause),
        }
        Ok(Asked::There(members))
    }
}

/// The answers to calls about one block. What fails is asked for again, what was answered is not: all of it is asked by
/// hash, so answers of different moments belong together.
async fn insist(
    node: &NodeClient,
    calls: &[(&'static str, Value)],
    number: BlockNumber,
) -> Result<Vec<Answer>, SourceError> {
    let mut answers: Vec<Answer> = calls.iter().map(|_| Err(CallError::default())).collect();
    for attempt in 0..ATTEMPTS {
        let open: Vec<usize> = (0..calls.len()).filter(|call| is_open(&answers[*call])).collect();
        if open.is_empty() {
            break;
        }
        if attempt > 0 {
            tokio::time::sleep(PAUSE * (1 << attempt)).await;
        }
        let some: Vec<(&'static str, Value)> = open.iter().map(|call| calls[*call].clone()).collect();
        let given = match node.retry(&format!("the state of block {number}"), || node.batch(&some)).await {
            // All of it was refused as one.
            Err(SourceError::Refused { cause, .. }) => {
                let refused = || Err(CallError { code: 0, message: cause.clone() });
                return Ok(calls.iter().map(|_| refused()).collect());
            }
            given => given?,
        };
        for (call, answer) in open.into_iter().zip(given) {
            answers[call] = match answer {
                Ok(value) if value.get() == "null" => Err(CallError { code: 0, message: "it answers null".into() }),
                answer => answer,
            };
        }
    }
    Ok(answers)
}

/// Whether a call may still be answered.
fn is_open(answer: &Answer) -> bool {
    answer.as_ref().err().is_some_and(|error| !WRONG_CALL.contains(&error.code) && !is_for_good(error))
}

/// What a node answered.
enum Asked {
    There(Vec<(&'static str, Box<RawValue>)>),
    /// It refused.
    No(CallError),
    /// It answered with what is not of that block.
    Unfit(String),
}

/// The block whose state is asked for.
pub(super) struct StateOf {
    pub peek: BlockPeek,
    parent_hash: B256,
    /// Whether it has requests, and so the contracts that queue them (EIP-7685).
    has_requests: bool,
}

impl StateOf {
    pub(super) fn new(peek: BlockPeek, block: &RawValue) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct PeekHeader {
            parent_hash: B256,
            requests_hash: Option<B256>,
        }
        let header: PeekHeader =
            serde_json::from_str(block.get()).map_err(|error| Failure::transient(error.to_string()))?;
        Ok(Self { peek, parent_hash: header.parent_hash, has_requests: header.requests_hash.is_some() })
    }
}

fn queue_slots() -> Vec<(Address, u64)> {
    let contracts = [eip7002::WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS, eip7251::CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS];
    contracts.into_iter().flat_map(|address| (0..QUEUE_SLOTS).map(move |slot| (address, slot))).collect()
}

/// `{address: {slot: [before, after], …}, …}`.
fn queue_member(slots: &[(Address, u64)], values: &[Box<RawValue>]) -> Result<Box<RawValue>, serde_json::Error> {
    let mut contracts: serde_json::Map<String, Value> = serde_json::Map::new();
    for ((address, slot), values) in slots.iter().zip(values.chunks(2)) {
        let slots = contracts.entry(address.to_string()).or_insert_with(|| json!({}));
        slots[format!("{slot:#x}")] = json!(values);
    }
    serde_json::value::to_raw_value(&contracts)
}

/// Whether asking again cannot help: the node does not keep the state of that block.
fn is_for_good(error: &CallError) -> bool {
    let text = error.message.to_lowercase();
    ["historical state", "missing trie node", "not available", "pruned", "not supported"]
        .iter()
        .any(|words| text.contains(words))
}
