//! The ids of a token after the head: what ingest counted, and the transfers after that.

use std::collections::BTreeMap;

use super::held_tokens::{Change, after};
use super::uncounted_transfers;
use crate::app::App;
use crate::error::{Problem, UncountedReason};
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::TokenTransferRow;
use trawl_core::store::Head;
use trawl_query::tokens::instances::{HeldId, among, of_token};

/// Ids that are looked up at a time.
const LOOKUP: usize = 500;

/// An id of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExistingId {
    /// Id of the token in its contract.
    pub id: U256,
    /// Units that were minted and not burnt.
    pub supply: U256,
    /// Who owns it, of ERC-721.
    pub owner: Option<Address>,
}

/// The ids of which there is something, the highest first, below one if it is given; at most `limit`.
///
/// # Errors
///
/// [`Problem::NotCounted`] on a chain that was not loaded from its first block on, while ingest is far behind with
/// counting, and where transfers do not determine balances; when the store fails.
pub(crate) async fn ids_of_token(
    app: &App,
    head: &Head,
    token: &Address,
    standard: &str,
    below: Option<U256>,
    limit: u64,
) -> Result<Vec<ExistingId>, Problem> {
    let mut changes = changes_above(app, head, token, standard).await?;
    let counted = of_token(token, standard, &Address::ZERO, below, limit + changes.len() as u64);
    let counted = app.reader().rows(&counted).await?;
    let mut found: Vec<ExistingId> =
        counted.iter().filter(|row| !changes.contains_key(&row.token_id)).map(ExistingId::counted).collect();
    if let Some(below) = below {
        drop(changes.split_off(&below));
    }
    found.extend(changed(app, token, standard, &changes).await?);
    found.sort_by_key(|id| std::cmp::Reverse(id.id));
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(found)
}

/// One id, if there is something of it.
///
/// # Errors
///
/// [`Problem::NotCounted`], as of [`ids_of_token`]; when the store fails.
pub(crate) async fn id_of_token(
    app: &App,
    head: &Head,
    token: &Address,
    standard: &str,
    id: U256,
) -> Result<Option<ExistingId>, Problem> {
    let mut changes = changes_above(app, head, token, standard).await?;
    let changes = BTreeMap::from([(id, changes.remove(&id).unwrap_or_default())]);
    Ok(changed(app, token, standard, &changes).await?.pop())
}

/// Transfers of ids that are not counted yet, the oldest first.
type Changes = BTreeMap<U256, Vec<TokenTransferRow>>;

async fn changes_above(app: &App, head: &Head, token: &Address, standard: &str) -> Result<Changes, Problem> {
    let reach = uncounted_transfers::reach(app).await?;
    let transfers = uncounted_transfers::of_token(app, head, token, reach).await?;
    let mut changes = Changes::new();
    for transfer in transfers.into_iter().rev().filter(|transfer| transfer.token_type == standard) {
        if let Some(id) = transfer.token_id {
            changes.entry(id).or_default().push(transfer);
        }
    }
    Ok(changes)
}

/// The ids of which there is something after transfers that were not counted.
async fn changed(app: &App, token: &Address, standard: &str, changes: &Changes) -> Result<Vec<ExistingId>, Problem> {
    let ids: Vec<U256> = changes.keys().copied().collect();
    let mut counted: BTreeMap<U256, HeldId> = BTreeMap::new();
    for part in ids.chunks(LOOKUP) {
        let rows = app.reader().rows(&among(&Address::ZERO, &[*token], part)).await?;
        counted.extend(rows.into_iter().filter(|row| row.token_type == standard).map(|row| (row.token_id, row)));
    }
    let now = |(id, transfers): (&U256, &Vec<TokenTransferRow>)| {
        let since = counted.get(id).map_or(0, |row| row.since);
        let transfers: Vec<&TokenTransferRow> =
            transfers.iter().filter(|transfer| transfer.block_number > since).collect();
        let before = counted.get(id).map(ExistingId::counted);
        let before = before.unwrap_or(ExistingId { id: *id, supply: U256::ZERO, owner: None });
        before.after(standard, &transfers).ok_or(Problem::NotCounted(UncountedReason::Undetermined))
    };
    let mut found = changes.iter().map(now).collect::<Result<Vec<ExistingId>, Problem>>()?;
    found.retain(|id| !id.supply.is_zero());
    Ok(found)
}

impl ExistingId {
    fn counted(row: &HeldId) -> Self {
        Self { id: row.token_id, supply: row.held, owner: Some(row.owner).filter(|owner| !owner.is_zero()) }
    }

    /// The id after transfers of it, the oldest first; `None` if they cannot be all there were.
    fn after(self, standard: &str, transfers: &[&TokenTransferRow]) -> Option<Self> {
        if standard == "ERC-721" {
            let owner = owner_after(self.owner, transfers)?;
            return Some(Self { supply: U256::from(owner.is_some()), owner, ..self });
        }
        // What the zero address gives is minted, and what it receives is burnt.
        let change = |transfer: &&TokenTransferRow| {
            let change = Change::of(transfer, &Address::ZERO);
            Change { received: change.given, given: change.received, ..change }
        };
        let changes: Vec<Change> = transfers.iter().map(change).collect();
        Some(Self { supply: after(self.supply, changes.iter())?, ..self })
    }
}

/// The owner of an id after transfers of it, the oldest first: after each block no balance may be negative, and all
/// together at most one, as ingest counts. `None` otherwise.
fn owner_after(mut owner: Option<Address>, transfers: &[&TokenTransferRow]) -> Option<Option<Address>> {
    for block in transfers.chunk_by(|one, next| one.block_number == next.block_number) {
        let mut held: BTreeMap<Address, i64> = owner.map(|owner| (owner, 1)).into_iter().collect();
        for transfer in block {
            *held.entry(transfer.from_address).or_default() -= 1;
            *held.entry(transfer.to_address).or_default() += 1;
        }
        held.remove(&Address::ZERO);
        held.retain(|_, units| *units != 0);
        owner = match held.iter().collect::<Vec<_>>().as_slice() {
            [] => None,
            [(holder, 1)] => Some(**holder),
            _ => return None,
        };
    }
    Some(owner)
}
