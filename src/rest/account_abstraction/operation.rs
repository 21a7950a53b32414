//! `/api/v2/proxy/account-abstraction/operations/{operation_hash}`.

use axum::extract::{Path, State};
use axum::response::Response;

use crate::app::App;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters};
use crate::http::query::fixed_hex;
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use trawl_json::JsonWriter;

const HASH_FORMAT: &str = "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{64})$/";

/// One operation (docs/reference/http-contract.md#user-operations).
pub(super) async fn operation(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let hash = fixed_hex(&hash).ok_or_else(|| Problem::invalid_parameter("operation_hash_param", HASH_FORMAT))?;
    let head = head.get()?;
    let handled = app.handled_operation(&head, hash).await?.ok_or(Problem::NotFound)?;
    let block = handled.block_number;
    let (operation, addresses) = app.operation_page(&head, handled).await?.ok_or(Problem::NotFound)?;
    let mut writer = JsonWriter::new();
    operation.write(&mut writer, &addresses);
    Ok(CachePolicy::of_block(&head, block).mark(json(writer.into_bytes())))
}
