//! Who holds a token, or one id of it, after the head: what ingest counted, and the transfers after that.

use std::collections::BTreeMap;

use super::held_tokens::{Change, after};
use super::uncounted_transfers;
use crate::app::App;
use crate::error::{Problem, UncountedReason};
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::TokenTransferRow;
use trawl_core::store::Head;
use trawl_query::tokens::holders::{Asset, HolderPosition, among, largest};

/// Holders that are looked up at a time.
const LOOKUP: usize = 500;

/// The holders of an asset after a position, the largest first, at most `limit`. The zero address holds nothing: what
/// is there is the supply.
///
/// # Errors
///
/// [`Problem::NotCounted`] on a chain that was not loaded from its first block on, while ingest is far behind with
/// counting, and where transfers do not determine balances; when the store fails.
pub(crate) async fn holders(
    app: &App,
    head: &Head,
    asset: &Asset<'_>,
    beyond: Option<HolderPosition>,
    limit: u64,
) -> Result<Vec<HolderPosition>, Problem> {
    let reach = uncounted_transfers::reach(app).await?;
    let changes = changes_above(app, head, asset, reach).await?;
    let counted = largest(asset, beyond.as_ref(), limit + changes.len() as u64);
    let counted = app.reader().rows(&counted).await?;
    let counted = counted.into_iter().filter(|row| !changes.contains_key(&row.holder));
    let mut found: Vec<HolderPosition> =
        counted.map(|row| HolderPosition { held: row.held, holder: row.holder }).collect();
    let changed = changed(app, asset, &changes).await?;
    let is_beyond = |position: &HolderPosition| beyond.as_ref().is_none_or(|beyond| key(position) > key(beyond));
    found.extend(changed.into_iter().filter(|position| !position.held.is_zero()).filter(is_beyond));
    found.sort_by_key(key);
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// The order of the list.
fn key(position: &HolderPosition) -> (std::cmp::Reverse<U256>, Address) {
    (std::cmp::Reverse(position.held), position.holder)
}

/// Changes of balances, by holder.
type Changes = BTreeMap<Address, Vec<Change>>;

/// The changes by transfers above `reach`.
async fn changes_above(app: &App, head: &Head, asset: &Asset<'_>, reach: u64) -> Result<Changes, Problem> {
    let (Asset::Token(token, _) | Asset::Id(token, _)) = asset;
    Ok(changes(&uncounted_transfers::of_token(app, head, token, reach).await?, asset))
}

/// What transfers of an asset do to balances.
fn changes(transfers: &[TokenTransferRow], asset: &Asset<'_>) -> Changes {
    let mut changes = Changes::new();
    for transfer in transfers.iter().filter(|transfer| moves(transfer, asset)) {
        let (block, none) = (transfer.block_number, U256::ZERO);
        let mut add = |holder: Address, received, given| {
            if !holder.is_zero() {
                changes.entry(holder).or_default().push(Change { block, received, given });
            }
        };
        add(transfer.from_address, none, transfer.value);
        add(transfer.to_address, transfer.value, none);
    }
    changes
}

fn moves(transfer: &TokenTransferRow, asset: &Asset<'_>) -> bool {
    match asset {
        Asset::Token(_, standard) => transfer.token_type == *standard,
        Asset::Id(_, id) => transfer.token_type == "ERC-1155" && transfer.token_id == Some(*id),
    }
}

/// A balance before and after transfers that were not counted.
pub(super) struct BalanceAround {
    /// Who has it or had it.
    pub holder: Address,
    /// Height of the last counted change; 0 without one.
    pub since: u64,
    /// As it was counted.
    pub before: U256,
    /// With the transfers above that height; `None` if they do not determine it.
    pub after: Option<U256>,
}

/// The balances of all who take part in transfers of an asset.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn balances_around(
    app: &App,
    asset: &Asset<'_>,
    transfers: &[TokenTransferRow],
) -> Result<Vec<BalanceAround>, Problem> {
    around(app, asset, &changes(transfers, asset)).await
}

async fn around(app: &App, asset: &Asset<'_>, changes: &Changes) -> Result<Vec<BalanceAround>, Problem> {
    let holders: Vec<Address> = changes.keys().copied().collect();
    let mut counted = BTreeMap::new();
    for part in holders.chunks(LOOKUP) {
        let rows = app.reader().rows(&among(asset, part)).await?;
        counted.extend(rows.into_iter().map(|row| (row.holder, (row.since, row.held))));
    }
    let around = |(holder, changes): (&Address, &Vec<Change>)| {
        let (since, before) = counted.get(holder).copied().unwrap_or_default();
        let after = after(before, changes.iter().filter(|change| change.block > since));
        BalanceAround { holder: *holder, since, before, after }
    };
    Ok(changes.iter().map(around).collect())
}

/// What those have now whose balances have changed since they were counted.
async fn changed(app: &App, asset: &Asset<'_>, changes: &Changes) -> Result<Vec<HolderPosition>, Problem> {
    let now = |balance: BalanceAround| {
        let held = balance.after.ok_or(Problem::NotCounted(UncountedReason::Undetermined))?;
        Ok(HolderPosition { held, holder: balance.holder })
    };
    around(app, asset, changes).await?.into_iter().map(now).collect()
}
