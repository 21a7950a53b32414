//! `module=proxy`: calls of JSON-RPC with their parameters by name, answered as at `/api/eth-rpc`.

use axum::response::Response;
use serde_json::{Map, Value, json};
use trawl_serve::Client;

use super::answer::Refusal;
use super::params::Params;
use crate::rpc::{self, Rpc};
use trawl_core::primitives::U256;

/// A call that an action is.
pub(crate) struct Call {
    /// Name of the JSON-RPC method.
    pub method: &'static str,
    /// Where its parameters come from, in their order.
    pub arguments: &'static [Argument],
}

/// A parameter of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Argument {
    /// The text of a parameter.
    Text(&'static str),
    /// A number, which may be in decimal digits.
    Quantity(&'static str),
    /// A block, by a parameter: the newest one without it.
    Block(&'static str),
    /// Whether transactions are whole.
    IsFull,
    /// The object of a call.
    CallObject,
}

/// Members of a call object, which are parameters of the same names.
pub(crate) const CALL: [&str; 10] =
    ["from", "to", "data", "value", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "nonce", "type"];

/// Answers a call with the envelope of JSON-RPC.
pub(super) async fn answer(rpc: &Rpc, call: &Call, params: &Params, client: Client) -> Result<Response, Refusal> {
    let parameters = call.arguments.iter().map(|argument| argument.read(params)).collect::<Result<Vec<_>, _>>()?;
    let id = params.number("id").unwrap_or(1);
    let call = json!({"jsonrpc": "2.0", "id": id, "method": call.method, "params": parameters});
    Ok(rpc::answer_one(rpc.clone(), client, &call).await?)
}

impl Argument {
    fn read(self, params: &Params) -> Result<Value, Refusal> {
        let text = |name: &str| params.require(name, |params, name| params.text(name).map(str::to_owned));
        Ok(match self {
            Self::Text(name) => text(name)?.into(),
            Self::Quantity(name) => quantity(&text(name)?),
            Self::Block(name) => quantity(params.text(name).unwrap_or("latest")),
            Self::IsFull => (params.word("boolean").as_deref() == Some("true")).into(),
            Self::CallObject => call_object(params),
        })
    }
}

/// Decimal digits as JSON-RPC writes them; other text as it is.
fn quantity(text: &str) -> Value {
    let is_decimal = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    let number = is_decimal.then(|| U256::from_str_radix(text, 10).ok()).flatten();
    number.map_or_else(|| Value::from(text), |number| Value::from(format!("{number:#x}")))
}

fn call_object(params: &Params) -> Value {
    let value = |name: &str, text: &str| match name {
        "from" | "to" | "data" => Value::from(text),
        _ => quantity(text),
    };
    let member = |name: &str| Some((name.to_owned(), value(name, params.text(name)?)));
    Value::Object(CALL.into_iter().filter_map(member).collect::<Map<_, _>>())
}
