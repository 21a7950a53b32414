//! What a client asks when it connects: which chain, which server, how far it is.

use alloy_primitives::keccak256;
use serde_json::value::RawValue;

use super::methods::{Answer, exactly};
use super::params::{data, value};
use crate::api::{App, Problem};
use trawl_core::store::Head;
use trawl_json::JsonWriter;

pub(super) const METHODS: &[&str] = &[
    "eth_blockNumber",
    "eth_chainId",
    "eth_syncing",
    "eth_accounts",
    "net_version",
    "net_listening",
    "web3_clientVersion",
    "web3_sha3",
    "rpc_modules",
];

/// How this server names itself.
const CLIENT_VERSION: &str = concat!("Trawl/v", env!("CARGO_PKG_VERSION"));

/// Blocks behind the node that are no more than being on the way.
const ON_THE_WAY: u64 = 8;

/// Answers one of [`METHODS`].
pub(super) fn answer(app: &App, method: &str, params: &[&RawValue]) -> Result<Answer, Problem> {
    if method == "web3_sha3" {
        let [bytes] = exactly(params)?;
        let hash = keccak256(data(&value(bytes))?);
        return Ok(Answer::of(|writer| writer.hex(hash.as_slice())));
    }
    let [] = exactly(params)?;
    match method {
        "web3_clientVersion" => return Ok(Answer::of(|writer| writer.string(CLIENT_VERSION))),
        "rpc_modules" => return Ok(Answer::of(write_modules)),
        "net_listening" => return Ok(Answer::of(|writer| writer.bool(true))),
        "eth_accounts" => return Ok(Answer::of(|writer| writer.array(|_| {}))),
        _ => {}
    }
    let head = app.head()?;
    let chain_id = app.chain_id(&head);
    Ok(match method {
        "eth_blockNumber" => Answer::of(|writer| writer.quantity(head.number().unwrap_or(0))),
        "eth_chainId" => Answer::of(|writer| writer.option(chain_id, JsonWriter::quantity)),
        "net_version" => Answer::of(|writer| writer.option(chain_id, JsonWriter::decimal)),
        _ => Answer::of(|writer| write_syncing(writer, &head)),
    })
}

fn write_modules(writer: &mut JsonWriter) {
    writer.object(|modules| {
        for module in ["eth", "net", "rpc", "web3"] {
            modules.key(module).string("1.0");
        }
    });
}

/// `false`, or how far `trawl-ingest follow` is behind its node.
fn write_syncing(writer: &mut JsonWriter, head: &Head) {
    let node = head.newest.as_ref().map_or(0, |newest| newest.node_block);
    let current = head.number().unwrap_or(0);
    if node <= current.saturating_add(ON_THE_WAY) {
        return writer.bool(false);
    }
    writer.object(|progress| {
        progress.key("startingBlock").quantity(head.blocks.first().unwrap_or(0));
        progress.key("currentBlock").quantity(current);
        progress.key("highestBlock").quantity(node);
    });
}
