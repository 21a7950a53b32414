//! Traces of a node: which of its methods to call, found out once for each node.
//!
//! `trace_block` comes first where none is chosen: it alone has rewards and the gas that outermost frames got, and it
//! is what a dump that has both is read by, so both sources give the same rows. It takes a height, and its entries name
//! their block, which is compared. `callTracer` is called by hash where the node can, so that no switch of branches
//! comes between; where it cannot, its entries name their transactions, which verification compares.

use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::answer::present;
use super::horizon::Horizon;
use crate::decode::{self, BlockPeek, Part};
use trawl_node::{CallError, ErrorKind, Failure, NodeClient};

/// Which traces to request from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TraceChoice {
    /// Those it has; none if it has none.
    #[default]
    Auto,
    /// `debug_traceBlockByHash` or `debug_traceBlockByNumber` with `callTracer`.
    CallTracer,
    /// `trace_block` of the Parity-style API.
    TraceBlock,
    /// No traces are requested.
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
    fn part(self) -> Part {
        match self {
            Self::TraceBlock => Part::ParityTraces,
            Self::ByHash | Self::ByNumber => Part::Traces,
        }
    }

    /// What a node is remembered by that does not have it.
    fn way(self) -> &'static str {
        match self {
            Self::TraceBlock => "trace_block",
            Self::ByHash => "callTracer by hash",
            Self::ByNumber => "callTracer by height",
        }
    }
}

/// Requests traces from nodes.
#[derive(Debug)]
pub(super) struct TraceCalls {
    choice: TraceChoice,
    /// From where on nodes have them.
    pub horizon: Horizon,
}

/// What a node gave of a block's traces.
pub(super) enum TraceOutcome {
    /// The part of a dump line they are, and the answer.
    Part(Part, Box<RawValue>),
    /// The same, and they are those of another block: the node has switched to another branch.
    OfAnotherBlock(Part, Box<RawValue>),
    /// The node does not know the block with this hash, which it gave.
    UnknownBlock(String),
    /// None was requested.
    Nothing,
}

/// What a method answered.
enum MethodOutcome {
    Traced(TraceOutcome),
    /// The node does not have it.
    NoSuchMethod(String),
    /// The node does not have what it needs for this block, or does not give that much.
    NotOfThisBlock(Failure),
}

impl TraceCalls {
    pub fn new(choice: TraceChoice) -> Self {
        Self { choice, horizon: Horizon::new("traces") }
    }

    /// What a node is remembered by that has no way of tracing.
    pub fn ways(&self) -> Vec<&'static str> {
        self.choice.methods().iter().map(|method| method.way()).collect()
    }

    /// The traces of a block, of the current node.
    pub async fn of(&self, client: &NodeClient, block: &BlockPeek) -> Result<TraceOutcome, Failure> {
        let mut refusal = None;
        for method in self.choice.methods() {
            let way = method.way();
            if let Some(reason) = client.missing(way) {
                refusal = refusal.or(Some(Failure::unsupported(reason)));
                continue;
            }
            match request(*method, client, block).await? {
                MethodOutcome::Traced(traced) => return Ok(traced),
                MethodOutcome::NoSuchMethod(reason) => {
                    client.mark_missing(way, &reason);
                    refusal = refusal.or(Some(Failure::unsupported(reason)));
                }
                // That a method works for other blocks says more than that another is not there.
                MethodOutcome::NotOfThisBlock(failure) => refusal = Some(failure),
            }
        }
        refusal.map_or(Ok(TraceOutcome::Nothing), |failure| Err(failure.about("it returns no traces of this block")))
    }

    /// Whether a block may go on without its traces after the last `failure`. An outage or an overload of the node is
    /// no reason.
    pub fn can_do_without(&self, failure: &Failure) -> bool {
        self.choice == TraceChoice::Auto && failure.is_about_the_call()
    }
}

async fn request(method: Method, client: &NodeClient, block: &BlockPeek) -> Result<MethodOutcome, Failure> {
    // Nodes refuse to trace the genesis; it has no calls and no reward.
    if block.number == 0 && block.transactions.is_empty() {
        let none = RawValue::from_string("[]".into()).expect("an empty array");
        return Ok(MethodOutcome::Traced(TraceOutcome::Part(method.part(), none)));
    }
    let answer = match client.batch_of_a_part(&[method.call(block)]).await {
        Ok(mut answers) => answers.pop(),
        // Gateways refuse a method before any node hears of it.
        Err(failure) if failure.is_permanent() && failure.is_about_the_call() => {
            return Ok(MethodOutcome::NotOfThisBlock(failure));
        }
        Err(failure) => return Err(failure),
    };
    let answer = match answer {
        Some(Err(error)) => return refusal(error),
        answer => present(answer, "its traces are not there yet")?,
    };
    let fit = match method {
        Method::TraceBlock => decode::traces_fit(&answer, block),
        Method::ByHash | Method::ByNumber => decode::call_traces_fit(&answer, block),
    };
    // A node that gave up on one transaction puts an error in its place.
    Ok(MethodOutcome::Traced(match fit.map_err(|error| Failure::not_ready(trawl_core::error_chain(&error)))? {
        true => TraceOutcome::Part(method.part(), answer),
        false => TraceOutcome::OfAnotherBlock(method.part(), answer),
    }))
}

/// Separates lasting refusals from transient errors.
fn refusal(error: CallError) -> Result<MethodOutcome, Failure> {
    Ok(match error.kind() {
        ErrorKind::NoMethod => MethodOutcome::NoSuchMethod(error.message),
        ErrorKind::UnknownBlock => MethodOutcome::Traced(TraceOutcome::UnknownBlock(error.message)),
        ErrorKind::WrongCall => MethodOutcome::NotOfThisBlock(Failure::unsupported(error.message)),
        ErrorKind::Pruned | ErrorKind::TooLarge => MethodOutcome::NotOfThisBlock(error.into()),
        ErrorKind::RateLimited | ErrorKind::Inconsistent | ErrorKind::Other => return Err(error.into()),
    })
}
