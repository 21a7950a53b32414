//! The ids of tokens that an address has after the head: what ingest counted, and the transfers after that.

use std::collections::{BTreeMap, BTreeSet};

use super::held_tokens::{Change, after};
use super::uncounted_transfers;
use crate::app::App;
use crate::error::{Problem, UncountedReason};
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_query::tokens::balances::HoldingPosition;
use trawl_query::tokens::instances::{HeldId, IdKey, among, counts, first_of_each, of_holder, of_token};
use trawl_query::tokens::transfers::TransferFilter;

/// Ids that are looked up at a time.
const LOOKUP: usize = 500;
/// Most changed ids of all tokens whose ids are counted: the statement that counts leaves them out, and their
/// transfers are added.
const MAX_CHANGED: usize = 1000;
/// Ids that are shown of each token.
const SHOWN: usize = 9;

/// The requested ids.
#[derive(Debug)]
pub(crate) enum IdSelection {
    /// Of all tokens of these standards, in the order of the tokens and ids, beyond one if it is given.
    OfStandards(Vec<&'static str>, Option<IdKey>),
    /// Of one token, the highest first, below one if it is given.
    OfToken(Address, &'static str, Option<U256>),
}

/// The amount of an id that an address holds; `None` where the transfers do not determine it.
pub(crate) type IdAmount = (IdKey, Option<U256>);

/// The standards whose tokens have ids.
pub(crate) const STANDARDS: [&str; 2] = ["ERC-721", "ERC-1155"];

/// The ids that `holder` holds, at most `limit`. The zero address holds none: it is the other side of mints and burns.
///
/// # Errors
///
/// [`Problem::NotCounted`] on a chain that was not loaded from its first block on, or while ingest is far behind with
/// counting; when the store fails.
pub(crate) async fn ids_of_holder(
    app: &App,
    head: &Head,
    holder: &Address,
    selection: &IdSelection,
    limit: u64,
) -> Result<Vec<IdAmount>, Problem> {
    let changes = changes_above(app, head, holder, selection.filter()).await?;
    if holder.is_zero() {
        return Ok(Vec::new());
    }
    let rows = app.reader().rows(&selection.statement(holder, limit + changes.len() as u64)).await?;
    let mut found = changed(app, holder, &changes).await?;
    found.retain(|(key, _)| selection.has(key));
    found.extend(unchanged(rows, &changes));
    found.sort_by(|one, other| selection.order(&one.0, &other.0));
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

impl IdSelection {
    fn filter(&self) -> TransferFilter {
        match self {
            Self::OfStandards(types, _) => TransferFilter { types: types.clone(), ..TransferFilter::default() },
            Self::OfToken(token, standard, _) => {
                TransferFilter { types: vec![*standard], token: Some(*token), ..TransferFilter::default() }
            }
        }
    }

    fn statement(&self, holder: &Address, limit: u64) -> Statement<HeldId> {
        match self {
            Self::OfStandards(types, beyond) => of_holder(holder, types, beyond.as_ref(), limit),
            Self::OfToken(token, standard, below) => of_token(token, standard, holder, *below, limit),
        }
    }

    fn has(&self, key: &IdKey) -> bool {
        match self {
            Self::OfStandards(_, beyond) => beyond.as_ref().is_none_or(|beyond| key > beyond),
            Self::OfToken(_, _, below) => below.is_none_or(|below| key.id < below),
        }
    }

    fn order(&self, one: &IdKey, other: &IdKey) -> std::cmp::Ordering {
        match self {
            Self::OfStandards(..) => one.cmp(other),
            Self::OfToken(..) => other.cmp(one),
        }
    }
}

/// The ids of one token that an address has.
#[derive(Debug, Clone)]
pub(crate) struct HeldCollection {
    /// The token and the kind of its transfers.
    pub token: (Address, String),
    /// Number of ids; `None` where the transfers do not determine it.
    pub ids: Option<u64>,
    /// The first of them.
    pub first: Vec<IdAmount>,
}

/// The tokens of these standards of whose ids `holder` has something, in their order, beyond one if it is given; at
/// most `limit`.
///
/// # Errors
///
/// [`Problem::NotCounted`], as of [`ids_of_holder`]; when the store fails.
pub(crate) async fn collections(
    app: &App,
    head: &Head,
    holder: &Address,
    types: &[&'static str],
    beyond: Option<HoldingPosition>,
    limit: u64,
) -> Result<Vec<HeldCollection>, Problem> {
    let filter = TransferFilter { types: types.to_vec(), ..TransferFilter::default() };
    let changes = changes_above(app, head, holder, filter).await?;
    if holder.is_zero() {
        return Ok(Vec::new());
    }
    // Rows of ids that were changed are put aside, so that more are read of each token, and of more tokens.
    let mut of_each: BTreeMap<(Address, &str), u64> = BTreeMap::new();
    changes.keys().for_each(|key| *of_each.entry((key.token, key.standard.as_str())).or_default() += 1);
    let each = SHOWN as u64 + of_each.values().max().copied().unwrap_or_default();
    let rows = each * (limit + of_each.len() as u64);
    let rows = app.reader().rows(&first_of_each(holder, types, beyond.as_ref(), each, rows)).await?;
    let changed = changed(app, holder, &changes).await?;
    let mut found: BTreeMap<(Address, String), Vec<IdAmount>> = BTreeMap::new();
    for (key, value) in changed.iter().cloned().chain(unchanged(rows, &changes)) {
        found.entry((key.token, key.standard.clone())).or_default().push((key, value));
    }
    let beyond = beyond.map(|beyond| (beyond.token, beyond.standard.to_owned()));
    found.retain(|token, _| beyond.as_ref().is_none_or(|beyond| token > beyond));
    let found: Vec<_> = found.into_iter().take(usize::try_from(limit).unwrap_or(usize::MAX)).collect();
    let tokens: BTreeSet<Address> = found.iter().map(|(token, _)| token.0).collect();
    let counted = counted(app, holder, &tokens, &changes).await?;
    let collection = |(token, mut first): ((Address, String), Vec<IdAmount>)| {
        first.sort();
        first.truncate(SHOWN);
        let of_token = |(key, _): &&IdAmount| key.token == token.0 && key.standard == token.1;
        let changed: Option<Vec<U256>> = changed.iter().filter(of_token).map(|(_, value)| *value).collect();
        let unchanged = counted.get(&token).copied().unwrap_or_default();
        HeldCollection { ids: changed.map(|changed| unchanged + changed.len() as u64), token, first }
    };
    Ok(found.into_iter().map(collection).collect())
}

/// How many ids of each of the tokens `holder` has, without those that were changed since.
async fn counted(
    app: &App,
    holder: &Address,
    tokens: &BTreeSet<Address>,
    changes: &Changes,
) -> Result<BTreeMap<(Address, String), u64>, Problem> {
    let changed: Vec<IdKey> = changes.keys().filter(|key| tokens.contains(&key.token)).cloned().collect();
    if changed.len() > MAX_CHANGED {
        return Err(Problem::NotCounted(UncountedReason::Behind(uncounted_transfers::reach(app).await?)));
    }
    let tokens: Vec<Address> = tokens.iter().copied().collect();
    let rows = app.reader().rows(&counts(holder, &tokens, &changed)).await?;
    Ok(rows.into_iter().map(|row| ((row.token_address, row.token_type), row.ids)).collect())
}

/// Changes of what an address has of ids.
type Changes = BTreeMap<IdKey, Vec<Change>>;

/// The changes by transfers that are not counted yet.
async fn changes_above(app: &App, head: &Head, holder: &Address, filter: TransferFilter) -> Result<Changes, Problem> {
    let reach: BlockNumber = uncounted_transfers::reach(app).await?;
    let transfers = uncounted_transfers::of_address(app, head, holder, reach, &filter).await?;
    let mut changes = Changes::new();
    for transfer in transfers {
        let Some(id) = transfer.token_id else { continue };
        let change = Change::of(&transfer, holder);
        let key = IdKey { token: transfer.token_address, standard: transfer.token_type, id };
        changes.entry(key).or_default().push(change);
    }
    Ok(changes)
}

fn key(row: HeldId) -> IdKey {
    IdKey { token: row.token_address, standard: row.token_type, id: row.token_id }
}

/// What was counted of ids that have not changed since.
fn unchanged(rows: Vec<HeldId>, changes: &Changes) -> impl Iterator<Item = IdAmount> {
    let held = |row: HeldId| {
        let held = row.held;
        (key(row), Some(held))
    };
    rows.into_iter().map(held).filter(move |(key, _)| !changes.contains_key(key))
}

/// What there is after the changes, of those ids that were changed.
async fn changed(app: &App, holder: &Address, changes: &Changes) -> Result<Vec<IdAmount>, Problem> {
    let keys: Vec<&IdKey> = changes.keys().collect();
    let mut counted: BTreeMap<IdKey, (BlockNumber, U256)> = BTreeMap::new();
    for part in keys.chunks(LOOKUP) {
        let tokens: BTreeSet<Address> = part.iter().map(|key| key.token).collect();
        let tokens: Vec<Address> = tokens.into_iter().collect();
        let ids: Vec<U256> = part.iter().map(|key| key.id).collect();
        let rows = app.reader().rows(&among(holder, &tokens, &ids)).await?;
        counted.extend(rows.into_iter().map(|row| {
            let held = (row.since, row.held);
            (key(row), held)
        }));
    }
    let now = |(key, changes): (&IdKey, &Vec<Change>)| {
        let (since, held) = counted.get(key).copied().unwrap_or_default();
        (key.clone(), after(held, changes.iter().filter(|change| change.block > since)))
    };
    let mut found: Vec<IdAmount> = changes.iter().map(now).collect();
    found.retain(|(_, value)| *value != Some(U256::ZERO));
    Ok(found)
}
