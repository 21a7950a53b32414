//! `/api/v2/stats/hot-smart-contracts`: the contracts that most transactions called in some time.

use std::sync::Arc;

use axum::extract::State as AppState;
use axum::response::Response;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use revm::primitives::KECCAK_EMPTY;

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, ParameterGroup, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::blocks::times::after;
use crate::read::state::State;
use crate::rest::cursor::{Cursor, missing};
use crate::rest::list::sort_order;
use crate::rest::page::empty_page;
use trawl_core::primitives::{Address, BlockNumber, BlockRange, Timestamp, U256};
use trawl_core::schema::BlockPart;
use trawl_core::store::Head;
use trawl_evm::Account;
use trawl_json::addresses::address::Addresses;
use trawl_json::contracts::hot_contracts::HotContract;
use trawl_json::list::write_page;
use trawl_json::{Array, Object};
use trawl_query::addresses::page::logs;
use trawl_query::blocks::times;
use trawl_query::contracts::hot_contracts::{CalledBy, CalledContract, MAX_TRANSACTIONS, called, size};
use trawl_query::walk::SortOrder;

const SCALES: [(&str, u64); 6] =
    [("5m", 300), ("1h", 3_600), ("3h", 10_800), ("1d", 86_400), ("7d", 604_800), ("30d", 2_592_000)];

query_parameters! {
    pub(crate) HotContractsParameters: [
        &[
            ("scale", Kind::Name(&["5m", "1h", "3h", "1d", "7d", "30d"])),
            ("sort", Kind::Name(&["transactions_count", "total_gas_used"])),
            ("order", Kind::Name(&["desc", "asc"])),
        ],
        HotCursor::PARAMETERS,
        PAGE_SIZE,
    ];
}

/// The last contract of a page, and its sums.
struct HotCursor {
    contract: Address,
    transactions: u64,
    gas: u64,
}

impl Cursor for HotCursor {
    const PARAMETERS: ParameterGroup = &[
        ("contract_address_hash", Kind::Address),
        ("transactions_count", Kind::Height),
        ("total_gas_used", Kind::Height),
    ];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["transactions_count", "total_gas_used"])?;
        let sums = query.height("transactions_count").zip(query.height("total_gas_used"));
        match (query.address("contract_address_hash"), sums) {
            (Some(contract), Some((transactions, gas))) => Ok(Some(Self { contract, transactions, gas })),
            (None, None) => Ok(None),
            (Some(_), None) => Err(missing("transactions_count")),
            (None, Some(_)) => Err(missing("contract_address_hash")),
        }
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("contract_address_hash").string(&self.contract.to_checksum(None));
        next.key("items_count").number(count);
        next.key("total_gas_used").number(self.gas);
        next.key("transactions_count").number(self.transactions);
    }
}

/// Addresses whose facts are read at a time.
const ADDRESSES_AT_ONCE: usize = 200;
/// Addresses whose logs are looked up at the same time.
const LOOKUPS_AT_ONCE: usize = 16;

/// The contracts that were called most (docs/reference/http-contract.md#figures).
pub(in crate::rest) async fn hot_contracts(
    AppState(app): AppState<App>,
    head: RequestHead,
    query: Parameters<HotContractsParameters>,
) -> Result<Response, Problem> {
    let beyond = HotCursor::read(&query)?;
    let (head, count) = (head.get()?, query.page_size());
    let scale = query.name("scale").unwrap_or("1d");
    let seconds = SCALES.iter().find(|(name, _)| *name == scale).map_or(0, |(_, seconds)| *seconds);
    let by = if query.name("sort") == Some("total_gas_used") { CalledBy::Gas } else { CalledBy::Transactions };
    let sorting = sort_order(&query);
    let Some(range) = window(&app, &head, seconds).await? else { return Ok(empty_page()) };
    let has_gas = has_receipts(&head, range, by)?;
    require_bounded(&app, &head, range).await?;
    let rows = app.values_of(&head, &called(range, by, sorting)).await?;
    let rows: Vec<CalledContract> =
        rows.into_iter().filter(|row| beyond.as_ref().is_none_or(|one| is_behind(row, one, by, sorting))).collect();
    let page_size = usize::try_from(count).unwrap_or(usize::MAX);
    let (mut found, addresses) = contracts(&app, &head, rows, page_size + 1).await?;
    let has_more = found.len() > page_size;
    found.truncate(page_size);
    let last = found.last().filter(|_| has_more).map(|contract| &contract.row);
    let cursor =
        |row: &CalledContract| HotCursor { contract: row.address, transactions: row.transactions, gas: row.gas };
    let next = last.map(|row| cursor(row).writer(found.len() as u64));
    let write = |list: &mut Array<'_>| {
        for Contract { row, balance } in &found {
            let gas = has_gas.then_some(row.gas);
            let item = HotContract { address: row.address, transactions: row.transactions, gas, balance: *balance };
            item.write(list.item(), &addresses);
        }
    };
    Ok(json(write_page(write, next)))
}

/// The settled blocks of the last `seconds` seconds. They end with the newest settled block whose number is one below a
/// multiple of a power of two, at most a 128th of them: as a chain grows, the statement stays the same for a while, and
/// its rows are cached.
async fn window(app: &App, head: &Head, seconds: u64) -> Result<Option<BlockRange>, Problem> {
    let Some(newest) = head.blocks.settled().head() else { return Ok(None) };
    let Some(range) = since(app, head, newest, seconds).await? else { return Ok(None) };
    let step = 1_u64 << (range.count() / 128).checked_ilog2().unwrap_or(0);
    let last = ((newest + 1) / step * step).saturating_sub(1);
    if last == newest { Ok(Some(range)) } else { since(app, head, last, seconds).await }
}

/// The blocks of the last `seconds` seconds up to a readable one, without a block that is exactly that old.
///
/// # Errors
///
/// When some of them are not readable.
async fn since(app: &App, head: &Head, last: BlockNumber, seconds: u64) -> Result<Option<BlockRange>, Problem> {
    let times = app.reader().rows(&times(&[last].into(), &head.blocks.span())).await?;
    let time = times.iter().find(|row| row.block_number == last).ok_or(Problem::Reorganised)?.timestamp;
    let micros = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000_000);
    let begin = Timestamp::from_micros(time.micros().saturating_sub(micros).saturating_add(1));
    let first = after(app, head, begin).await?.unwrap_or(last);
    let Some(range) = BlockRange::new(first, last) else { return Ok(None) };
    let missing = head.blocks.missing(range);
    if missing.is_empty() { Ok(Some(range)) } else { Err(Problem::BlocksMissing(missing)) }
}

/// Whether the gas used is known.
///
/// # Errors
///
/// [`Problem::PartMissing`] if it is not, and the list is sorted by it.
fn has_receipts(head: &Head, range: BlockRange, by: CalledBy) -> Result<bool, Problem> {
    match (head.receipts.missing(range).first(), by) {
        (None, _) => Ok(true),
        (Some(_), CalledBy::Transactions) => Ok(false),
        (Some(missing), CalledBy::Gas) => {
            Err(Problem::PartMissing { part: BlockPart::Receipts, block: missing.first() })
        }
    }
}

/// Requires that there are not more transactions than are added up.
async fn require_bounded(app: &App, head: &Head, range: BlockRange) -> Result<(), Problem> {
    let size = app.values_of(head, &size(&[range])).await?;
    if size.first().is_some_and(|size| size.transactions > MAX_TRANSACTIONS) {
        let detail = format!("This time has more than {MAX_TRANSACTIONS} transactions; use a shorter one");
        return Err(Problem::invalid_parameter("scale", detail));
    }
    Ok(())
}

/// Whether a row comes after the last one of a page.
fn is_behind(row: &CalledContract, last: &HotCursor, by: CalledBy, sorting: SortOrder) -> bool {
    let (own, other) = match by {
        CalledBy::Transactions => (row.transactions, last.transactions),
        CalledBy::Gas => (row.gas, last.gas),
    };
    let is_beyond = if sorting == SortOrder::SmallestFirst { own > other } else { own < other };
    is_beyond || (own == other && row.address > last.contract)
}

/// A row of a contract, and its balance in wei after the head, if that is known.
struct Contract {
    row: CalledContract,
    balance: Option<U256>,
}

/// A row that may be of a contract.
struct Candidate {
    row: CalledContract,
    /// The account after the head, if its state is known.
    account: Option<Account>,
    /// Whether the account, or other facts, show that it is a contract.
    is_contract: bool,
}

/// The first `most` contracts among the rows, in their order.
async fn contracts(
    app: &App,
    head: &Arc<Head>,
    rows: Vec<CalledContract>,
    most: usize,
) -> Result<(Vec<Contract>, Addresses), Problem> {
    let state = match State::after(app, head.number().unwrap_or_default(), head).await {
        Ok(state) => Some(state),
        Err(Problem::StateMissing(_)) => None,
        Err(problem) => return Err(problem),
    };
    let (mut found, mut known) = (Vec::new(), Addresses::default());
    for part in rows.chunks(ADDRESSES_AT_ONCE) {
        let shown: Vec<Address> = part.iter().map(|row| row.address).collect();
        let accounts = async {
            match &state {
                Some(state) => state.accounts_of(&shown).await.map(Some),
                None => Ok(None),
            }
        };
        let (addresses, accounts) = tokio::try_join!(app.addresses(shown.iter().copied(), head), accounts)?;
        // A row of its own for each future: borrowed ones would keep the request from moving between threads.
        let lookups: Vec<_> = part
            .iter()
            .enumerate()
            .filter_map(|(at, row)| {
                let account = accounts.as_ref().and_then(|accounts| accounts.get(at)).copied();
                let has_code = account.is_some_and(|account| account.code_hash != KECCAK_EMPTY);
                let is_contract = has_code || addresses.is_contract(&row.address);
                // On some chains a plain transfer has a log too, which is another contract's; an account that delegated
                // once has logs of its own.
                let may_be = row.logs > 0 && addresses.has_code(&row.address) != Some(false);
                (is_contract || may_be).then(|| Candidate { row: row.clone(), account, is_contract })
            })
            .map(|candidate| contract(app, head, candidate))
            .collect();
        let contracts: Vec<Option<Contract>> = stream::iter(lookups).buffered(LOOKUPS_AT_ONCE).try_collect().await?;
        found.extend(contracts.into_iter().flatten());
        known.0.extend(addresses.0);
        if found.len() >= most {
            found.truncate(most);
            break;
        }
    }
    Ok((found, known))
}

/// The contract of a row: one that is known as such or has code after the head, or else one that emitted a log.
async fn contract(
    app: &App,
    head: &Head,
    Candidate { row, account, is_contract }: Candidate,
) -> Result<Option<Contract>, Problem> {
    let is_contract = is_contract || has_emitted(app, head, &row.address).await?;
    Ok(is_contract.then(|| Contract { row, balance: account.map(|account| account.balance) }))
}

async fn has_emitted(app: &App, head: &Head, address: &Address) -> Result<bool, Problem> {
    Ok(!app.reader().rows(&logs(address, &head.receipts.span(), 1)).await?.is_empty())
}
