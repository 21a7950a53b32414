//! Facts that clients read when they connect: the chain, the server, and how far it is.

use crate::error::Problem;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::{data, value};
use alloy_primitives::keccak256;
use trawl_core::primitives::Address;
use trawl_core::store::Head;
use trawl_json::{JsonWriter, Object};

/// The name and version of this server.
const CLIENT_VERSION: &str = concat!("Trawl/v", env!("CARGO_PKG_VERSION"));

/// The greatest lag behind the node, in blocks, that does not count as syncing.
const MAX_USUAL_LAG: u64 = 8;

/// The height of the head; 0 if nothing is readable.
pub(crate) async fn block_number(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let number = call.head()?.number().unwrap_or(0);
    Ok(Answer::of(|writer| writer.quantity(number)))
}

/// The chain id; `null` while neither the data nor `--chain-id` has it.
pub(crate) async fn chain_id(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let chain_id = served_chain(call)?;
    Ok(Answer::of(|writer| writer.option(chain_id, JsonWriter::quantity)))
}

/// The chain id in decimal digits, for `net_version`.
pub(crate) async fn network_version(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let chain_id = served_chain(call)?;
    Ok(Answer::of(|writer| writer.option(chain_id, JsonWriter::decimal)))
}

/// The chain that is served, which `--chain-id` tells before anything is loaded.
fn served_chain(call: Context<'_>) -> Result<Option<u64>, Problem> {
    match (call.head(), call.app.options().chain_id) {
        (Err(Problem::NothingLoaded), Some(stated)) => Ok(Some(stated)),
        (head, _) => Ok(call.app.chain_id(head?)),
    }
}

/// Whether `trawl-ingest follow` lags its node.
pub(crate) async fn syncing(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    let head = call.head()?;
    Ok(Answer::of(|writer| write_syncing(writer, head)))
}

/// No accounts: this server has no keys.
pub(crate) async fn accounts(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.array(|_| {})))
}

/// `true`, for `net_listening`.
pub(crate) async fn is_listening(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.bool(true)))
}

/// `0x0`, for `net_peerCount`: this server takes blocks from its tables and has no peers.
pub(crate) async fn peer_count(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.quantity(0)))
}

/// `0x0`, for `eth_protocolVersion`: this server has no peers, so it speaks no version of their protocol.
pub(crate) async fn protocol_version(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.quantity(0)))
}

/// The zero address, for `eth_coinbase`: nothing is mined here.
pub(crate) async fn coinbase(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.hex(Address::ZERO.as_slice())))
}

/// `false`, for `eth_mining`: nothing is mined here.
pub(crate) async fn is_mining(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.bool(false)))
}

/// `0x0`, for `eth_hashrate`: nothing is mined here.
pub(crate) async fn hash_rate(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.quantity(0)))
}

/// None, for `eth_pendingTransactions`: only those of blocks are known here.
pub(crate) async fn pending_transactions(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.array(|_| {})))
}

/// The name and version of this server, for `web3_clientVersion`.
pub(crate) async fn client_version(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(|writer| writer.string(CLIENT_VERSION)))
}

/// The Keccak-256 hash of some bytes.
pub(crate) async fn sha3(call: Context<'_>) -> Result<Answer, Problem> {
    let [bytes] = call.exactly()?;
    let hash = keccak256(data(&value(bytes))?);
    Ok(Answer::of(|writer| writer.hex(hash.as_slice())))
}

/// The namespaces of the methods, each with a version.
pub(crate) async fn modules(call: Context<'_>) -> Result<Answer, Problem> {
    let [] = call.exactly()?;
    Ok(Answer::of(write_modules))
}

fn write_modules(writer: &mut JsonWriter) {
    writer.object(|modules| {
        for module in ["debug", "eth", "net", "ots", "rpc", "trace", "txpool", "web3"] {
            modules.key(module).string("1.0");
        }
    });
}

/// `false`, or the progress of `trawl-ingest follow` while it lags its node.
fn write_syncing(writer: &mut JsonWriter, head: &Head) {
    if is_syncing(head) { writer.object(|progress| write_progress(progress, head)) } else { writer.bool(false) }
}

/// Whether the tables lag the node by more than is usual.
pub(crate) fn is_syncing(head: &Head) -> bool {
    node_block(head) > head.number().unwrap_or(0).saturating_add(MAX_USUAL_LAG)
}

fn node_block(head: &Head) -> u64 {
    head.newest.as_ref().map_or(0, |newest| newest.node_block)
}

/// Writes how far the tables are.
pub(crate) fn write_progress(progress: &mut Object<'_>, head: &Head) {
    progress.key("startingBlock").quantity(head.blocks.first().unwrap_or(0));
    progress.key("currentBlock").quantity(head.number().unwrap_or(0));
    progress.key("highestBlock").quantity(node_block(head));
}
