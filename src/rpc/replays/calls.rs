//! Calls that are traced: `debug_traceCall`, `trace_call`, `trace_callMany`, `trace_rawTransaction`.

use serde_json::Value;

use super::tracers::{GethOptions, parity_tracer};
use crate::error::Problem;
use crate::http::values::{invalid, member};
use crate::rpc::calls::{CallRequest, params};
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::{Context, required, wrong_count};
use crate::rpc::protocol::params::{data, value};
use crate::rpc::protocol::trace_option::TraceOption;
use trawl_evm::replay::{Tracer, trace_calls};
use trawl_evm::{Call, CallContext};

/// Most calls of a request.
const MAX_CALLS: usize = 100;

/// The trace of a call in the form of geth.
pub(in crate::rpc) async fn as_geth(call: Context<'_>) -> Result<Answer, Problem> {
    let [params, block, options] = given(call)?;
    let overrides = |name| options.as_ref().and_then(Value::as_object).and_then(|options| member(options, name));
    if overrides("txIndex").is_some() {
        return Err(invalid("the option `txIndex` is not supported: a call runs after its block"));
    }
    let mut request = CallRequest::new(params.as_ref(), block.as_ref())?;
    if let Some(accounts) = overrides("stateOverrides") {
        request.accounts = params::accounts(accounts)?;
    }
    if let Some(block) = overrides("blockOverrides") {
        request.overrides = params::block(block)?;
    }
    one(call, request, GethOptions::of(options)?.tracer()?).await
}

/// The trace of a call in the form of Parity.
pub(in crate::rpc) async fn as_parity(call: Context<'_>) -> Result<Answer, Problem> {
    let [params, kinds, block] = given(call.without_options(3, &[TraceOption::TraceConfig])?)?;
    let tracer = parity_tracer(kinds.ok_or_else(wrong_count)?)?;
    one(call, CallRequest::new(params.as_ref(), block.as_ref())?, tracer).await
}

/// The trace in the form of Parity of a signed transaction, which is not sent. It runs as a call: its nonce is not
/// checked.
pub(in crate::rpc) async fn signed(call: Context<'_>) -> Result<Answer, Problem> {
    let [raw, kinds, block] = given(call)?;
    let tracer = parity_tracer(kinds.ok_or_else(wrong_count)?)?;
    let bytes = data(&raw.ok_or_else(wrong_count)?)?;
    one(call, CallRequest::of_signed(&bytes, block.as_ref())?, tracer).await
}

/// The traces of calls in the form of Parity, each run on what those before it changed.
pub(in crate::rpc) async fn many(call: Context<'_>) -> Result<Answer, Problem> {
    let call = call.without_options(2, &[TraceOption::TraceConfig])?;
    let [list, block] = call.with_optional()?;
    let (list, block) = (value(required(list)?), block.map(value));
    let wrong = || invalid("Invalid calls: a list of [call, trace types] is expected");
    let list = list.as_array().ok_or_else(wrong)?;
    if list.len() > MAX_CALLS {
        return Err(invalid(&format!("too many calls: at most {MAX_CALLS} are traced at once")));
    }
    let (mut first, mut calls) = (None, Vec::new());
    for entry in list {
        let [params, kinds] = entry.as_array().map(Vec::as_slice).ok_or_else(wrong)? else { return Err(wrong()) };
        let request = CallRequest::new(Some(params), block.as_ref())?;
        request.require_chain(call.app, call.head()?)?;
        calls.push((request.call.clone(), parity_tracer(kinds.clone())?));
        first.get_or_insert(request);
    }
    let Some(request) = first else { return Ok(Answer::of(|writer| writer.raw("[]"))) };
    let traces = traces(call, request, calls).await?;
    Ok(Answer::Whole([&b"["[..], &traces.join(&b","[..]), b"]"].concat()))
}

/// The parameters of a call, absent ones at the end.
fn given<const N: usize>(call: Context<'_>) -> Result<[Option<Value>; N], Problem> {
    if call.params.is_empty() || call.params.len() > N {
        return Err(wrong_count());
    }
    let mut given = [const { None }; N];
    given.iter_mut().zip(call.params).for_each(|(slot, param)| *slot = Some(value(param)));
    Ok(given)
}

/// The trace of one call.
async fn one(call: Context<'_>, request: CallRequest, tracer: Tracer) -> Result<Answer, Problem> {
    let calls = vec![(request.call.clone(), tracer)];
    let mut traces = traces(call, request, calls).await?;
    Ok(Answer::Whole(traces.pop().ok_or(Problem::Internal)?))
}

async fn traces(call: Context<'_>, request: CallRequest, calls: Vec<(Call, Tracer)>) -> Result<Vec<Vec<u8>>, Problem> {
    let run = move |_: &Call, context: CallContext<'_>| trace_calls(&calls, context);
    request.run(call.app, call.head()?, run).await
}
