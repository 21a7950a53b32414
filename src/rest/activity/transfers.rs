//! The transfers of a token.

use std::collections::{BTreeMap, BTreeSet};

use super::activity_query::{ActivityQuery, day};
use super::transactions::MAX_PERIODS;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, BlockNumber, U256};
use trawl_core::store::Head;
use trawl_json::activity::Transfers;
use trawl_query::stats::charts::participants;
use trawl_query::stats::charts::participants::{MAX_TRANSFERS, ParticipantSum};
use trawl_query::stats::charts::transfers::{TransferSum, newest, sums};

/// The points, by the first days of their periods.
pub(super) async fn points(
    app: &App,
    head: &Head,
    token: &Address,
    query: &ActivityQuery,
) -> Result<Vec<(u64, Transfers)>, Problem> {
    let settled = query.sums(app, head, |ranges| sums(token, ranges));
    let newest = query.newest(app, |span| newest(token, span));
    let (settled, newest) = tokio::try_join!(settled, newest)?;
    let participants = participants(app, head, token, query, &settled).await?;
    let mut points: BTreeMap<u64, Transfers> = BTreeMap::new();
    for row in settled {
        add(&mut points, query.period(row.day), [row.transfers, row.mints, row.burns], row.amount());
    }
    for row in newest {
        let [mints, burns] = [row.from_address, row.to_address].map(|side| u64::from(side.is_zero()));
        let amount = (row.token_type == "ERC-20").then_some(row.value);
        add(&mut points, query.period(day(row.block_timestamp)), [1, mints, burns], amount);
    }
    for (day, row) in participants {
        if let Some(point) = points.get_mut(&day) {
            (point.senders, point.receivers) = (Some(row.senders), Some(row.receivers));
        }
    }
    Ok(points.into_iter().collect())
}

/// The numbers of senders and receivers in the periods whose blocks are settled, unless there are too many transfers or
/// periods with transfers.
async fn participants(
    app: &App,
    head: &Head,
    token: &Address,
    query: &ActivityQuery,
    settled: &[TransferSum],
) -> Result<Vec<(u64, ParticipantSum)>, Problem> {
    let periods = query.settled_periods();
    let with_some: BTreeSet<u64> = settled.iter().map(|row| query.period(row.day)).collect();
    let starts: Vec<BlockNumber> =
        periods.starts.iter().filter(|(day, _)| with_some.contains(day)).map(|(_, start)| *start).collect();
    let transfers: u64 = settled.iter().map(|row| row.transfers).sum();
    if starts.is_empty() || starts.len() > MAX_PERIODS || transfers > MAX_TRANSFERS {
        return Ok(Vec::new());
    }
    // The newest settled period continues in blocks that are not settled, if there are any.
    let is_settled = query.span.without_settled().is_empty();
    let blocks = if is_settled { &query.span.settled } else { &periods.over };
    let rows = app.values_of(head, &participants::sums(token, &starts, blocks)).await?;
    Ok(rows.into_iter().filter_map(|row| Some((periods.day(row.start)?, row))).collect())
}

fn add(points: &mut BTreeMap<u64, Transfers>, first: u64, [transfers, mints, burns]: [u64; 3], amount: Option<U256>) {
    let none = Transfers { transfers: 0, mints: 0, burns: 0, amount: Some(U256::ZERO), senders: None, receivers: None };
    let point = points.entry(first).or_insert(none);
    point.transfers += transfers;
    point.mints += mints;
    point.burns += burns;
    point.amount = point.amount.zip(amount).and_then(|(sum, amount)| sum.checked_add(amount));
}
