//! The transfers of a token.

use std::collections::BTreeMap;

use super::asked::{Asked, day};
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_json::activity::Transfers;
use trawl_query::charts::transfers::{newest, sums};

/// The points, by the first days of their periods.
pub(super) async fn points(
    app: &App,
    head: &Head,
    token: &Address,
    asked: &Asked,
) -> Result<Vec<(u64, Transfers)>, Problem> {
    let settled = asked.sums(app, head, |ranges| sums(token, ranges));
    let newest = asked.newest(app, |span| newest(token, span));
    let (settled, newest) = tokio::try_join!(settled, newest)?;
    let mut points: BTreeMap<u64, Transfers> = BTreeMap::new();
    for row in settled {
        add(&mut points, asked.period(row.day), [row.transfers, row.mints, row.burns], row.amount());
    }
    for row in newest {
        let [mints, burns] = [row.from_address, row.to_address].map(|side| u64::from(side.is_zero()));
        let amount = (row.token_type == "ERC-20").then_some(row.value);
        add(&mut points, asked.period(day(row.block_timestamp)), [1, mints, burns], amount);
    }
    Ok(points.into_iter().collect())
}

fn add(points: &mut BTreeMap<u64, Transfers>, first: u64, [transfers, mints, burns]: [u64; 3], amount: Option<U256>) {
    let none = Transfers { transfers: 0, mints: 0, burns: 0, amount: Some(U256::ZERO) };
    let point = points.entry(first).or_insert(none);
    point.transfers += transfers;
    point.mints += mints;
    point.burns += burns;
    point.amount = point.amount.zip(amount).and_then(|(sum, amount)| sum.checked_add(amount));
}
