//! User operations (ERC-4337) from the events of EntryPoints and the input of their bundles.

mod bundles;
mod operation;

pub(crate) use bundles::{BundleKey, BundleRead};

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::user_operation::{EntryPoint, OperationEvent};
use trawl_core::primitives::{Address, LogPosition};
use trawl_core::schema::{Columns, LogRow, OptionalTable};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_json::transactions::user_operations::HandledOperation;
use trawl_query::user_operations::{EventPage, EventPosition};

/// Positions in the first window of a lookup by topic; each later window has four times as many.
const FIRST_WINDOW: u64 = 4_096;
/// Windows of a page. Together they have some 22 million positions, of which a wallet has few and the busiest paymaster
/// of a chain fewer.
const MAX_WINDOWS: u32 = 7;
/// Most logs with the topic of a wallet or of a paymaster that are looked at to count its operations.
const MAX_COUNTED: u64 = 1 << 18;

/// The rows of a page of events, the newest first.
///
/// # Errors
///
/// [`Problem::TooExpensive`] if the topic has too many other logs, or when the store fails.
pub(crate) async fn events<R: Columns + 'static>(
    app: &App,
    head: &Head,
    page: EventPage<'_>,
) -> Result<Vec<R>, Problem> {
    if page.keys.is_empty() || page.transaction_index.is_some() || !head.tables.has(OptionalTable::LogTopics) {
        return app.values_of(head, &page.by_entry_point()).await;
    }
    let (mut page, mut window, mut found) = (page, FIRST_WINDOW, Vec::new());
    for _ in 0..MAX_WINDOWS {
        let (Some(rows), Some(end)) = (page.at_topic::<R>(window), page.end_of_window(window)) else { break };
        let end = async { Ok(app.reader().rows(&end).await?) };
        let (rows, end) = tokio::try_join!(app.values_of(head, &rows), end)?;
        page.limit -= rows.len() as u64;
        found.extend(rows);
        let end: Option<&EventPosition> = end.first();
        let Some(end) = end.filter(|_| page.limit > 0) else { return Ok(found) };
        page.before = Some(LogPosition { block_number: end.block_number, log_index: end.log_index.into() });
        window *= 4;
    }
    Err(Problem::TooExpensive)
}

/// How many events there are; `None` if they are too many to be counted.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn count(app: &App, head: &Head, page: EventPage<'_>) -> Result<Option<u64>, Problem> {
    let page = EventPage { limit: MAX_COUNTED, ..page };
    let (statement, end): (Statement<EventPosition>, _) = match page.at_topic(MAX_COUNTED) {
        Some(statement) if head.tables.has(OptionalTable::LogTopics) => (statement, page.end_of_window(MAX_COUNTED)),
        _ => (page.by_entry_point(), None),
    };
    let end = async {
        match &end {
            Some(end) => Ok(app.reader().rows(end).await?),
            None => Ok(Vec::new()),
        }
    };
    let (rows, end) = tokio::try_join!(app.rows_of(head, &statement), end)?;
    let count = rows.iter().map(|batch| batch.len() as u64).sum();
    Ok(Some(count).filter(|count| *count < MAX_COUNTED && end.is_empty()))
}

/// The operation of an event of an EntryPoint; `None` if it is no such event.
pub(crate) fn handled(app: &App, log: &LogRow) -> Option<HandledOperation> {
    let version = app.options().entry_points.version(&log.address)?;
    Some(HandledOperation {
        event: OperationEvent::read([&log.topic1, &log.topic2, &log.topic3], &log.data)?,
        entry_point: EntryPoint { address: log.address, version },
        block_number: log.block_number,
        log_index: log.log_index,
        transaction_index: log.transaction_index,
        transaction_hash: log.transaction_hash,
        block_hash: log.block_hash,
        timestamp: log.block_timestamp,
    })
}

/// The EntryPoints of a request: the one it names, if it is one, or all.
pub(crate) fn entry_points(app: &App, named: Option<Address>) -> Vec<Address> {
    let known = &app.options().entry_points;
    match named {
        Some(named) => known.version(&named).map(|_| named).into_iter().collect(),
        None => known.addresses(),
    }
}
