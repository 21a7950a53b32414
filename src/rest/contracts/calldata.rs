//! `/api/v2/utils/decode-calldata`: the call that some data is.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::Kind;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use trawl_core::primitives::Bytes;
use trawl_json::JsonWriter;

query_parameters! {
    pub(crate) CalldataParameters: [&[("calldata", Kind::Text), ("address_hash", Kind::Address)]];
}

const CALLDATA: &str = "calldata";

/// The call of a contract that `calldata` is, as `decoded_input` of a transaction at the head shows it
/// (docs/reference/http-contract.md#contracts).
pub(in crate::rest) async fn decode_calldata(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<CalldataParameters>,
) -> Result<Response, Problem> {
    let missing = |name: &str| Problem::invalid_parameter(name, format!("Missing field: {name}"));
    let text = query.text(CALLDATA).ok_or_else(|| missing(CALLDATA))?;
    let contract = query.address("address_hash").ok_or_else(|| missing("address_hash"))?;
    let wrong = || Problem::invalid_parameter(CALLDATA, "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{2})*$/");
    let input: Bytes = text.starts_with("0x").then(|| text.parse().ok()).flatten().ok_or_else(wrong)?;
    let head = head.get()?;
    let mut label_query = LabelQuery::default();
    label_query.call(Some(contract), &input);
    let (_, _, vocabulary) = app.address_info([contract], label_query, &head).await?;
    let decoded = vocabulary.decoded_input(&contract, head.number().unwrap_or_default(), &input);
    let mut writer = JsonWriter::new();
    writer.object(|answer| answer.key("result").option(decoded.as_deref(), JsonWriter::raw));
    Ok(json(writer.into_bytes()))
}
