//! `/api/v2/addresses/{address}/…`.

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;

use super::params::{Declared, Kind, Query, address};
use super::withdrawals_page;
use crate::api::{App, Problem};
use crate::json::withdrawals::Scope;
use crate::query;

const WITHDRAWALS: Declared = &[("index", Kind::Integer), ("items_count", Kind::Count)];

/// The withdrawals to one address (specification 4.6). An address nobody ever used has an empty list.
pub(super) async fn withdrawals(
    State(app): State<App>,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), WITHDRAWALS)?;
    let head = app.head()?;
    let size = query.page_size();
    let blocks = head.withdrawals.span();
    let statement = |before| query::withdrawals::of_address(&address, &blocks, before, size + 1);
    withdrawals_page(&app, &query, size, Scope::Address, statement).await
}
