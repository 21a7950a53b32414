//! `GET /api/v2/scan/internal-transactions`, `/api/v2/scan/token-transfers` and `/api/v2/scan/transactions`: rows by
//! participants and blocks, in the formats and with the end mark of `/api/v2/scan/logs`.

use std::sync::Arc;

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT;
use axum::response::Response;
use serde_json::Value;

use super::cursor::{Cursor, fingerprint_of};
use super::end::End;
use super::explain::{explain, plan, with_plan};
use super::format::{Format, Mark};
use super::layout::Listing;
use super::respond::{Scan, respond};
use super::without_from_block;
use crate::app::App;
use crate::error::Problem;
use crate::http::body::ResponseBudget;
use crate::http::query::standards;
use crate::http::values::{BlockName, MAX_ALTERNATIVES, address, block_name};
use crate::middleware::request_head::RequestHead;
use crate::middleware::requester::Requester;
use crate::read::blocks::hashes::BlockHashes;
use crate::read::range::{Extent, RangeEnds};
use crate::read::row_stream::RowStream;
use trawl_core::primitives::Address;
use trawl_json::scan_rows::ScanRow;
use trawl_query::scan::{
    InternalTransactionScan, Participants, ScanPage, ScanSpec, TokenTransferScan, TransactionScan,
};

/// A scan that has a path of its own.
pub(crate) trait ListScan: ScanSpec<Row: ScanRow> {
    /// The last segment of the path, which is also the name of a file.
    const NAME: &'static str;
    /// Whether rows lack the hash of their block.
    const NEEDS_HASHES: bool = false;
    /// Whether the scan has the parameters `token` and `type`.
    const HAS_TOKENS: bool = false;

    /// The scan of a filter.
    fn of(filter: RowFilter) -> Self;
    /// The token types that the scan selects.
    fn types(&self) -> &[&'static str] {
        &[]
    }
}

impl ListScan for InternalTransactionScan {
    const NAME: &'static str = "internal-transactions";
    const NEEDS_HASHES: bool = true;

    fn of(filter: RowFilter) -> Self {
        Self { participants: filter.participants }
    }
}

impl ListScan for TokenTransferScan {
    const NAME: &'static str = "token-transfers";
    const HAS_TOKENS: bool = true;

    fn of(filter: RowFilter) -> Self {
        Self { participants: filter.participants, tokens: filter.tokens, types: filter.types }
    }

    fn types(&self) -> &[&'static str] {
        &self.types
    }
}

impl ListScan for TransactionScan {
    const NAME: &'static str = "transactions";

    fn of(filter: RowFilter) -> Self {
        Self { participants: filter.participants }
    }
}

/// `/api/v2/scan/…`: the rows of one of these scans.
pub(crate) async fn rows<S: ListScan>(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let request = ListedRequest::read::<S>(query.as_deref().unwrap_or_default(), &headers)?;
    if request.ends.from.is_none() {
        return Err(without_from_block());
    }
    let head = head.for_range()?;
    let scan = S::of(request.filter);
    let extent = Extent::between(&app, request.ends, &head, S::PART);
    // The texts are those of JSON-RPC; here they are about REST parameters.
    let extent = extent.map_err(|problem| match problem {
        Problem::InvalidParams(text) => Problem::invalid_parameter("toBlock", &text),
        other => other,
    })?;
    let fingerprint = fingerprint_of(S::NAME, &scan.lists(), scan.types());
    if let Some(cursor) = &request.cursor {
        cursor.require(&app, &head, fingerprint).await?;
    }
    let after = request.cursor.map(|cursor| cursor.position);
    let page = (!extent.blocks.is_empty()).then(|| ScanPage { scan, blocks: extent.blocks.clone(), after, limit: 0 });
    if request.explain {
        return explain(&app, page, request.limit).await;
    }
    let slot = app.limits().scans.enter(client).await?;
    let plan = plan(&app, &headers, page.as_ref()).await?;
    let end = End::new(&app, &head, extent.range, &extent.missing).await?;
    let hashes = if S::NEEDS_HASHES { Some(BlockHashes::open(&app, &extent.blocks).await?) } else { None };
    let stream = match page {
        Some(page) => Some(RowStream::open(&app, page, request.limit).await?),
        None => None,
    };
    let taker = ResponseBudget { limits: Arc::clone(app.limits()), client };
    let scan = Scan { taker, slot, end, fingerprint };
    Ok(with_plan(respond(stream, request.format, Listing::<S>::new(S::NAME, hashes), scan), plan))
}

/// The rows that a request selects.
#[derive(Default)]
pub(crate) struct RowFilter {
    participants: Participants,
    tokens: Vec<Address>,
    types: Vec<&'static str>,
}

/// A parsed request that has not been compared with the chain yet.
struct ListedRequest<P> {
    format: Format,
    cursor: Option<Cursor<P>>,
    limit: Option<u64>,
    ends: RangeEnds,
    explain: bool,
    filter: RowFilter,
}

impl<P: trawl_core::primitives::Position> ListedRequest<P> {
    fn read<S: ListScan<Position = P>>(query: &str, headers: &HeaderMap) -> Result<Self, Problem> {
        let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        let mut request = Self {
            format: Format::accepted(accepted),
            cursor: None,
            limit: None,
            ends: RangeEnds::default(),
            explain: false,
            filter: RowFilter::default(),
        };
        let mut mark = None;
        let filter = &mut request.filter;
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "format" => request.format = Format::of_request(&value)?,
                "mark" => mark = Some(Mark::of_request(&value)?),
                "cursor" => {
                    request.cursor =
                        Some(Cursor::read(&value).ok_or_else(|| Problem::invalid_parameter("cursor", "is no cursor"))?);
                }
                "limit" => {
                    request.limit =
                        Some(value.parse().map_err(|_| Problem::invalid_parameter("limit", "is no number"))?);
                }
                "explain" => request.explain = matches!(&*value, "1" | "true"),
                "fromBlock" => request.ends.from = Some(block("fromBlock", &value)?),
                "toBlock" => request.ends.to = Some(block("toBlock", &value)?),
                "address" => filter.participants.any = addresses("address", &value)?,
                "fromAddress" => filter.participants.from = addresses("fromAddress", &value)?,
                "toAddress" => filter.participants.to = addresses("toAddress", &value)?,
                "token" if S::HAS_TOKENS => filter.tokens = addresses("token", &value)?,
                "type" if S::HAS_TOKENS => {
                    let known = standards(&value)
                        .ok_or_else(|| Problem::invalid_parameter("type", "is not a list of token standards"))?;
                    filter.types = known;
                    filter.types.sort_unstable();
                    filter.types.dedup();
                }
                "apikey" | "key" => {}
                other => return Err(Problem::invalid_parameter(other, format!("Unexpected field: {other}"))),
            }
        }
        request.format = request.format.marked(mark)?;
        Ok(request)
    }
}

/// A height in decimal or hexadecimal digits, or a name.
fn block(name: &str, text: &str) -> Result<BlockName, Problem> {
    let height = text.parse().ok().map(BlockName::Number);
    height
        .or_else(|| block_name(&Value::from(text)))
        .ok_or_else(|| Problem::invalid_parameter(name, "invalid block number"))
}

/// Addresses separated by commas, sorted and without repeats.
fn addresses(name: &str, text: &str) -> Result<Vec<Address>, Problem> {
    let one =
        |text: &str| address(&Value::from(text)).ok_or_else(|| Problem::invalid_parameter(name, "invalid address"));
    let mut addresses: Vec<Address> = text.split(',').map(one).collect::<Result<_, _>>()?;
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.len() > MAX_ALTERNATIVES {
        return Err(Problem::invalid_parameter(name, format!("at most {MAX_ALTERNATIVES} addresses")));
    }
    Ok(addresses)
}
