//! The table of methods: the handler of each name.

use futures_util::future::BoxFuture;

use super::blocks::{encodings, parts};
use super::node::{capabilities, client_info, fork_config, forward, pool, send};
use super::protocol::answer::Answer;
use super::protocol::context::{Context, RequestContext};
use super::protocol::endpoint::Endpoint;
use super::protocol::envelope::Call;
use super::state::{proofs, storage_range, storage_values};
use super::traces::of_transactions;
use super::{blocks, calls, fees, filters, logs, otterscan, replays, simulation, state, traces, transactions};
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

/// The methods of both endpoints.
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
    "eth_baseFee" => fees::base_fee,
    "eth_config" => fork_config::config,
    "eth_capabilities" => capabilities::capabilities,
    "eth_getBlockByNumber" => blocks::by_number,
    "eth_getBlockByHash" => blocks::by_hash,
    "eth_getHeaderByNumber" => parts::header_by_number,
    "eth_getHeaderByHash" => parts::header_by_hash,
    "eth_getBlockReceipts" => parts::receipts,
    "eth_getBlockTransactionCountByNumber" => parts::transactions_count_by_number,
    "eth_getBlockTransactionCountByHash" => parts::transactions_count_by_hash,
    "eth_getTransactionByBlockNumberAndIndex" => parts::transaction_by_number,
    "eth_getTransactionByBlockHashAndIndex" => parts::transaction_by_hash,
    "eth_getUncleCountByBlockNumber" => parts::uncles_count_by_number,
    "eth_getUncleCountByBlockHash" => parts::uncles_count_by_hash,
    "eth_getUncleByBlockNumberAndIndex" => parts::uncle_by_number,
    "eth_getUncleByBlockHashAndIndex" => parts::uncle_by_hash,
    "eth_getRawTransactionByBlockNumberAndIndex" => parts::raw_transaction_by_number,
    "eth_getRawTransactionByBlockHashAndIndex" => parts::raw_transaction_by_hash,
    "eth_getRawTransactionByHash" => encodings::transaction,
    "eth_getTransactionByHash" => transactions::by_hash,
    "eth_getTransactionBySenderAndNonce" => transactions::by_sender_and_nonce,
    "eth_getTransactionReceipt" => transactions::receipt,
    "alchemy_getTransactionReceipts" => parts::receipts_in_envelope,
    "eth_getLogs" => logs::get_logs,
    "trace_filter" => traces::filter,
    "eth_getBalance" => state::balance,
    "eth_getTransactionCount" => state::nonce,
    "eth_getCode" => state::code,
    "eth_getStorageAt" => state::storage,
    "eth_getStorageValues" => storage_values::storage_values,
    "eth_getAccountInfo" => state::account_info,
    "eth_getProof" => proofs::state,
    "eth_call" => calls::call,
    "eth_estimateGas" => calls::estimate_gas,
    "eth_createAccessList" => calls::create_access_list,
    "eth_fillTransaction" => calls::fill_transaction,
    "eth_simulateV1" => simulation::simulate,
    "eth_sendRawTransaction" => send::raw_transaction,
    "txpool_content" => pool::content,
    "txpool_contentFrom" => pool::content_from,
    "txpool_inspect" => pool::content,
    "txpool_status" => pool::status,
    "erigon_getHeaderByNumber" => otterscan::header,
    "ots_getApiLevel" => otterscan::api_level,
    "ots_hasCode" => otterscan::has_code,
    "ots_getInternalOperations" => otterscan::operations,
    "ots_getTransactionError" => otterscan::transaction_error,
    "ots_traceTransaction" => otterscan::trace,
    "ots_getBlockDetails" => otterscan::details_by_number,
    "ots_getBlockDetailsByHash" => otterscan::details_by_hash,
    "ots_getBlockTransactions" => otterscan::transactions,
    "ots_searchTransactionsBefore" => otterscan::before,
    "ots_searchTransactionsAfter" => otterscan::after,
    "ots_getTransactionBySenderAndNonce" => otterscan::transaction_of_nonce,
    "ots_getContractCreator" => otterscan::contract_creator,
    "debug_getRawHeader" => encodings::header,
    "debug_getRawBlock" => encodings::block,
    "debug_getRawReceipts" => encodings::receipts,
    "debug_getRawTransaction" => encodings::transaction,
    "debug_traceTransaction" => replays::trace_transaction,
    "debug_traceBlockByNumber" => replays::blocks::by_number,
    "debug_traceBlockByHash" => replays::blocks::by_hash,
    "debug_traceCall" => replays::calls::as_geth,
    "debug_storageRangeAt" => storage_range::storage_range,
    "trace_replayTransaction" => replays::replay_transaction,
    "trace_replayBlockTransactions" => replays::blocks::as_parity,
    "trace_call" => replays::calls::as_parity,
    "trace_callMany" => replays::calls::many,
    "trace_rawTransaction" => replays::calls::signed,
    "trawl_getReceiptProof" => proofs::receipt,
    "eth_subscribe" => needs_socket,
    "eth_unsubscribe" => needs_socket,
};

/// Further methods of [`Endpoint::Node`], which the specification of the other one does not have.
const NODE_METHODS: &[Method] = methods! {
    "eth_newFilter" => filters::new_logs,
    "eth_newBlockFilter" => filters::new_blocks,
    "eth_newPendingTransactionFilter" => filters::new_pending,
    "eth_getFilterChanges" => filters::changes::poll,
    "eth_getFilterLogs" => filters::all_logs,
    "eth_uninstallFilter" => filters::uninstall,
    "net_peerCount" => client_info::peer_count,
    "eth_protocolVersion" => client_info::protocol_version,
    "eth_coinbase" => client_info::coinbase,
    "eth_mining" => client_info::is_mining,
    "eth_hashrate" => client_info::hash_rate,
    "eth_pendingTransactions" => client_info::pending_transactions,
    "trace_block" => traces::of_block,
    "trace_transaction" => of_transactions::of_transaction,
    "trace_get" => of_transactions::one,
};

/// The method of a name at an endpoint.
fn find(endpoint: Endpoint, name: &str) -> Option<&'static Method> {
    let further = if endpoint == Endpoint::Node { NODE_METHODS } else { &[] };
    METHODS.iter().chain(further).find(|method| method.name == name)
}

/// Refuses subscriptions over HTTP; over a WebSocket its session answers these methods.
async fn needs_socket(_: Context<'_>) -> Result<Answer, Problem> {
    Err(Problem::NeedsSocket)
}

/// The name of a served method, for metrics; `None` for other names, which must not become labels.
pub(super) fn known_name(method: &str) -> Option<&'static str> {
    find(Endpoint::Node, method).map(|known| known.name)
}

/// The name of a method that an endpoint serves.
pub(super) fn served_name(endpoint: Endpoint, method: &str) -> Option<&'static str> {
    find(endpoint, method).map(|served| served.name)
}

/// The names of the methods of both endpoints, and of those that only nodes have, which the description of the API
/// lists.
#[cfg(test)]
pub(crate) fn names() -> [Vec<&'static str>; 2] {
    [METHODS, NODE_METHODS].map(|methods| methods.iter().map(|method| method.name).collect())
}

/// Answers a call: from the tables or, if they lack data, from an upstream node.
///
/// # Errors
///
/// The problem that becomes the error of the answer.
pub(super) async fn call(request: RequestContext<'_>, call: &Call<'_>) -> Result<Answer, Problem> {
    let endpoint = request.requester.endpoint;
    let adapted = |problem| endpoint.adapt_error(problem, &call.method);
    let method = find(endpoint, &call.method).ok_or(Problem::MethodNotFound).map_err(adapted)?;
    let context = Context::new(request, method.name, &call.params);
    let outcome = match read(context, method).await.and_then(|answer| certain(context, answer)) {
        Err(problem) if forward::is_missing_data(&problem) && forward::is_understood(context) => {
            forward::forward(context, problem).await
        }
        outcome => outcome,
    };
    outcome.map_err(adapted)
}

/// Answers a call that reads tables, if no other request waits for a slot of the reads. `None` if there is none, or
/// when the call fails.
pub(super) async fn call_early(request: RequestContext<'_>, call: &Call<'_>) -> Option<Answer> {
    let method = find(request.requester.endpoint, &call.method)?;
    let context = Context::new(request, method.name, &call.params);
    let _slot = context.app.limits().reads.try_enter()?;
    let answer = (method.handler)(context).await.ok()?;
    certain(context, answer).ok()
}

/// Answers a call from the tables, when it is its turn.
async fn read(context: Context<'_>, method: &Method) -> Result<Answer, Problem> {
    let _position = match is_read(method.name) {
        true => Some(context.app.limits().reads.enter().await?),
        false => None,
    };
    (method.handler)(context).await
}

/// Whether a method reads, so that it waits for its turn. The others answer from memory, or wait for a node.
fn is_read(name: &str) -> bool {
    let in_memory = ["net_", "web3_", "txpool_"].iter().any(|group| name.starts_with(group));
    let is_known = in_memory || name == "rpc_modules";
    !is_known
        && !matches!(
            name,
            "eth_blockNumber"
                | "eth_chainId"
                | "eth_syncing"
                | "eth_accounts"
                | "eth_coinbase"
                | "eth_mining"
                | "eth_hashrate"
                | "eth_pendingTransactions"
                | "eth_protocolVersion"
                | "eth_sendRawTransaction"
                | "ots_getApiLevel"
        )
}

/// Refuses `null` while rows of some blocks are lost: the requested row may be in one of them.
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

/// Starts the counters of all methods at 0.
pub fn start_counting() {
    let names: Vec<&'static str> =
        METHODS.iter().chain(NODE_METHODS).map(|method| method.name).chain(["other"]).collect();
    trawl_metrics::start_at_zero("trawl_rpc_requests_total", "method", &names);
}

/// Counts a call by its method and its outcome.
pub(super) fn count(method: &str, is_ok: bool) {
    let name = known_name(method).unwrap_or("other");
    let verdict = if is_ok { "ok" } else { "error" };
    metrics::counter!("trawl_rpc_requests_total", "method" => name, "outcome" => verdict).increment(1);
}
