//! The table of methods: name, how many parameters, what answers it.

use serde_json::value::RawValue;

use super::envelope::Call;
use super::logs::LogsAnswer;
use super::{blocks, logs, transactions};
use crate::api::{App, Problem};
use crate::json::JsonWriter;

/// What a call is answered with.
pub(super) enum Answer {
    /// JSON text.
    Whole(Vec<u8>),
    /// Logs, written as they arrive.
    Logs(Box<LogsAnswer>),
}

impl Answer {
    /// A result that `write` writes.
    pub fn of(write: impl FnOnce(&mut JsonWriter)) -> Self {
        let mut writer = JsonWriter::new();
        write(&mut writer);
        Self::Whole(writer.into_bytes())
    }

    /// `null`: the thing is not there.
    pub fn null() -> Self {
        Self::of(JsonWriter::null)
    }
}

/// Methods of the specification whose answers need chain state.
pub(in crate::api) const NEED_STATE: [&str; 9] = [
    "eth_getBalance",
    "eth_getTransactionCount",
    "eth_getCode",
    "eth_getStorageAt",
    "eth_call",
    "eth_estimateGas",
    "eth_gasPrice",
    "eth_maxPriorityFeePerGas",
    "eth_sendRawTransaction",
];

const SERVED: [&str; 7] = [
    "eth_blockNumber",
    "eth_chainId",
    "eth_getLogs",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
    "eth_getTransactionByHash",
    "eth_getTransactionReceipt",
];

/// The name of a method of the specification, for metrics; anything else a client may send is not kept.
pub(super) fn known_name(method: &str) -> Option<&'static str> {
    SERVED.iter().chain(&NEED_STATE).find(|name| **name == method).copied()
}

/// Answers a call.
pub(super) async fn call(app: &App, call: &Call<'_>) -> Result<Answer, Problem> {
    let params = &call.params;
    match call.method.as_str() {
        "eth_blockNumber" => {
            let [] = exactly(params)?;
            let number = app.head()?.number().unwrap_or(0);
            Ok(Answer::of(|writer| writer.quantity(number)))
        }
        "eth_chainId" => {
            let [] = exactly(params)?;
            let chain_id = app.chain_id(&*app.head()?);
            Ok(Answer::of(|writer| writer.option(chain_id, JsonWriter::quantity)))
        }
        "eth_getLogs" => {
            let [filter] = exactly(params)?;
            logs::get_logs(app, filter).await
        }
        "eth_getBlockByNumber" => {
            let [block, full] = exactly(params)?;
            blocks::by_number(app, block, full).await
        }
        "eth_getBlockByHash" => {
            let [hash, full] = exactly(params)?;
            blocks::by_hash(app, hash, full).await
        }
        "eth_getTransactionByHash" => {
            let [hash] = exactly(params)?;
            transactions::by_hash(app, hash).await
        }
        "eth_getTransactionReceipt" => {
            let [hash] = exactly(params)?;
            transactions::receipt(app, hash).await
        }
        other => Err(match NEED_STATE.iter().find(|name| **name == other) {
            Some(name) => Problem::Unsupported(name),
            None => Problem::MethodNotFound,
        }),
    }
}

/// The parameters of a method that takes exactly `N`.
fn exactly<'a, const N: usize>(params: &[&'a RawValue]) -> Result<[&'a RawValue; N], Problem> {
    params.try_into().map_err(|_| Problem::InvalidParams("Incorrect number of params".into()))
}
