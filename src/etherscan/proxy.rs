//! `module=proxy`: calls of JSON-RPC with their parameters by name, answered as at `/api/eth-rpc`.

use axum::response::Response;
use serde_json::{Map, Value, json};
use trawl_serve::Client;

use super::answer::Refused;
use super::params::Params;
use crate::app::App;
use crate::rpc;
use trawl_core::primitives::U256;

/// Members of a call object, and the parameters that they come from.
const CALL: [(&str, &str); 11] = [
    ("from", "from"),
    ("to", "to"),
    ("data", "data"),
    ("value", "value"),
    ("gas", "gas"),
    ("gas", "gasLimit"),
    ("gasPrice", "gasPrice"),
    ("maxFeePerGas", "maxFeePerGas"),
    ("maxPriorityFeePerGas", "maxPriorityFeePerGas"),
    ("nonce", "nonce"),
    ("type", "type"),
];

/// Answers a call with the envelope of JSON-RPC.
pub(super) async fn call(app: &App, action: &str, params: &Params, client: Client) -> Result<Response, Refused> {
    let (method, parameters) = read(action, params)?;
    let id = params.number("id").ok().flatten().unwrap_or(1);
    let call = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters});
    Ok(rpc::answer_one(app.clone(), client, &call).await?)
}

/// The newest height.
pub(super) async fn block_number(app: &App, params: &Params, client: Client) -> Result<Response, Refused> {
    call(app, "eth_blocknumber", params, client).await
}

/// The method of an action, which is in small letters, and its parameters in order.
fn read(action: &str, params: &Params) -> Result<(&'static str, Vec<Value>), Refused> {
    let text = |name: &str| params.required(name).map(Value::from);
    let number = |name: &str| params.required(name).map(quantity);
    let tag = || Value::from(params.text("tag").unwrap_or("latest"));
    let is_full = || Value::Bool(params.choice("boolean") == "true");
    Ok(match action {
        "eth_blocknumber" => ("eth_blockNumber", Vec::new()),
        "eth_chainid" => ("eth_chainId", Vec::new()),
        "eth_gasprice" => ("eth_gasPrice", Vec::new()),
        "eth_maxpriorityfeepergas" => ("eth_maxPriorityFeePerGas", Vec::new()),
        "eth_getblockbynumber" => ("eth_getBlockByNumber", vec![tag(), is_full()]),
        "eth_getblockbyhash" => ("eth_getBlockByHash", vec![text("hash")?, is_full()]),
        "eth_getunclebyblocknumberandindex" => ("eth_getUncleByBlockNumberAndIndex", vec![tag(), number("index")?]),
        "eth_getblocktransactioncountbynumber" => ("eth_getBlockTransactionCountByNumber", vec![tag()]),
        "eth_gettransactionbyhash" => ("eth_getTransactionByHash", vec![text("txhash")?]),
        "eth_gettransactionbyblocknumberandindex" => {
            ("eth_getTransactionByBlockNumberAndIndex", vec![tag(), number("index")?])
        }
        "eth_gettransactioncount" => ("eth_getTransactionCount", vec![text("address")?, tag()]),
        "eth_gettransactionreceipt" => ("eth_getTransactionReceipt", vec![text("txhash")?]),
        "eth_getbalance" => ("eth_getBalance", vec![text("address")?, tag()]),
        "eth_getcode" => ("eth_getCode", vec![text("address")?, tag()]),
        "eth_getstorageat" => ("eth_getStorageAt", vec![text("address")?, number("position")?, tag()]),
        "eth_sendrawtransaction" => ("eth_sendRawTransaction", vec![text("hex")?]),
        "eth_call" => ("eth_call", vec![call_object(params), tag()]),
        "eth_estimategas" => ("eth_estimateGas", vec![call_object(params), tag()]),
        _ => return Err(Refused::Sentence("Unknown action".into())),
    })
}

/// Decimal digits as JSON-RPC writes them; other text as it is.
fn quantity(text: &str) -> Value {
    let is_decimal = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let number = is_decimal.then(|| U256::from_str_radix(text, 10).ok()).flatten();
    number.map_or_else(|| Value::from(text), |number| Value::from(format!("{number:#x}")))
}

fn call_object(params: &Params) -> Value {
    let member = |(member, name): (&str, &str)| Some((member.to_owned(), Value::from(params.text(name)?)));
    Value::Object(CALL.into_iter().filter_map(member).collect::<Map<_, _>>())
}
