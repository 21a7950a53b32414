//! Finds problems from the state of nodes, ClickHouse and readers at one moment.

use std::time::Duration;

use trawl_core::primitives::BlockNumber;
use trawl_core::store::StoreError;
use trawl_node::{FailureKind, NodeStatus, PendingCall};

use super::problem::{Problem, ProblemKind};
use crate::source::rpc::{MissingPart, MissingReason};

/// Intervals without an answer after which a failure is reported: one call may fail at any time.
const FAILING_INTERVALS: u32 = 2;
/// Intervals after which a node that answers nothing is reported.
const SILENT_INTERVALS: u32 = 3;
/// Intervals after which a waiting call shows that its node is slow, or refuses.
const WAITING_INTERVALS: u32 = 5;
/// Intervals without a new block after which readers that are behind the node are reported.
const STANDING_INTERVALS: u32 = 10;

/// The observed state.
pub(super) struct Evidence<'a> {
    pub nodes: &'a [NodeStatus],
    /// The call that has waited longest.
    pub oldest_call: Option<PendingCall>,
    /// Parts that no node had.
    pub missing: Vec<MissingPart>,
    /// Why ClickHouse did not answer, or refused a statement.
    pub refusal: Option<&'a StoreError>,
    /// Time since ClickHouse has answered.
    pub store_silence: Duration,
    /// The newest block of the nodes.
    pub node_block: Option<BlockNumber>,
    /// The newest block that readers see.
    pub head: Option<BlockNumber>,
    /// Time since readers first saw the newest block.
    pub head_age: Duration,
    /// Time between two inspections.
    pub interval: Duration,
}

/// All problems that the evidence shows.
pub(super) fn found(evidence: &Evidence<'_>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = evidence.nodes.iter().flat_map(|node| of_node(node, evidence.interval)).collect();
    problems.extend(evidence.refusal.map(|error| of_store(error, evidence.store_silence)));
    problems.extend(of_missing(&evidence.missing));
    if problems.is_empty() {
        problems.extend(of_waiting(evidence).or_else(|| of_standing(evidence)).or_else(|| of_lagging_nodes(evidence)));
    }
    problems
}

/// Whether readers see nothing new for what is wrong: one of several nodes that fails holds nothing up. `node_silence`
/// is the time since any node answered.
pub(super) fn is_held_up(evidence: &Evidence<'_>, node_silence: Duration) -> bool {
    let Evidence { refusal, node_block, head, interval, .. } = evidence;
    let is_silent = node_block.is_none() || node_silence >= *interval * SILENT_INTERVALS;
    let stands = of_standing(evidence).is_some() || of_lagging_nodes(evidence).is_some();
    refusal.is_some() || head.is_none() || is_silent || stands || is_blind(evidence)
}

/// Whether no node says its height and readers see nothing new: there may be newer blocks.
fn is_blind(evidence: &Evidence<'_>) -> bool {
    let Evidence { nodes, interval, head_age, .. } = evidence;
    let is_unseen = |node: &NodeStatus| node.unseen >= *interval * SILENT_INTERVALS;
    nodes.iter().all(is_unseen) && *head_age >= *interval * STANDING_INTERVALS
}

fn of_node(node: &NodeStatus, interval: Duration) -> Option<Problem> {
    let silence = node.silence;
    let problem = |kind, detail| Some(Problem { age: silence, ..Problem::new(kind, &node.name, detail) });
    if let Some(how) = &node.foreign {
        let detail = format!("node {} is of another chain: {how}", node.name);
        return Some(Problem::new(ProblemKind::NodeForeign, &node.name, detail));
    }
    match &node.failure {
        Some((kind, cause)) if silence >= interval * FAILING_INTERVALS => {
            let kind = of_failure(*kind)?;
            problem(kind, format!("node {} has not answered for {}: {cause}", node.name, seconds(silence)))
        }
        _ if silence >= interval * SILENT_INTERVALS => {
            problem(ProblemKind::NodeSilent, format!("node {} has not answered for {}", node.name, seconds(silence)))
        }
        _ if node.unseen >= interval * SILENT_INTERVALS && node.look_failure.is_some() => of_looks(node),
        _ => {
            let latency = node.latency.filter(|latency| *latency >= interval)?;
            let detail = format!("node {} takes {} to return its height", node.name, seconds(latency));
            Some(Problem::new(ProblemKind::NodeSlow, &node.name, detail))
        }
    }
}

/// The problem of a node that answers other calls than that for its height.
fn of_looks(node: &NodeStatus) -> Option<Problem> {
    let (kind, cause) = match node.look_failure.as_ref()? {
        (FailureKind::Timeout, cause) => (ProblemKind::NodeSlow, cause),
        (kind, cause) => (of_failure(*kind)?, cause),
    };
    let detail = format!("node {} has not returned its height for {}: {cause}", node.name, seconds(node.unseen));
    Some(Problem { age: node.unseen, ..Problem::new(kind, &node.name, detail) })
}

/// The problem of a failure without an answer since.
fn of_failure(kind: FailureKind) -> Option<ProblemKind> {
    match kind {
        FailureKind::Unreachable => Some(ProblemKind::NodeUnreachable),
        FailureKind::Timeout => Some(ProblemKind::NodeSilent),
        FailureKind::RateLimited => Some(ProblemKind::NodeRateLimited),
        FailureKind::OtherChain => Some(ProblemKind::NodeForeign),
        FailureKind::Stopped => None,
        _ => Some(ProblemKind::NodeFailing),
    }
}

fn of_store(error: &StoreError, silence: Duration) -> Problem {
    let (kind, age) = match error {
        error if error.is_full_disk() => (ProblemKind::DiskFull, Duration::ZERO),
        error if error.is_unreachable() => (ProblemKind::ClickhouseUnreachable, silence),
        _ => (ProblemKind::ClickhouseRefuses, Duration::ZERO),
    };
    Problem { age, ..Problem::new(kind, "", trawl_core::error_chain(error)) }
}

fn of_missing(missing: &[MissingPart]) -> impl Iterator<Item = Problem> {
    let pruned = missing.iter().filter(|missing| missing.reason == MissingReason::Pruned);
    pruned.map(|MissingPart { part, cause, .. }| {
        let detail =
            format!("no node has the {part} of the blocks that are fetched; they are recorded as missing: {cause}");
        Problem::new(ProblemKind::NodePruned, part, detail)
    })
}

/// A node that says its height and does not answer other calls.
fn of_waiting(evidence: &Evidence<'_>) -> Option<Problem> {
    let call = evidence.oldest_call.as_ref().filter(|call| call.age >= evidence.interval * WAITING_INTERVALS)?;
    let waited = format!("a call has waited for {}", seconds(call.age));
    let (kind, detail) = match &call.failure {
        None => (ProblemKind::NodeSlow, waited),
        Some((kind, cause)) => (of_failure(*kind)?, format!("{waited}: {cause}")),
    };
    Some(Problem { age: call.age, ..Problem::new(kind, "", detail) })
}

fn of_standing(evidence: &Evidence<'_>) -> Option<Problem> {
    let node = evidence.node_block.filter(|node| evidence.head.is_none_or(|head| *node > head))?;
    let is_long = evidence.head_age >= evidence.interval * STANDING_INTERVALS;
    let head = evidence.head.map_or_else(|| "no block".into(), |head| format!("block {head}"));
    let detail =
        format!("the node is at block {node}, and readers have seen {head} for {}", seconds(evidence.head_age));
    is_long.then(|| Problem { age: evidence.head_age, ..Problem::new(ProblemKind::StandingStill, "", detail) })
}

/// Nodes that went back, as after a restart from a snapshot. That one was asked before the newest block came is usual.
fn of_lagging_nodes(evidence: &Evidence<'_>) -> Option<Problem> {
    let head = evidence.head?;
    let node = evidence.node_block.filter(|node| *node < head)?;
    let is_long = evidence.head_age >= evidence.interval * STANDING_INTERVALS;
    let age = seconds(evidence.head_age);
    let detail = format!("the node is at block {node}, and readers have seen block {head} for {age}");
    is_long.then(|| Problem { age: evidence.head_age, ..Problem::new(ProblemKind::NodeBehind, "", detail) })
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(2);

    fn node() -> NodeStatus {
        NodeStatus {
            name: "http://node".into(),
            silence: Duration::from_secs(1),
            latency: Some(Duration::from_millis(3)),
            height: Some((9, Duration::ZERO)),
            failure: None,
            unseen: Duration::from_secs(1),
            look_failure: None,
            foreign: None,
        }
    }

    fn evidence(nodes: &[NodeStatus]) -> Evidence<'_> {
        Evidence {
            nodes,
            oldest_call: None,
            missing: Vec::new(),
            refusal: None,
            store_silence: Duration::ZERO,
            node_block: Some(9),
            head: Some(9),
            head_age: Duration::from_secs(1),
            interval: INTERVAL,
        }
    }

    fn names(node: NodeStatus, change: impl FnOnce(&mut Evidence<'_>)) -> Vec<&'static str> {
        let nodes = [node];
        let mut evidence = evidence(&nodes);
        change(&mut evidence);
        found(&evidence).iter().map(|problem| problem.kind.name()).collect()
    }

    #[test]
    fn nodes_are_named_by_what_they_do() {
        let silent = |seconds| NodeStatus { silence: Duration::from_secs(seconds), ..node() };
        let failing = |kind| NodeStatus { failure: Some((kind, "why".into())), ..silent(5) };
        let unseen = Duration::from_secs(7);
        let without_height = |kind| NodeStatus { unseen, look_failure: Some((kind, "why".into())), ..node() };
        for (node, expected) in [
            (node(), None),
            (silent(5), None),
            (silent(7), Some("node_silent")),
            (failing(FailureKind::Unreachable), Some("node_unreachable")),
            (failing(FailureKind::RateLimited), Some("node_rate_limited")),
            (failing(FailureKind::Malformed), Some("node_failing")),
            (NodeStatus { latency: Some(INTERVAL), ..node() }, Some("node_slow")),
            (without_height(FailureKind::NotReady), Some("node_failing")),
            (without_height(FailureKind::RateLimited), Some("node_rate_limited")),
            (without_height(FailureKind::Timeout), Some("node_slow")),
            (NodeStatus { foreign: Some("another id".into()), ..node() }, Some("node_foreign")),
        ] {
            assert_eq!(names(node.clone(), |_| ()), Vec::from_iter(expected), "{node:?}");
        }
    }

    /// As far as its last height says, a node that answers every call with an error has no newer block.
    #[test]
    fn readers_are_held_up_while_no_height_is_known() {
        let held_up = |unseen: u64, head_age: u64| {
            let nodes = [NodeStatus { unseen: Duration::from_secs(unseen), ..node() }];
            is_held_up(&Evidence { head_age: Duration::from_secs(head_age), ..evidence(&nodes) }, Duration::ZERO)
        };
        assert!(held_up(30, 30));
        assert!(!held_up(1, 30), "an idle chain");
        assert!(!held_up(30, 1), "blocks come all the same");
    }

    #[test]
    fn what_does_not_move_is_named_whatever_holds_it_up() {
        let waiting = |failure| Some(PendingCall { age: Duration::from_secs(10), failure });
        assert_eq!(names(node(), |evidence| evidence.oldest_call = waiting(None)), ["node_slow"]);
        let limited = Some((FailureKind::RateLimited, "limit".into()));
        assert_eq!(names(node(), |evidence| evidence.oldest_call = waiting(limited)), ["node_rate_limited"]);
        let standing = |evidence: &mut Evidence<'_>| (evidence.head, evidence.head_age) = (Some(8), INTERVAL * 10);
        assert_eq!(names(node(), standing), ["standing_still"]);
        let lagging = |intervals: u32| {
            let lag = move |evidence: &mut Evidence<'_>| {
                (evidence.head, evidence.head_age) = (Some(10), INTERVAL * intervals);
            };
            names(node(), lag)
        };
        assert_eq!(lagging(10), ["node_behind"]);
        assert!(lagging(9).is_empty(), "the node was asked before that block came");
        let full = StoreError::Refused { code: 243, message: "NOT_ENOUGH_SPACE".into() };
        let missing = MissingPart { part: "state", reason: MissingReason::Pruned, cause: "gone".into() };
        let nodes = [node()];
        let evidence = Evidence {
            missing: vec![missing],
            refusal: Some(&full),
            node_block: None,
            head: None,
            head_age: Duration::ZERO,
            ..evidence(&nodes)
        };
        let names: Vec<&str> = found(&evidence).iter().map(|problem| problem.kind.name()).collect();
        assert_eq!(names, ["disk_full", "node_pruned"]);
    }
}
