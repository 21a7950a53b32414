//! `GET /api/v2/addresses/{address}/{transactions,token-transfers,internal-transactions,logs}/csv`: the rows of an
//! address between two moments, all of them, oldest first (docs/reference/scans.md#exports-of-an-address).

mod accounting;
mod columns;
mod family;

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use trawl_serve::Client;

use self::columns::{Columns, Export};
use self::family::Source;
use super::cursor::fingerprint_of;
use super::end::End;
use super::format::{Format, Mark};
use super::layout::{Layout, Listing, Logs};
use super::respond::{Scan, respond};
use crate::app::App;
use crate::error::Problem;
use crate::http::body::ResponseBudget;
use crate::http::csv_file::csv_file;
use crate::http::parameters::{AddressPath, Parameters, QueryParameters, query_parameters};
use crate::http::periods::{TimeRange, time_range};
use crate::http::query::{Kind, ParameterGroup, Query, fixed_hex};
use crate::middleware::request_head::RequestHead;
use crate::middleware::requester::Requester;
use crate::read::blocks::hashes::BlockHashes;
use crate::read::blocks::times;
use crate::read::completeness::require_table;
use crate::read::range::{Extent, RangeEnds};
use crate::read::row_stream::RowStream;
use trawl_core::primitives::{Address, B256, BlockRange, Direction};
use trawl_core::schema::OptionalTable;
use trawl_core::store::Head;
use trawl_query::scan::{
    AddressLogScan, AddressTransactionScan, InternalTransactionScan, Part, Participants, ScanPage, ScanSpec,
    TokenTransferScan,
};

const PERIOD: ParameterGroup =
    &[("from_period", Kind::Text), ("to_period", Kind::Text), ("mark", Kind::Name(&["0", "1"]))];

/// What older pages send along, and nothing depends on.
const IGNORED: ParameterGroup = &[("address_id", Kind::Text), ("recaptcha_response", Kind::Text)];

/// Clients of this API family write an absent value as nothing or as `null`.
const SIDE: ParameterGroup = &[
    ("columns", Kind::Name(&["blockscout", "accounting", "scan"])),
    ("filter_type", Kind::Name(&["address", "null", ""])),
    ("filter_value", Kind::Name(&["to", "from", "null", ""])),
];

query_parameters! {
    /// Of rows that have an address on two sides.
    pub(crate) SideParameters: [PERIOD, SIDE, IGNORED];
    /// Of logs, which are filtered by a topic.
    pub(crate) LogParameters: [
        PERIOD,
        IGNORED,
        &[
            ("columns", Kind::Name(&["blockscout", "scan"])),
            ("filter_type", Kind::Name(&["topic", "null", ""])),
            ("filter_value", Kind::Text),
        ],
    ];
}

/// A request: the account whose rows are exported, and the time.
struct Request {
    app: App,
    head: Arc<Head>,
    client: Client,
    address: Address,
    query: Query,
    time: TimeRange,
}

/// A request with the query parameters that `P` declares.
pub(crate) struct ExportSubject<P> {
    request: Request,
    declared: PhantomData<P>,
}

impl<P: QueryParameters> FromRequestParts<App> for ExportSubject<P> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Ok(head) = RequestHead::from_request_parts(parts, app).await;
        let Ok(Requester(client)) = Requester::from_request_parts(parts, app).await;
        let AddressPath(address) = AddressPath::from_request_parts(parts, app).await?;
        let query = Parameters::<P>::from_request_parts(parts, app).await?.into_query();
        let time = time_range(&query, "from_period", "to_period")?;
        let request = Request { app: app.clone(), head: head.for_range()?, client, address, query, time };
        Ok(Self { request, declared: PhantomData })
    }
}

impl Request {
    /// The side of the address.
    fn direction(&self) -> Option<Direction> {
        match self.query.name("filter_value") {
            Some("from") => Some(Direction::From),
            Some("to") => Some(Direction::To),
            _ => None,
        }
    }

    /// The address on that side.
    fn participants(&self) -> Participants {
        let address = vec![self.address];
        match self.direction() {
            Some(Direction::From) => Participants { from: address, ..Participants::default() },
            Some(Direction::To) => Participants { to: address, ..Participants::default() },
            None => Participants { any: address, ..Participants::default() },
        }
    }

    /// Whether the rows are exported with the columns for accounting.
    fn is_for_accounting(&self) -> bool {
        self.query.name("columns") == Some("accounting")
    }

    /// The topic that logs must have.
    fn topic(&self) -> Result<Option<B256>, Problem> {
        let text = self.query.text("filter_value").filter(|text| !matches!(*text, "" | "null"));
        let topic = text.map(|text| fixed_hex(text).ok_or(Problem::invalid_parameter("filter_value", "is no topic")));
        topic.transpose()
    }

    /// The blocks of the time: without a beginning from the lowest block that is loaded.
    async fn extent(&self, part: Part) -> Result<Extent, Problem> {
        let lowest = self.head.blocks.ranges().first().map_or(0, |range| range.first());
        let newest = self.head.number().unwrap_or_default();
        let loaded = BlockRange::new(lowest, newest);
        let blocks = times::within(&self.app, &self.head, self.time).await?;
        match blocks.zip(loaded).and_then(|(blocks, loaded)| blocks.intersection(loaded)) {
            Some(blocks) => Extent::between(&self.app, RangeEnds::of(blocks), &self.head, part),
            None => Ok(Extent::default()),
        }
    }
}

/// The transactions that an address takes part in.
pub(crate) async fn transactions(
    ExportSubject { request, .. }: ExportSubject<SideParameters>,
) -> Result<Response, Problem> {
    require_table(&request.head, OptionalTable::TransactionsByAddress)?;
    let scan = AddressTransactionScan { address: request.address, direction: request.direction() };
    let layout = |_| Listing::<AddressTransactionScan>::new("transactions", None);
    match request.is_for_accounting() {
        true => export::<_, _, accounting::Transactions>(request, scan, layout).await,
        false => export::<_, _, family::Transactions>(request, scan, layout).await,
    }
}

/// The token transfers that an address takes part in.
pub(crate) async fn token_transfers(
    ExportSubject { request, .. }: ExportSubject<SideParameters>,
) -> Result<Response, Problem> {
    let scan = TokenTransferScan { participants: request.participants(), ..TokenTransferScan::default() };
    let layout = |_| Listing::<TokenTransferScan>::new("token-transfers", None);
    match request.is_for_accounting() {
        true => export::<_, _, accounting::TokenTransfers>(request, scan, layout).await,
        false => export::<_, _, family::TokenTransfers>(request, scan, layout).await,
    }
}

/// The call frames that an address takes part in.
pub(crate) async fn internal_transactions(
    ExportSubject { request, .. }: ExportSubject<SideParameters>,
) -> Result<Response, Problem> {
    let scan = InternalTransactionScan { participants: request.participants() };
    let layout = |hashes| Listing::<InternalTransactionScan>::new("internal-transactions", Some(hashes));
    match request.is_for_accounting() {
        true => export::<_, _, accounting::Frames>(request, scan, layout).await,
        false => export::<_, _, family::Frames>(request, scan, layout).await,
    }
}

/// The logs that an address emitted.
pub(crate) async fn logs(ExportSubject { request, .. }: ExportSubject<LogParameters>) -> Result<Response, Problem> {
    let scan = AddressLogScan { address: request.address, topic: request.topic()? };
    export::<_, _, family::Logs>(request, scan, |_| Logs).await
}

/// The rows as CSV, written while they are read: with the columns `C`, or with those of the scans.
async fn export<S: ScanSpec, L: Layout<Row = S::Row>, C: Columns<Row = S::Row> + From<Source>>(
    request: Request,
    scan: S,
    layout: impl FnOnce(BlockHashes) -> L,
) -> Result<Response, Problem> {
    let extent = request.extent(S::PART).await?;
    let Request { app, head, client, address, query, .. } = request;
    let slot = app.limits().scans.enter(client).await?;
    let end = End::new(&app, &head, extent.range, &extent.missing).await?;
    let layout = layout(BlockHashes::open(&app, &extent.blocks).await?);
    let (stem, fingerprint) = (layout.stem(), fingerprint_of(layout.stem(), &scan.lists(), &[]));
    let stream = if extent.blocks.is_empty() {
        None
    } else {
        let page = ScanPage { scan, blocks: extent.blocks, after: None, limit: 0 };
        Some(RowStream::open(&app, page, None).await?)
    };
    let taker = ResponseBudget { limits: Arc::clone(app.limits()), client };
    let scan = Scan { taker, slot, end, fingerprint };
    let (is_own, mark) = (query.name("columns") == Some("scan"), query.name("mark"));
    // Programs that know Blockscout's columns take a closing line for a row.
    let format = Format::Csv(if mark == Some("1") || (is_own && mark.is_none()) { Mark::Line } else { Mark::Off });
    let response = if is_own {
        respond(stream, format, layout, scan)
    } else {
        let columns = C::from(Source { app, head, address });
        respond(stream, format, Export { layout, columns }, scan)
    };
    Ok(csv_file(response, &format!("{stem}-{address:#x}.csv")))
}
