//! The table of methods: the handler of each name.

use futures_util::future::BoxFuture;

use super::answer::Answer;
use super::context::{Context, TakenHead};
use super::envelope::Call;
use super::{block_parts, blocks, calls, client_info, fees, forward, logs, send, state, traces, transactions};
use crate::app::App;
use crate::error::Problem;
use crate::options::Gaps;

/// The function that answers a method.
type Handler = for<'c> fn(Context<'c>) -> BoxFuture<'c, Result<Answer, Problem>>;

/// A method that is served.
struct Method {
    name: &'static str,
    handler: Handler,
}

/// Pairs names with `async` functions of a [`Context`].
macro_rules! methods {
    ($($name:literal => $handler:path,)*) => {
        &[$(Method { name: $name, handler: |call| Box::pin($handler(call)) },)*]
    };
}

/// All methods.
const METHODS: &[Method] = methods! {
    "eth_blockNumber" => client_info::block_number,
    "eth_chainId" => client_info::chain_id,
    "eth_syncing" => client_info::syncing,
    "eth_accounts" => client_info::accounts,
    "net_version" => client_info::network_version,
    "net_listening" => client_info::is_listening,
    "web3_clientVersion" => client_info::client_version,
    "web3_sha3" => client_info::sha3,
    "rpc_modules" => client_info::modules,
    "eth_gasPrice" => fees::gas_price,
    "eth_maxPriorityFeePerGas" => fees::priority_fee,
    "eth_feeHistory" => fees::history,
    "eth_blobBaseFee" => fees::blob_base_fee,
    "eth_getBlockByNumber" => blocks::by_number,
    "eth_getBlockByHash" => blocks::by_hash,
    "eth_getBlockReceipts" => block_parts::receipts,
    "eth_getBlockTransactionCountByNumber" => block_parts::transactions_count_by_number,
    "eth_getBlockTransactionCountByHash" => block_parts::transactions_count_by_hash,
    "eth_getTransactionByBlockNumberAndIndex" => block_parts::transaction_by_number,
    "eth_getTransactionByBlockHashAndIndex" => block_parts::transaction_by_hash,
    "eth_getUncleCountByBlockNumber" => block_parts::uncles_count_by_number,
    "eth_getUncleCountByBlockHash" => block_parts::uncles_count_by_hash,
    "eth_getUncleByBlockNumberAndIndex" => block_parts::uncle_by_number,
    "eth_getUncleByBlockHashAndIndex" => block_parts::uncle_by_hash,
    "eth_getTransactionByHash" => transactions::by_hash,
    "eth_getTransactionReceipt" => transactions::receipt,
    "eth_getLogs" => logs::get_logs,
    "trace_filter" => traces::filter,
    "eth_getBalance" => state::balance,
    "eth_getTransactionCount" => state::nonce,
    "eth_getCode" => state::code,
    "eth_getStorageAt" => state::storage,
    "eth_call" => calls::call,
    "eth_estimateGas" => calls::estimate_gas,
    "eth_createAccessList" => calls::create_access_list,
    "eth_sendRawTransaction" => send::raw_transaction,
    "eth_subscribe" => needs_socket,
    "eth_unsubscribe" => needs_socket,
};

/// Refuses subscriptions over HTTP; over a WebSocket its session answers these methods.
async fn needs_socket(_: Context<'_>) -> Result<Answer, Problem> {
    Err(Problem::NeedsSocket)
}

/// The name of a served method, for metrics; `None` for other names, which must not become labels.
pub(super) fn known_name(method: &str) -> Option<&'static str> {
    METHODS.iter().find(|known| known.name == method).map(|known| known.name)
}

/// The names of all methods, which the description of the API lists.
#[cfg(test)]
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|method| method.name)
}

/// Answers a call: from the tables or, if they lack data, from an upstream node.
///
/// # Errors
///
/// The problem that becomes the error of the answer.
pub(super) async fn call(app: &App, head: &TakenHead, call: &Call<'_>) -> Result<Answer, Problem> {
    let method = METHODS.iter().find(|method| method.name == call.method).ok_or(Problem::MethodNotFound)?;
    let context = Context::new(app, head, method.name, &call.params);
    let outcome = (method.handler)(context).await.and_then(|answer| certain(context, answer));
    match outcome {
        Err(problem) if forward::is_missing_data(&problem) && forward::is_understood(context) => {
            forward::forward(context, problem).await
        }
        outcome => outcome,
    }
}

/// Refuses `null` while rows of some blocks are lost: what was asked for may be in one of them.
///
/// # Errors
///
/// [`Problem::BlocksMissing`] with those blocks.
fn certain(context: Context<'_>, answer: Answer) -> Result<Answer, Problem> {
    if answer.is_null() && context.app.options().gaps == Gaps::Refuse {
        let lost = context.head()?.damage.shown();
        if !lost.is_empty() {
            return Err(Problem::BlocksMissing(lost.ranges().to_vec()));
        }
    }
    Ok(answer)
}

/// Counts a call by its method and its outcome.
pub(super) fn count(method: &str, is_ok: bool) {
    let name = known_name(method).unwrap_or("other");
    let verdict = if is_ok { "ok" } else { "error" };
    metrics::counter!("trawl_rpc_requests_total", "method" => name, "outcome" => verdict).increment(1);
}
