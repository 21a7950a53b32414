//! A node of the generated chain: JSON-RPC over HTTP, with what `trawl-ingest` asks for.

use std::net::SocketAddr;
use std::sync::Arc;

use alloy_primitives::{Address, B256};
use anyhow::Context as _;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use serde_json::Value;

use crate::chain::block::{Block, Texts};
use crate::chain::world::CHAIN_ID;
use crate::chain::{BlockIndex, Chain, Model};

/// A node; it serves until the process ends.
pub struct Node {
    /// URL of its JSON-RPC.
    pub url: String,
}

impl Node {
    /// Starts to serve a chain.
    pub fn start(chain: Arc<Chain>) -> anyhow::Result<Self> {
        let (sender, address) = std::sync::mpsc::channel::<SocketAddr>();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
                // The receiver waits for it.
                let _ = sender.send(listener.local_addr()?);
                let app = Router::new().route("/", post(serve)).with_state(chain);
                axum::serve(listener, app).await
            })
        });
        let address = address.recv().context("the node of the generated chain did not start")?;
        Ok(Self { url: format!("http://{address}") })
    }
}

async fn serve(State(chain): State<Arc<Chain>>, body: String) -> impl IntoResponse {
    let request: Value = serde_json::from_str(&body).unwrap_or_default();
    let text = match request.as_array() {
        Some(calls) => {
            let answers: Vec<String> = calls.iter().map(|call| answer(&chain, call)).collect();
            format!("[{}]", answers.join(","))
        }
        None => answer(&chain, &request),
    };
    ([(CONTENT_TYPE, "application/json")], text)
}

fn answer(chain: &Chain, call: &Value) -> String {
    let (id, method) = (&call["id"], call["method"].as_str().unwrap_or_default());
    match result(chain, method, &call["params"]) {
        Some(result) => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
        None => {
            let error = format!("the method {method} does not exist/is not available");
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"{error}\"}}}}")
        }
    }
}

fn result(chain: &Chain, method: &str, parameters: &Value) -> Option<String> {
    let model = chain.model();
    chain.follower.note(method, &parameters[0], &model);
    let named = block_index(&model, chain.final_after, &parameters[0]);
    let text = |of: fn(&Texts) -> &String| {
        named.and_then(|block_index| Some(of(model.at(block_index).texts.as_ref()?).clone()))
    };
    let tracer = parameters[1]["tracer"].as_str().unwrap_or_default();
    let found = match method {
        "eth_chainId" => Some(format!("\"{CHAIN_ID:#x}\"")),
        "net_version" => Some(format!("\"{CHAIN_ID}\"")),
        "eth_blockNumber" => Some(format!("\"{:#x}\"", model.at(model.tip()).number)),
        "eth_getBlockByNumber" | "eth_getBlockByHash" if parameters[1] == true => text(|texts| &texts.full),
        "eth_getBlockByNumber" | "eth_getBlockByHash" => named.map(|block_index| model.at(block_index).short.clone()),
        "eth_getBlockReceipts" => text(|texts| &texts.receipts),
        "debug_traceBlockByHash" | "debug_traceBlockByNumber" if tracer == "callTracer" => text(|texts| &texts.calls),
        "debug_traceBlockByHash" | "debug_traceBlockByNumber" => text(|texts| &texts.differences),
        "eth_call" => Some(token_answer(chain, &parameters[0])),
        _ => return None,
    };
    Some(found.unwrap_or_else(|| "null".into()))
}

/// The block that a tag, a height, a hash or an object with one of them names.
fn block_index(model: &Model, final_after: u64, named: &Value) -> Option<BlockIndex> {
    let tip: &Block = model.at(model.tip());
    let below = |depth| model.on_branch(model.tip(), tip.number.checked_sub(depth)?);
    match named.as_str().or(named["blockHash"].as_str()).or(named["blockNumber"].as_str())? {
        "latest" | "pending" => Some(model.tip()),
        "safe" => below(final_after / 2),
        "finalized" => below(final_after),
        "earliest" => model.on_branch(model.tip(), 0),
        hash if hash.len() == 66 => model.by_hash(&hash.parse::<B256>().ok()?),
        number => model.on_branch(model.tip(), u64::from_str_radix(number.strip_prefix("0x")?, 16).ok()?),
    }
}

/// Name, symbol, decimals and supply of a token.
fn token_answer(chain: &Chain, call: &Value) -> String {
    let address: Option<Address> = call["to"].as_str().and_then(|to| to.parse().ok());
    let token = chain.world.tokens.iter().position(|token| Some(*token) == address);
    let Some(token) = token else { return "\"0x\"".into() };
    match call["data"].as_str().or(call["input"].as_str()).unwrap_or_default() {
        "0x313ce567" => format!("\"0x{:064x}\"", 18),
        "0x18160ddd" => format!("\"0x{:064x}\"", 1_u128 << 100),
        _ => format!("\"0x{:064x}{:064x}{:0<64}\"", 32, 2, format!("54{:02x}", 0x41 + token)),
    }
}
