//! `debug_traceTransaction` and `trace_replayTransaction`: a transaction runs again on the state before its block, after
//! those before it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::timeout_at;

use super::answer::Answer;
use super::calls::rules;
use super::context::{Context, required};
use super::params::value;
use super::recorded::replay_of;
use crate::app::App;
use crate::error::Problem;
use crate::read::state::State;
use crate::values::{bytes32, invalid};
use trawl_core::primitives::BlockNumber;
use trawl_core::store::Head;
use trawl_evm::replay::{Replay, TraceType, Tracer, replay};
use trawl_evm::{Call, Failure, Key, StateValue, Step};

/// The second parameter of `debug_traceTransaction`; what else geth knows does not change a trace of these tracers.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Options {
    tracer: Option<String>,
    tracer_config: Value,
}

/// A trace as geth's `callTracer` or `prestateTracer` tell it.
pub(super) async fn trace_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash, options] = call.with_optional()?;
    let options = options.map(value).filter(|options| !options.is_null());
    let options: Options = read(options.unwrap_or_else(|| Value::Object(Default::default())), "options")?;
    let config =
        if options.tracer_config.is_null() { Value::Object(Default::default()) } else { options.tracer_config };
    let tracer = match options.tracer.as_deref() {
        Some("callTracer") => Tracer::Calls(read(config, "tracerConfig")?),
        Some("prestateTracer") => Tracer::State(read(config, "tracerConfig")?),
        _ => return Err(invalid("Invalid tracer: callTracer and prestateTracer are served")),
    };
    let answer = trace(call, required(hash)?, tracer).await?;
    answer.ok_or_else(|| Problem::Call(Failure::Invalid("transaction not found".into())))
}

/// A trace as Parity tells it: of the kinds `trace`, `stateDiff` and `vmTrace`; `null` if the transaction is not readable.
pub(super) async fn replay_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [hash, kinds] = call.exactly()?;
    let kinds: Vec<TraceType> = read(value(kinds), "trace types")?;
    let tracer = Tracer::Parity(kinds.into_iter().collect());
    Ok(trace(call, hash, tracer).await?.unwrap_or_else(Answer::null))
}

fn read<T: DeserializeOwned>(value: Value, what: &str) -> Result<T, Problem> {
    serde_json::from_value(value).map_err(|error| invalid(&format!("Invalid {what}: {error}")))
}

/// The trace of a transaction; `None` if it is not readable.
async fn trace(call: Context<'_>, hash: &RawValue, tracer: Tracer) -> Result<Option<Answer>, Problem> {
    let hash = bytes32(&value(hash)).ok_or_else(|| invalid("Transaction hash is invalid"))?;
    let (app, head) = (call.app, call.head()?);
    let Some((batch, row)) = app.transaction(&hash, head).await? else { return Ok(None) };
    let place = (batch.view().block_number[row], batch.view().transaction_index[row]);
    run_again(app, head, place, tracer).await.map(|text| Some(Answer::Whole(text)))
}

/// What is told of the transaction at a place when it runs again, as JSON.
///
/// # Errors
///
/// When the state before its block or the rules of the chain are not known, when the run fails or takes too long; or when the
/// store fails.
pub(crate) async fn run_again(
    app: &App,
    head: &Arc<Head>,
    (number, index): (BlockNumber, u32),
    tracer: Tracer,
) -> Result<Vec<u8>, Problem> {
    let parent = number.checked_sub(1).ok_or(Problem::BlockNotFound)?;
    let before = State::after(app, parent, head).await?;
    let deadline = Instant::now() + app.options().call_timeout;
    let until = tokio::time::Instant::from_std(deadline);
    let too_long = |_| Problem::CallTooLong;
    let of_block = async {
        let (replay, block) = replay_of(app, head, (number, index)).await?;
        let mut partial = before.partial(BTreeMap::new());
        before.fetch(&first_keys(&replay, number, block.miner), &mut partial).await?;
        Ok::<_, Problem>((replay, partial))
    };
    let (recorded, mut partial) = timeout_at(until, of_block).await.map_err(too_long)??;
    let Some(StateValue::Block(context)) = partial.value(&Key::Block(number)) else { return Err(Problem::Internal) };
    let rules = rules(app, head, &context)?;
    let work = Arc::new((recorded, context, rules, tracer));
    loop {
        let (step, used) = app
            .compute({
                let work = Arc::clone(&work);
                move || {
                    let (recorded, context, rules, tracer) = &*work;
                    (replay(recorded, context, rules, &partial, (tracer, deadline)), partial)
                }
            })
            .await?;
        partial = used;
        match step {
            Step::Done(result) => return result.map_err(Problem::from),
            Step::Missing(keys) => timeout_at(until, before.fetch(&keys, &mut partial)).await.map_err(too_long)??,
        }
    }
}

/// Keys that every run needs; reading them first saves runs.
fn first_keys(replay: &Replay, number: BlockNumber, miner: trawl_core::primitives::Address) -> Vec<Key> {
    let of_call = |call: &Call| {
        let listed = call.access_list.iter().flat_map(|list| &list.0).flat_map(|item| {
            let slots = item.storage_keys.iter().map(|slot| Key::Slot(item.address, *slot));
            [Key::Account(item.address)].into_iter().chain(slots)
        });
        let accounts = [Some(call.from), call.to].into_iter().flatten().map(Key::Account);
        accounts.chain(listed).collect::<Vec<_>>()
    };
    let calls = replay.before.iter().chain([&replay.traced]);
    let mut keys: Vec<Key> = calls.flat_map(|recorded| of_call(&recorded.call)).collect();
    keys.extend([Key::Block(number), Key::Account(miner)]);
    keys.sort_unstable();
    keys.dedup();
    keys
}
