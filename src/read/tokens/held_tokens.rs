//! The token balances of an address after the head: those that ingest counted, and the transfers after that.

use std::collections::{BTreeMap, BTreeSet};

use super::uncounted_transfers;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::{Problem, UncountedReason};
use crate::read::completeness::require_table;
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::schema::{OptionalTable, TokenTransferRow};
use trawl_core::store::Head;
use trawl_json::tokens::balances::TokenBalance;
use trawl_json::tokens::transfers::Tokens;
use trawl_query::tokens::balances::{HoldingPosition, of_holder};
use trawl_query::tokens::transfers::TransferFilter;

/// Which of the held tokens are requested.
#[derive(Debug, Default)]
pub(crate) struct HeldTokensQuery {
    /// Kinds of transfers; all if empty.
    pub types: Vec<&'static str>,
    /// The last token of the page before.
    pub beyond: Option<HoldingPosition>,
    /// Most tokens of the page.
    pub limit: u64,
}

impl HeldTokensQuery {
    /// The first tokens of all.
    pub fn first(limit: u64) -> Self {
        Self { limit, ..Self::default() }
    }
}

/// A token contract and the kind of its transfers.
type TokenKey = (Address, String);

/// A change of a balance.
pub(crate) struct Change {
    /// Height of the block.
    pub block: BlockNumber,
    /// The amount received.
    pub received: U256,
    /// The amount given.
    pub given: U256,
}

impl Change {
    /// The change of the balance of `address` by a transfer.
    pub fn of(transfer: &TokenTransferRow, address: &Address) -> Self {
        let side = |side: &Address| if side == address { transfer.value } else { U256::ZERO };
        Self { block: transfer.block_number, received: side(&transfer.to_address), given: side(&transfer.from_address) }
    }
}

/// The tokens that `address` holds, or may hold, in the order of their contracts. The zero address holds none: its
/// changes are those of the supply.
///
/// # Errors
///
/// [`Problem::LeftOut`]; [`Problem::NotCounted`] on a chain that was not loaded from its first block on, or while
/// ingest is far behind with counting; when the store fails.
pub(crate) async fn held_tokens(
    app: &App,
    head: &Head,
    address: &Address,
    query: &HeldTokensQuery,
) -> Result<Vec<TokenBalance>, Problem> {
    require_table(head, OptionalTable::TokenBalancesByHolder)?;
    let reach = uncounted_transfers::reach(app).await?;
    let changes = changes_above(app, head, address, reach, &query.types).await?;
    if address.is_zero() {
        return Ok(Vec::new());
    }
    let with_zero: Vec<Address> = changes.keys().map(|key| key.0).collect();
    let limit = query.limit + changes.len() as u64;
    let statement = of_holder(address, &query.types, query.beyond.as_ref(), &with_zero, limit);
    let counted = app.reader().rows(&statement).await?;
    let mut balances: BTreeMap<TokenKey, (BlockNumber, U256)> = BTreeMap::new();
    let is_cut = counted.len() as u64 == limit;
    for row in counted {
        balances.insert((row.token_address, row.token_type), (row.since, row.held));
    }
    // Tokens beyond the last row that was read belong to later pages.
    let last = balances.keys().next_back().cloned().filter(|_| is_cut);
    let beyond = query.beyond.as_ref().map(|beyond| (beyond.token, beyond.standard.to_owned()));
    let on_page = |key: &&TokenKey| {
        beyond.as_ref().is_none_or(|beyond| *key > beyond) && last.as_ref().is_none_or(|last| *key <= last)
    };
    for key in changes.keys().filter(on_page) {
        balances.entry(key.clone()).or_default();
    }
    let undetermined = undetermined(app, head, balances.keys()).await?;
    let balance = |(key, (since, held)): (TokenKey, (BlockNumber, U256))| {
        let changes = changes.get(&key).map(Vec::as_slice).unwrap_or_default();
        let value = after(held, changes.iter().filter(|change| change.block > since));
        let value = value.filter(|_| !undetermined.contains(&key));
        TokenBalance { token: key.0, token_type: key.1, value }
    };
    let mut held: Vec<TokenBalance> = balances.into_iter().map(balance).collect();
    held.retain(|balance| balance.value != Some(U256::ZERO));
    held.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
    Ok(held)
}

/// Kinds of transfers that one contract can have.
const KINDS: u64 = 3;

/// The balance of `address` of one token by its transfers. A contract with several kinds of transfers has a balance by
/// each of them: where they differ, the balance is unknown.
///
/// # Errors
///
/// [`Problem::NotCounted`] where transfers do not determine it; as [`held_tokens`].
pub(crate) async fn balance_by_transfers(
    app: &App,
    head: &Head,
    address: &Address,
    token: Address,
) -> Result<U256, Problem> {
    // The position before all kinds of the token.
    let beyond = Some(HoldingPosition { token, standard: "" });
    let query = HeldTokensQuery { beyond, limit: KINDS, ..HeldTokensQuery::default() };
    let (held, tokens, is_unusual) = tokio::try_join!(
        held_tokens(app, head, address, &query),
        shown_tokens(app, head, [token].into_iter()),
        uncounted_transfers::has_unusual_transfers(app, head, &token)
    )?;
    let mut by_kind: BTreeMap<&str, Option<U256>> = tokens
        .kinds(&token)
        .map(|kind| (kind, Some(U256::ZERO).filter(|_| !tokens.is_undetermined(&token, kind))))
        .collect();
    by_kind.extend(held.iter().filter(|held| held.token == token).map(|held| (held.token_type.as_str(), held.value)));
    let balances: BTreeSet<Option<U256>> = by_kind.into_values().collect();
    match (balances.len(), balances.first()) {
        (0, _) if !is_unusual => Ok(U256::ZERO),
        (1, Some(Some(balance))) if !is_unusual => Ok(*balance),
        _ => Err(Problem::NotCounted(UncountedReason::Undetermined)),
    }
}

/// The first tokens of an address, at most `most`; `None` where they are not known.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn first_tokens(
    app: &App,
    head: &Head,
    address: &Address,
    most: u64,
) -> Result<Option<Vec<TokenBalance>>, Problem> {
    match held_tokens(app, head, address, &HeldTokensQuery::first(most)).await {
        Ok(held) => Ok(Some(held)),
        Err(Problem::LeftOut(_) | Problem::NotCounted(_)) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// A balance after changes; `None` if some changes must be missing.
pub(crate) fn after<'c>(held: U256, changes: impl Iterator<Item = &'c Change>) -> Option<U256> {
    let (mut received, mut given) = (held, U256::ZERO);
    for change in changes {
        received = received.checked_add(change.received)?;
        given = given.checked_add(change.given)?;
    }
    received.checked_sub(given)
}

/// The changes by transfers above `reach`.
async fn changes_above(
    app: &App,
    head: &Head,
    address: &Address,
    reach: BlockNumber,
    types: &[&'static str],
) -> Result<BTreeMap<TokenKey, Vec<Change>>, Problem> {
    let filter = TransferFilter { types: types.to_vec(), ..TransferFilter::default() };
    let transfers = uncounted_transfers::of_address(app, head, address, reach, &filter).await?;
    let mut changes: BTreeMap<TokenKey, Vec<Change>> = BTreeMap::new();
    for transfer in transfers {
        let change = Change::of(&transfer, address);
        changes.entry((transfer.token_address, transfer.token_type)).or_default().push(change);
    }
    Ok(changes)
}

/// Those of the tokens whose transfers do not determine balances.
async fn undetermined(
    app: &App,
    head: &Head,
    keys: impl Iterator<Item = &TokenKey>,
) -> Result<BTreeSet<TokenKey>, Problem> {
    let keys: Vec<TokenKey> = keys.cloned().collect();
    let tokens = shown_tokens(app, head, keys.iter().map(|key| key.0)).await?;
    Ok(keys.into_iter().filter(|(token, kind)| tokens.is_undetermined(token, kind)).collect())
}

/// Tokens that are looked up at a time.
const LOOKUP: usize = 500;

/// The facts that are shown of tokens.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn shown_tokens(
    app: &App,
    head: &Head,
    addresses: impl Iterator<Item = Address>,
) -> Result<Tokens, Problem> {
    let mut tokens = Tokens::default();
    let addresses: Vec<Address> = addresses.collect::<BTreeSet<Address>>().into_iter().collect();
    for part in addresses.chunks(LOOKUP) {
        let mut label_query = LabelQuery::default();
        label_query.tokens.extend(part);
        let (_, found, _) = app.address_info(part.iter().copied(), label_query, head).await?;
        tokens.extend(found);
    }
    Ok(tokens)
}
