//! `/api/v2/advanced-filters/csv`: all rows that a filter allows as a file, newest first
//! (docs/reference/scans.md#exports-of-a-filter).

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::response::Response;

use super::filter::Filter;
use super::position::MovementCursor;
use super::request::FilterRequest;
use super::source::{ROWS_PER_READ, Sources};
use super::{FILTER, checked, fee, positions, selector};
use crate::app::App;
use crate::enrich::selectors::TransactionKey;
use crate::error::Problem;
use crate::http::body::{BodySender, ResponseBudget, StreamError, body};
use crate::http::csv_file::csv_file;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, ParameterGroup};
use crate::middleware::request_head::RequestHead;
use crate::middleware::requester::Requester;
use crate::read::tokens::held_tokens::shown_tokens;
use crate::rest::cursor::Cursor as _;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_json::advanced_filters::Movement;
use trawl_json::scan_rows::movements::{MOVEMENTS, TransactionOfMovement, write_movement};
use trawl_json::tokens::transfers::Tokens;
use trawl_query::account::transfers::gas;
use trawl_query::transactions::TransactionSelector;

/// What pages send along, and nothing depends on.
const IGNORED: ParameterGroup = &[("recaptcha_response", Kind::Text)];

query_parameters! {
    pub(crate) FilterExportParameters: [FILTER, MovementCursor::PARAMETERS, IGNORED];
}

/// Rows that are examined, and written with what one round of lookups says.
const ROWS_OF_PART: usize = 500;
/// How long rows of blocks that are not settled are read under one head: `follow` keeps them for two minutes.
const UNSETTLED_FOR: Duration = Duration::from_secs(60);
/// How long rows are examined of which none is allowed.
const SEARCH_FOR: Duration = Duration::from_secs(120);

/// The rows, written while they are read.
pub(in crate::rest) async fn csv(
    State(app): State<App>,
    head: RequestHead,
    Requester(client): Requester,
    query: Parameters<FilterExportParameters>,
) -> Result<Response, Problem> {
    let request = FilterRequest::read(&query)?;
    let (head, taken) = (head.get()?, Instant::now());
    let slot = app.limits().scans.enter(client).await?;
    let sources = request.sources(&app, &head, ROWS_PER_READ).await?;
    let taker = ResponseBudget { limits: Arc::clone(app.limits()), client };
    let mut rows = FilteredRows::new(app, head, request.filter, sources);
    rows.since = taken;
    // A failure of the first reads is known before the answer begins.
    let first = rows.next().await?;
    let written = body(taker, move |sender| async move {
        let _slot = slot;
        if let Err(StreamError::Problem(problem)) = write(rows, first, &sender).await {
            sender.abort(&problem).await;
        }
    });
    Ok(csv_file(written, "advanced-filters.csv"))
}

async fn write(mut rows: FilteredRows, first: Option<Vec<Movement>>, sender: &BodySender) -> Result<(), StreamError> {
    let (mut out, mut part) = (JsonWriter::new(), first);
    out.raw(MOVEMENTS);
    // At once: the first row may take a while.
    sender.flush(&mut out).await?;
    while let Some(movements) = part {
        let facts = PartFacts::load(&rows.app, &rows.head, &movements).await?;
        for movement in &movements {
            facts.write(&mut out, movement);
            sender.flush_if_full(&mut out).await?;
        }
        part = rows.next().await?;
    }
    Ok(sender.flush(&mut out).await?)
}

/// The rows that a filter allows, in parts.
struct FilteredRows {
    app: App,
    head: Arc<Head>,
    filter: Filter,
    sources: Sources,
    since: Instant,
    /// When a row was allowed.
    found: Instant,
    /// The block of the last row that was examined: the others lie in it and below.
    last: Option<BlockNumber>,
    is_done: bool,
}

impl FilteredRows {
    fn new(app: App, head: Arc<Head>, filter: Filter, sources: Sources) -> Self {
        Self { app, head, filter, sources, since: Instant::now(), found: Instant::now(), last: None, is_done: false }
    }

    /// Those of the next rows that are allowed, perhaps none of them; `None` at the end.
    ///
    /// # Errors
    ///
    /// When none was allowed for [`SEARCH_FOR`], or rows of unsettled blocks may be gone; when the store fails.
    async fn next(&mut self) -> Result<Option<Vec<Movement>>, Problem> {
        if self.is_done {
            return Ok(None);
        }
        self.require_kept()?;
        if self.found.elapsed() > SEARCH_FOR {
            return Err(Problem::TooExpensive);
        }
        let mut allowed = Vec::new();
        for _ in 0..ROWS_OF_PART {
            let Some(row) = self.sources.next(&self.app, &self.head).await? else {
                self.is_done = true;
                break;
            };
            self.last = Some(row.block_number);
            allowed.extend(Some(row).filter(|row| self.filter.allows(row)));
        }
        let rows = checked(&self.app, &self.head, &self.filter, allowed).await?;
        if !rows.is_empty() {
            self.found = Instant::now();
        }
        Ok(Some(rows))
    }

    /// Refuses to go on among blocks that are not settled when their rows may be gone.
    fn require_kept(&self) -> Result<(), Problem> {
        let is_settled = |block: BlockNumber| self.head.blocks.generation(block) == Some(0);
        let is_old = self.since.elapsed() > UNSETTLED_FOR;
        if is_old && !self.last.is_some_and(is_settled) { Err(Problem::Reorganised) } else { Ok(()) }
    }
}

/// What is shown beside the rows of a part.
#[derive(Default)]
struct PartFacts {
    calls: HashMap<TransactionKey, TransactionSelector>,
    fees: HashMap<TransactionKey, Option<U256>>,
    tokens: Tokens,
}

impl PartFacts {
    async fn load(app: &App, head: &Head, rows: &[Movement]) -> Result<Self, Problem> {
        let positions = positions(rows);
        if positions.is_empty() {
            return Ok(Self::default());
        }
        let gas = gas(&positions, &head.blocks.span());
        let (calls, gas, tokens) = tokio::try_join!(
            async { Ok::<_, Problem>(app.selectors().calls(app.reader(), positions.clone(), head).await?) },
            async { Ok::<_, Problem>(app.reader().rows(&gas).await?) },
            shown_tokens(app, head, rows.iter().filter_map(|row| row.token().copied()))
        )?;
        let fees = gas.iter().map(|row| ((row.block_number, row.transaction_index), fee(row))).collect();
        Ok(Self { calls, fees, tokens })
    }

    fn write(&self, out: &mut JsonWriter, row: &Movement) {
        let fee = self.fees.get(&(row.block_number, row.transaction_index)).copied().flatten();
        let transaction = TransactionOfMovement { selector: selector(&self.calls, row), fee };
        write_movement(out, row, &transaction, &self.tokens);
    }
}
