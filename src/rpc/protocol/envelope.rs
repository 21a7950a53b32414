//! The JSON-RPC 2.0 envelope: parsing of calls, writing of answers (docs/reference/http-contract.md#json-rpc-envelope).

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::endpoint::Endpoint;
use crate::error::Problem;
use trawl_json::JsonWriter;

/// The id of a call, as its original JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Id(String);

impl Id {
    /// The id of answers to messages without a readable id.
    pub fn null() -> Self {
        Self("null".into())
    }

    /// An id from its JSON text; `None` for a value that no id has: a list, an object, true or false.
    fn of(text: &RawValue) -> Option<Self> {
        (!text.get().starts_with(['{', '[', 't', 'f'])).then(|| Self(text.get().to_owned()))
    }
}

/// A message of a client: JSON text that may or may not be a call.
#[derive(Debug)]
pub(crate) enum Message {
    /// Any value but a list.
    One(Box<RawValue>),
    /// The items of a list.
    Batch(Vec<Box<RawValue>>),
}

impl Message {
    /// Parses a message.
    ///
    /// # Errors
    ///
    /// When the text is not JSON.
    pub fn read(text: &[u8]) -> Result<Self, Problem> {
        let message: &RawValue = serde_json::from_slice(text).map_err(|_| Problem::ParseError)?;
        if !message.get().starts_with('[') {
            return Ok(Self::One(message.to_owned()));
        }
        serde_json::from_str(message.get()).map(Self::Batch).map_err(|_| Problem::ParseError)
    }
}

/// A well-formed call.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    /// The name of its method, which may be unknown.
    pub method: String,
    /// Its parameters, in order. Each can be parsed as a [`Value`]: no number is too large for any type, no text has
    /// half of a surrogate pair, and no value is nested deeper than 127 levels.
    pub params: Vec<&'a RawValue>,
}

/// The members of a call, as JSON text.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

/// Whether the id is present: serde treats an absent `Option` and one that is `null` alike.
#[derive(Deserialize)]
struct Presence {
    #[serde(default, deserialize_with = "is_there")]
    id: bool,
}

fn is_there<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl<'a> Call<'a> {
    /// Parses a call. The id is returned in any case, so that the answer to a wrong call has it too; `None` if no
    /// answer is due, as for a notification to a node.
    pub fn read(text: &'a RawValue, endpoint: Endpoint) -> (Option<Id>, Result<Self, Problem>) {
        let invalid = || (Some(Id::null()), Err(Problem::InvalidRequest("Invalid Request".into())));
        if !text.get().starts_with('{') {
            return invalid();
        }
        let (Ok(message), Ok(presence)) =
            (serde_json::from_str::<Members>(text.get()), serde_json::from_str::<Presence>(text.get()))
        else {
            return invalid();
        };
        if !presence.id {
            return Self::without_id(&message, endpoint);
        }
        match message.id.map_or_else(|| Some(Id::null()), Id::of) {
            Some(id) => (Some(id), Self::body(&message)),
            None => invalid(),
        }
    }

    /// The id alone, for an answer that refuses the call unread: its parameters are not parsed. `None` if it has none.
    pub fn id(text: &RawValue) -> Option<Id> {
        let members: Members = serde_json::from_str(text.get()).ok().filter(|_| text.get().starts_with('{'))?;
        members.id.and_then(Id::of)
    }

    /// A node takes notifications. The other endpoint does not: clients that forget the id get an answer.
    fn without_id(message: &Members<'a>, endpoint: Endpoint) -> (Option<Id>, Result<Self, Problem>) {
        match (endpoint, Self::body(message)) {
            (Endpoint::Specification, _) => {
                (Some(Id("0".into())), Err(Problem::InvalidRequest("Id is a required field".into())))
            }
            (Endpoint::Node, Err(Problem::InvalidRequest(text))) => {
                (Some(Id::null()), Err(Problem::InvalidRequest(text)))
            }
            (Endpoint::Node, call) => (None, call),
        }
    }

    fn body(message: &Members<'a>) -> Result<Self, Problem> {
        let required = || Problem::InvalidRequest("Method, and jsonrpc are required parameters.".into());
        let version = message.jsonrpc.ok_or_else(required)?;
        if version.get() != "\"2.0\"" {
            return Err(Problem::InvalidRequest("invalid rpc version".into()));
        }
        let method = message.method.and_then(|method| serde_json::from_str(method.get()).ok()).ok_or_else(required)?;
        let params: Vec<&RawValue> = match message.params {
            None => Vec::new(),
            Some(params) => serde_json::from_str(params.get())
                .map_err(|_| Problem::InvalidParams("Invalid params. Params must be a list.".into()))?,
        };
        // Read as null, it would count as a missing parameter.
        if params.iter().any(|param| serde_json::from_str::<Value>(param.get()).is_err()) {
            return Err(Problem::InvalidParams(
                "Invalid params. A number, a string or the nesting cannot be parsed.".into(),
            ));
        }
        Ok(Self { method, params })
    }
}

/// The answer to a batch that is refused whole. A node answers with a list, whose error has the id of the first call
/// that has one, as geth does: its Go client waits for an answer with the id of a call.
pub(crate) fn refused_batch(calls: &[Box<RawValue>], endpoint: Endpoint, problem: &Problem) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    if endpoint == Endpoint::Specification || calls.is_empty() {
        write_error(&mut writer, &Id::null(), problem);
        return writer.into_bytes();
    }
    let id = calls.iter().find_map(|call| Call::id(call)).unwrap_or_else(Id::null);
    writer.raw("[");
    write_error(&mut writer, &id, problem);
    writer.raw("]");
    writer.into_bytes()
}

/// Writes the part of an answer before its result.
pub(crate) fn open_result(writer: &mut JsonWriter) {
    writer.raw(r#"{"jsonrpc":"2.0","result":"#);
}

/// Writes the part of an answer after its result.
pub(crate) fn close(writer: &mut JsonWriter, id: &Id) {
    writer.raw(r#","id":"#);
    writer.raw(&id.0);
    writer.raw("}");
}

/// Methods whose errors have the output of a reverted call as `data`, or none, as geth's. Clients decode it as bytes
/// without a look at the code of the error: web3.js with `handleRevert`, and Argent's client in Swift.
const CALLS: [&str; 4] = ["eth_call", "eth_estimateGas", "eth_createAccessList", "eth_fillTransaction"];

/// Writes an answer that is an error.
pub(crate) fn write_error(writer: &mut JsonWriter, id: &Id, problem: &Problem) {
    write_failure(writer, id, problem, problem.rpc_data());
}

/// Writes an answer that is the error of a call of `method`.
pub(crate) fn write_error_of(writer: &mut JsonWriter, id: &Id, method: &str, problem: &Problem) {
    let is_readable = |data: &Value| data.is_string() || !CALLS.contains(&method);
    write_failure(writer, id, problem, problem.rpc_data().filter(is_readable));
}

fn write_failure(writer: &mut JsonWriter, id: &Id, problem: &Problem, data: Option<Value>) {
    writer.raw(r#"{"jsonrpc":"2.0","error":"#);
    match problem.relayed() {
        Some(error) => writer.raw(error),
        None => write_problem(writer, problem, data),
    }
    close(writer, id);
}

/// Writes the error object of a problem of this server.
fn write_problem(writer: &mut JsonWriter, problem: &Problem, data: Option<Value>) {
    writer.raw(r#"{"code":"#);
    writer.raw(problem.code().to_string());
    writer.raw(r#","message":"#);
    writer.string(&problem.message());
    if let Some(data) = data {
        writer.raw(r#","data":"#);
        writer.raw(data.to_string());
    }
    writer.raw("}");
}

#[cfg(test)]
mod tests {
    use trawl_core::primitives::BlockRange;

    use super::*;

    fn read(text: &str) -> (String, Result<String, String>) {
        let raw: Box<RawValue> = serde_json::from_str(text).expect("JSON");
        let (id, call) = Call::read(&raw, Endpoint::Specification);
        (id.expect("an answer is due").0, call.map(|call| call.method).map_err(|problem| problem.to_string()))
    }

    #[test]
    fn ids_are_echoed_unchanged() {
        for id in ["1", "\"a\\\"b\"", "null", "1.5", "-3", "123456789012345678901234567890"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(read(&text), (id.into(), Ok("m".into())));
        }
    }

    #[test]
    fn a_node_takes_notifications() {
        let read = |text: &str| {
            let raw: Box<RawValue> = serde_json::from_str(text).expect("JSON");
            let (id, call) = Call::read(&raw, Endpoint::Node);
            (id.map(|id| id.0), call.map(|call| call.method).map_err(|problem| problem.code()))
        };
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#), (None, Ok("m".into())));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m","params":{}}"#), (None, Err(-32602)));
        assert_eq!(read(r#"{"jsonrpc":"2.0"}"#), (Some("null".into()), Err(-32600)));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#), (Some("null".into()), Ok("m".into())));
    }

    #[test]
    fn errors_of_calls_have_bytes_or_no_data() {
        let error = |method: &str, problem: &Problem| {
            let mut writer = JsonWriter::new();
            write_error_of(&mut writer, &Id::null(), method, problem);
            let answer: Value = serde_json::from_slice(&writer.into_bytes()).expect("JSON");
            answer["error"].clone()
        };
        let output = Problem::Call(trawl_evm::Failure::Reverted(vec![1_u8, 2].into()));
        for problem in [Problem::BlocksMissing(vec![BlockRange::single(7)]), Problem::Busy] {
            assert!(error("eth_getBalance", &problem)["data"].is_object(), "{problem}");
            for method in CALLS {
                assert_eq!(error(method, &problem).get("data"), None, "{method}: {problem}");
                assert_eq!(error(method, &output)["data"], "0x0102", "{method}");
            }
        }
    }

    #[test]
    fn malformed_messages_get_the_texts_of_the_contract() {
        let error = |text: &str| read(text).1.expect_err("an error");
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"m"}"#), ("0".into(), Err("Id is a required field".into())));
        assert_eq!(error(r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#), "invalid rpc version");
        assert_eq!(error(r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#), "invalid rpc version");
        assert_eq!(error(r#"{"jsonrpc":"2.0","id":1}"#), "Method, and jsonrpc are required parameters.");
        assert_eq!(error(r#"{"id":1,"method":"m"}"#), "Method, and jsonrpc are required parameters.");
        assert_eq!(error(r#"{"jsonrpc":"2.0","id":1,"method":7}"#), "Method, and jsonrpc are required parameters.");
        assert_eq!(
            error(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{}}"#),
            "Invalid params. Params must be a list."
        );
        for param in ["1e999", r#""\ud800""#, &format!("{}{}", "[".repeat(200), "]".repeat(200))] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":[1,{param}]}}"#);
            assert_eq!(error(&text), "Invalid params. A number, a string or the nesting cannot be parsed.");
        }
        for text in ["1", "\"x\"", "null", "[]", r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, r#"{"id":1,"id":2}"#] {
            assert_eq!(error(text), "Invalid Request", "{text}");
        }
    }
}
