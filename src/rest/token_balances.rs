//! `/api/v2/addresses/{address}/token-balances` and `…/tokens`.

use std::collections::BTreeSet;

use axum::extract::{Path, RawQuery, State};
use axum::response::Response;

use super::cursor::{Cursor, HoldingCursor};
use super::page::json;
use super::params::{Declared, Kind, PAGE_SIZE, Query, address};
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::request_head::RequestHead;
use trawl_core::primitives::{Address, BlockNumber};
use trawl_core::store::Head;
use trawl_json::list::write_page;
use trawl_json::token_transfers::Tokens;
use trawl_json::tokens::write_holding;
use trawl_json::{Array, JsonWriter};
use trawl_query::token_balances::{Holding, HoldingPosition, of_holder};

/// Most items of the list without pages.
const MOST: u64 = 5000;
/// Tokens that are looked up at a time.
const LOOKUP: usize = 500;
/// How many settled blocks the count of transfers may be behind: what it tells is taken for what is now.
const MOST_BEHIND: BlockNumber = 1000;

/// All that an address holds, without pages (docs/reference/http-contract.md#token-balances).
pub(super) async fn token_balances(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    Query::read(query.as_deref().unwrap_or(""), &[])?;
    let head = head.get()?;
    let held = held(&app, &head, &address, (&[], None, MOST + 1)).await?;
    if held.len() as u64 > MOST {
        return Err(Problem::TooExpensive);
    }
    let items = Holdings::load(&app, &head, held).await?;
    let mut writer = JsonWriter::new();
    writer.array(|list| items.write(list));
    Ok(json(writer.into_bytes()))
}

pub(crate) const TOKENS: &[Declared] = &[&[("type", Kind::Standards)], HoldingCursor::PARAMETERS, PAGE_SIZE];

/// What an address holds, in the order of the tokens (docs/reference/http-contract.md#token-balances).
pub(super) async fn tokens(
    State(app): State<App>,
    head: RequestHead,
    Path(hash): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Problem> {
    let address = address(&hash)?;
    let query = Query::read(query.as_deref().unwrap_or(""), TOKENS)?;
    let after = HoldingCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let standards = query.standards("type");
    let mut held = held(&app, &head, &address, (&standards, after.as_ref(), size + 1)).await?;
    let has_more = held.len() as u64 > size;
    held.truncate(usize::try_from(size).unwrap_or(usize::MAX));
    let last = held.last().filter(|_| has_more).and_then(HoldingCursor::of);
    let items = Holdings::load(&app, &head, held).await?;
    let next = last.map(|cursor| cursor.writer(size));
    Ok(json(write_page(|list| items.write(list), next)))
}

/// Which part of a list: standards, the place after which, and how many at most.
type Part<'p> = (&'p [&'static str], Option<&'p HoldingPosition>, u64);

/// What an address holds as of the last settled block that was counted.
///
/// # Errors
///
/// [`Problem::LeftOut`] and [`Problem::NotCounted`]; when the store fails.
async fn held(app: &App, head: &Head, address: &Address, part: Part<'_>) -> Result<Vec<Holding>, Problem> {
    if !head.token_balances_by_holder {
        return Err(Problem::LeftOut("token_balances_by_holder"));
    }
    require_counted(app, head).await?;
    if address.is_zero() {
        // What is there is the supply of tokens: nobody holds what was burnt.
        return Ok(Vec::new());
    }
    let (standards, after, limit) = part;
    Ok(app.reader().rows(&of_holder(address, standards, after, limit)).await?)
}

/// How many tokens an address holds, at most `most`; `None` where that is not known.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn count(app: &App, head: &Head, address: &Address, most: u64) -> Result<Option<u64>, Problem> {
    match held(app, head, address, (&[], None, most)).await {
        Ok(held) => Ok(Some(held.len() as u64)),
        Err(Problem::LeftOut(_) | Problem::NotCounted(_)) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// Requires that the transfers of all settled blocks are counted, but for the last [`MOST_BEHIND`].
///
/// # Errors
///
/// [`Problem::NotCounted`]; when the store fails.
pub(super) async fn require_counted(app: &App, head: &Head) -> Result<(), Problem> {
    let reach = if head.token_steps == 0 { None } else { app.reader().token_progress().await?.reach };
    let settled = head.blocks.settled().head().unwrap_or_default();
    match reach {
        Some(reach) if reach.saturating_add(MOST_BEHIND) >= settled => Ok(()),
        reach => Err(Problem::NotCounted(reach)),
    }
}

/// Holdings with what is shown of their tokens.
struct Holdings {
    held: Vec<Holding>,
    tokens: Tokens,
}

impl Holdings {
    async fn load(app: &App, head: &Head, held: Vec<Holding>) -> Result<Self, Problem> {
        let mut tokens = Tokens::default();
        for part in held.chunks(LOOKUP) {
            let of_part: BTreeSet<Address> = part.iter().map(|holding| holding.token_address).collect();
            let mut wanted = LabelQuery::default();
            wanted.tokens.clone_from(&of_part);
            let (_, found, _) = app.address_info(of_part, wanted, head).await?;
            tokens.extend(found);
        }
        Ok(Self { held, tokens })
    }

    fn write(&self, list: &mut Array<'_>) {
        for holding in &self.held {
            let of = (&holding.token_address, holding.token_type.as_str(), holding.balance);
            write_holding(list.item(), of, &self.tokens);
        }
    }
}
