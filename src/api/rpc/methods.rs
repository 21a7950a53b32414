//! Which methods there are and what answers each: every group of methods has a module with its names.

use serde_json::value::RawValue;

use super::envelope::Call;
use super::logs::LogsAnswer;
use super::traces::TracesAnswer;
use super::{Broken, Sink};
use super::{blocks, bodies, calls, facts, feed, fees, logs, relay, send, state, traces, transactions};
use crate::api::{App, Problem};
use trawl_json::JsonWriter;

/// What a call is answered with.
pub(super) enum Answer {
    /// JSON text.
    Whole(Vec<u8>),
    /// Logs, written as they arrive.
    Logs(Box<LogsAnswer>),
    /// Traces, likewise.
    Traces(Box<TracesAnswer>),
}

impl Answer {
    /// Writes the result, handing over full chunks on the way.
    pub async fn write<S: Sink>(self, writer: &mut JsonWriter, sink: &S) -> Result<(), Broken> {
        match self {
            Self::Whole(json) => writer.raw(json),
            Self::Logs(logs) => logs.write(writer, sink).await?,
            Self::Traces(traces) => traces.write(writer, sink).await?,
        }
        sink.flush_if_full(writer).await
    }
}

impl Answer {
    /// A result that `write` writes.
    pub fn of(write: impl FnOnce(&mut JsonWriter)) -> Self {
        let mut writer = JsonWriter::new();
        write(&mut writer);
        Self::Whole(writer.into_bytes())
    }

    /// `null`: the thing is not there.
    pub fn null() -> Self {
        Self::of(JsonWriter::null)
    }
}

/// The methods, group by group.
const GROUPS: &[&[&str]] = &[
    facts::METHODS,
    fees::METHODS,
    blocks::METHODS,
    bodies::METHODS,
    transactions::METHODS,
    logs::METHODS,
    traces::METHODS,
    state::METHODS,
    calls::METHODS,
    send::METHODS,
    feed::METHODS,
];

/// The name of a method of the specification, for metrics; anything else a client may send is not kept.
pub(super) fn known_name(method: &str) -> Option<&'static str> {
    GROUPS.iter().copied().flatten().find(|name| **name == method).copied()
}

/// The names of all methods.
pub(in crate::api) fn names() -> impl Iterator<Item = &'static str> {
    GROUPS.iter().copied().flatten().copied()
}

/// Answers a call: from the tables, or, for what they do not have, from an upstream node.
pub(super) async fn call(app: &App, call: &Call<'_>) -> Result<Answer, Problem> {
    match answer(app, &call.method, &call.params).await {
        Err(problem) if relay::is_lack(&problem) && relay::is_understood(&call.method, &call.params) => {
            relay::forward(app, &call.method, &call.params, problem).await
        }
        outcome => outcome,
    }
}

async fn answer(app: &App, method: &str, params: &[&RawValue]) -> Result<Answer, Problem> {
    let is_of = |group: &[&str]| group.contains(&method);
    if is_of(facts::METHODS) {
        facts::answer(app, method, params)
    } else if is_of(fees::METHODS) {
        fees::answer(app, method, params).await
    } else if is_of(blocks::METHODS) {
        blocks::answer(app, method, params).await
    } else if is_of(bodies::METHODS) {
        bodies::answer(app, method, params).await
    } else if is_of(transactions::METHODS) {
        transactions::answer(app, method, params).await
    } else if is_of(send::METHODS) {
        send::answer(app, method, params).await
    } else if is_of(feed::METHODS) {
        Err(Problem::NeedsSocket)
    } else if is_of(logs::METHODS) {
        let [filter] = exactly(params)?;
        logs::get_logs(app, filter).await
    } else if is_of(traces::METHODS) {
        traces::answer(app, params).await
    } else if is_of(state::METHODS) {
        state::answer(app, method, params).await
    } else if is_of(calls::METHODS) {
        calls::answer(app, method, params).await
    } else {
        Err(Problem::MethodNotFound)
    }
}

/// The parameters of a method that takes up to `N`, the last of which may be left out.
pub(super) fn with_optional<'a, const N: usize>(params: &[&'a RawValue]) -> Result<[Option<&'a RawValue>; N], Problem> {
    if params.len() > N || params.len() + 1 < N {
        return Err(wrong_count());
    }
    let mut all = [None; N];
    all.iter_mut().zip(params).for_each(|(place, param)| *place = Some(*param));
    Ok(all)
}

/// A parameter that [`with_optional`] let pass for the last one.
pub(super) fn required(param: Option<&RawValue>) -> Result<&RawValue, Problem> {
    param.ok_or_else(wrong_count)
}

pub(super) fn wrong_count() -> Problem {
    Problem::InvalidParams("Incorrect number of params".into())
}

/// The parameters of a method that takes exactly `N`.
pub(super) fn exactly<'a, const N: usize>(params: &[&'a RawValue]) -> Result<[&'a RawValue; N], Problem> {
    params.try_into().map_err(|_| wrong_count())
}
