//! What is counted of calls to nodes.

use std::time::Duration;

use serde_json::Value;

use crate::error::call::Answer;
use crate::error::failure::{Failure, FailureKind};

/// The method of relayed calls: clients can name any, and labels are never freed.
const RELAYED: &str = "relayed";

/// Counts the calls of a request, which took so long.
pub fn count_request(calls: &[(&'static str, Value)], answers: &Result<Vec<Answer>, Failure>, took: Duration) {
    record(took, answers.is_ok());
    for (at, (method, _)) in calls.iter().enumerate() {
        count(
            method,
            match answers.as_ref().ok().and_then(|answers| answers.get(at)) {
                Some(Ok(_)) => "ok",
                Some(Err(_)) => "error",
                None => "failed",
            },
        );
    }
}

/// Counts a relayed call, which took so long.
pub fn count_relayed<T, E>(answer: &Result<Result<T, E>, Failure>, took: Duration) {
    record(took, answer.is_ok());
    count(
        RELAYED,
        match answer {
            Ok(Ok(_)) => "ok",
            Ok(Err(_)) => "error",
            Err(_) => "failed",
        },
    );
}

/// Counts an attempt that failed.
pub fn count_failure(failure: &Failure) {
    metrics::counter!("trawl_node_retries_total", "cause" => cause(failure.kind())).increment(1);
}

fn record(took: Duration, is_answered: bool) {
    let outcome = if is_answered { "ok" } else { "failed" };
    metrics::histogram!("trawl_node_request_duration_seconds", "outcome" => outcome).record(took);
}

fn count(method: &'static str, outcome: &'static str) {
    metrics::counter!("trawl_node_calls_total", "method" => method, "outcome" => outcome).increment(1);
}

fn cause(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::Unreachable => "unreachable",
        FailureKind::Malformed => "malformed",
        FailureKind::RateLimited => "rate_limited",
        FailureKind::Timeout => "timeout",
        FailureKind::TooLarge => "too_large",
        FailureKind::NotReady => "not_ready",
        FailureKind::UnknownBlock => "unknown_block",
        FailureKind::Pruned => "pruned",
        FailureKind::Unsupported => "unsupported",
        FailureKind::Permanent => "permanent",
        FailureKind::Denied => "denied",
        FailureKind::OtherChain => "other_chain",
        FailureKind::Stopped => "stopped",
    }
}
