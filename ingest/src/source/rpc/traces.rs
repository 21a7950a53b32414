//! Traces of a node: which of its methods to ask, found out once.
//!
//! `trace_block` comes first where nothing is asked for: it alone tells of rewards and of what outermost frames got, and
//! it is what a dump that has both is read by, so both sources give the same rows. It takes a height, and its entries
//! name their block, which is compared. `callTracer` is asked by hash where the node can, so that no switch of branches
//! comes between; where it cannot, its entries name their transactions, which verification compares.

use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::client::{CallError, Failure, METHOD_NOT_FOUND, NodeClient};
use super::present;
use crate::decode::{self, BlockPeek};

/// Which traces to ask a node for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TraceChoice {
    /// Those it has; none if it has none.
    #[default]
    Auto,
    /// `debug_traceBlockByHash` or `debug_traceBlockByNumber` with `callTracer`.
    CallTracer,
    /// `trace_block`.
    TraceBlock,
    /// None.
    Off,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    TraceBlock,
    ByHash,
    ByNumber,
}

impl TraceChoice {
    /// What to try, best first.
    fn methods(self) -> &'static [Method] {
        match self {
            Self::Auto => &[Method::TraceBlock, Method::ByHash, Method::ByNumber],
            Self::CallTracer => &[Method::ByHash, Method::ByNumber],
            Self::TraceBlock => &[Method::TraceBlock],
            Self::Off => &[],
        }
    }
}

impl Method {
    fn call(self, block: &BlockPeek) -> (&'static str, Value) {
        let height = format!("{:#x}", block.number);
        let tracer = json!({"tracer": "callTracer"});
        match self {
            Self::TraceBlock => ("trace_block", json!([height])),
            Self::ByHash => ("debug_traceBlockByHash", json!([block.hash, tracer])),
            Self::ByNumber => ("debug_traceBlockByNumber", json!([height, tracer])),
        }
    }

    /// The part of a dump line that holds such answers.
    fn part(self) -> &'static str {
        match self {
            Self::TraceBlock => "parityTraces",
            Self::ByHash | Self::ByNumber => "traces",
        }
    }

    fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// Asks a node for traces, and remembers which methods it does not have.
#[derive(Debug)]
pub(super) struct TraceCalls {
    choice: TraceChoice,
    /// A bit for each [`Method`] that the node has said it does not have.
    lacking: AtomicU8,
}

/// What a node gave of a block's traces.
pub(super) enum Traced {
    /// The part of a dump line they are, and the answer.
    Part(&'static str, Box<RawValue>),
    /// It has none.
    Nothing,
    /// It has switched to another branch since it gave the block: those of another block, if any.
    OfAnotherBlock(Option<(&'static str, Box<RawValue>)>),
}

/// Why a method gave nothing.
enum Refusal {
    /// The node does not have it.
    NoSuchMethod(CallError),
    /// The node does not have what it needs for this block.
    NotOfThisBlock(CallError),
    /// The node does not have the block with this hash any more.
    Gone,
}

impl TraceCalls {
    pub fn new(choice: TraceChoice) -> Self {
        Self { choice, lacking: AtomicU8::new(0) }
    }

    /// The traces of a block.
    pub async fn of(&self, client: &NodeClient, block: &BlockPeek) -> Result<Traced, Failure> {
        let mut refusals = Vec::new();
        for method in self.choice.methods() {
            if self.lacking.load(Ordering::Relaxed) & method.bit() != 0 {
                continue;
            }
            match ask(*method, client, block).await? {
                Ok(traced) => return Ok(traced),
                Err(Refusal::Gone) => return Ok(Traced::OfAnotherBlock(None)),
                Err(Refusal::NoSuchMethod(error)) => {
                    if self.lacking.fetch_or(method.bit(), Ordering::Relaxed) & method.bit() == 0 {
                        tracing::info!(?method, told = error.message, "the node does not have this way of tracing");
                    }
                    refusals.push(error);
                }
                Err(Refusal::NotOfThisBlock(error)) => refusals.push(error),
            }
        }
        let told = refusals.last().map(|error| error.message.clone()).unwrap_or_default();
        match self.choice {
            TraceChoice::CallTracer | TraceChoice::TraceBlock => {
                Err(Failure::last(format!("it gives no traces of this block: {told}")))
            }
            TraceChoice::Auto if !refusals.is_empty() => {
                tracing::warn!(block = block.number, told, "the node gives no traces; they are recorded as missing");
                Ok(Traced::Nothing)
            }
            TraceChoice::Auto | TraceChoice::Off => Ok(Traced::Nothing),
        }
    }
}

async fn ask(method: Method, client: &NodeClient, block: &BlockPeek) -> Result<Result<Traced, Refusal>, Failure> {
    // Nodes refuse to trace the genesis; it has no calls, and nobody is rewarded for it.
    if block.number == 0 && block.transactions.is_empty() {
        let none = RawValue::from_string("[]".into()).expect("an empty array");
        return Ok(Ok(Traced::Part(method.part(), none)));
    }
    let answer = client.batch(&[method.call(block)]).await?.pop();
    let answer = match answer {
        Some(Err(error)) => match refusal(method, error) {
            Ok(refusal) => return Ok(Err(refusal)),
            Err(error) => Some(Err(error)),
        },
        answer => answer,
    };
    let answer = present(answer, "its traces are not there yet")?;
    let unreadable = |error| Failure::transient(trawl::chain(&error));
    let fits = method != Method::TraceBlock || decode::traces_fit(&answer, block.hash).map_err(unreadable)?;
    Ok(Ok(if fits {
        Traced::Part(method.part(), answer)
    } else {
        Traced::OfAnotherBlock(Some((method.part(), answer)))
    }))
}

/// Tells what will not change from what may pass.
fn refusal(method: Method, error: CallError) -> Result<Refusal, CallError> {
    /// EIP-1474: method not supported.
    const NOT_SUPPORTED: i64 = -32004;
    /// How nodes say that they no longer, or never, had the state that tracing starts from.
    const NO_STATE: [&str; 6] = [
        "historical state",
        "missing trie node",
        "state is not available",
        "trace is not available",
        "pruned",
        "tracer not supported",
    ];
    /// How gateways and nodes without the right module say what has a code of its own.
    const NO_METHOD: [&str; 4] =
        ["does not exist/is not available", "method not found", "method is not available", "not whitelisted"];
    let message = error.message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| message.contains(words));
    match error.code {
        METHOD_NOT_FOUND | NOT_SUPPORTED => Ok(Refusal::NoSuchMethod(error)),
        _ if says(&NO_METHOD) => Ok(Refusal::NoSuchMethod(error)),
        _ if says(&NO_STATE) => Ok(Refusal::NotOfThisBlock(error)),
        _ if method == Method::ByHash && says(&["not found", "unknown block"]) => Ok(Refusal::Gone),
        _ => Err(error),
    }
}
