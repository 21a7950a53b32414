//! `/api/v2/tokens/{token}/holders/csv`.

use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::{Problem, UncountedReason};
use crate::http::csv_file::csv_file;
use crate::http::parameters::{AddressPath, Parameters, query_parameters};
use crate::http::query::Kind;
use crate::middleware::request_head::RequestHead;
use crate::read::tokens::holders::holders;
use crate::read::tokens::token::known;
use trawl_json::JsonWriter;
use trawl_json::scan_rows::holders::{HOLDERS, write_holder};
use trawl_query::tokens::holders::Asset;

/// What pages send that write the same parameters to all exports.
const ABSENT: Kind = Kind::Name(&["null", ""]);

query_parameters! {
    pub(crate) HolderExportParameters: [&[
        ("from_period", ABSENT),
        ("to_period", ABSENT),
        ("filter_type", ABSENT),
        ("filter_value", ABSENT),
        ("address_id", Kind::Text),
        ("recaptcha_response", Kind::Text),
    ]];
}

/// Most holders of a file, the largest: it is written in one piece.
const MAX_HOLDERS: u64 = 10_000;

/// The largest holders of a token as a file (docs/reference/scans.md#exports-of-a-token).
pub(in crate::rest) async fn holders_csv(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<HolderExportParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (tokens, standard) = known(&app, &head, &address).await?;
    if tokens.is_undetermined(&address, &standard) {
        return Err(Problem::NotCounted(UncountedReason::Undetermined));
    }
    let mut found = holders(&app, &head, &Asset::Token(&address, &standard), None, MAX_HOLDERS + 1).await?;
    // The name of the file says it where it is not all of them.
    let part = if found.len() as u64 > MAX_HOLDERS { "-largest-10000" } else { "" };
    found.truncate(usize::try_from(MAX_HOLDERS).unwrap_or(usize::MAX));
    // Tokens with ids are counted.
    let stated = || tokens.metadata.get(&address).and_then(|token| token.decimals);
    let decimals = if standard == "ERC-20" { stated() } else { Some(0) };
    let mut out = JsonWriter::new();
    out.raw(HOLDERS);
    found.iter().for_each(|position| write_holder(&mut out, position.holder, position.held, decimals));
    Ok(csv_file(Bytes::from(out.into_bytes()), &format!("holders-{address:#x}{part}.csv")))
}
