//! The transactions to a contract by method.

use std::collections::{BTreeMap, BTreeSet};

use alloy_primitives::Selector;

use super::activity_query::{ActivityQuery, day, too_much};
use super::names::names;
use crate::app::App;
use crate::error::Problem;
use crate::read::completeness::require_table;
use trawl_core::primitives::{Address, Direction, TransactionFee, U256};
use trawl_core::schema::OptionalTable;
use trawl_core::store::Head;
use trawl_json::activity::Methods;
use trawl_query::stats::charts::methods::{newest, sums};
use trawl_query::transactions::sorted::{MAX_SORTED, SortedBy, SortedList, size};
use trawl_query::walk::SortOrder;

/// Methods whose names are looked up: the most frequent ones.
const MAX_NAMED: usize = 100;

/// A period by its first day, and a method.
type MethodPeriod = (u64, Option<[u8; 4]>);

/// The points, by the first days of their periods and methods.
///
/// # Errors
///
/// 422 for a contract with more transactions than are added up; [`Problem::LeftOut`] without the table that has their
/// positions.
pub(super) async fn points(
    app: &App,
    head: &Head,
    contract: &Address,
    query: &ActivityQuery,
) -> Result<Vec<(u64, Methods)>, Problem> {
    require_table(head, OptionalTable::TransactionsByAddress)?;
    let received = SortedList { direction: Some(Direction::To), by: SortedBy::Value, sorting: SortOrder::LargestFirst };
    let found = app.values_of(head, &size(contract, &received, &query.span.settled)).await?;
    if found.first().is_some_and(|size| size.found > MAX_SORTED) {
        return Err(too_much());
    }
    let settled = query.sums(app, head, |ranges| sums(contract, ranges));
    let newest = query.newest(app, |span| newest(contract, span));
    let (settled, newest, addresses) = tokio::try_join!(settled, newest, app.addresses([*contract], head))?;
    // The data that is sent to an account is no call.
    let is_account = addresses.has_code(contract) == Some(false);
    let selector = |input: &[u8]| selector(input).filter(|_| !is_account);
    let mut points: BTreeMap<MethodPeriod, Methods> = BTreeMap::new();
    for row in settled {
        let failed = (row.without_status == 0).then_some(row.failed);
        let gas = (row.without_gas == 0).then_some((row.gas, row.fees));
        let position = (query.period(row.day), selector(&row.selector));
        add(&mut points, position, row.calls, failed, gas);
    }
    for row in newest {
        let status = row.status.filter(|_| row.has_receipt == 1);
        let is_known = |column: &str| row.lacking.iter().all(|lacking| lacking != column);
        let parts = ["gas_used", "effective_gas_price", "l1_fee", "operator_fee"];
        let has_gas = row.has_receipt == 1 && parts.into_iter().all(is_known);
        let used = U256::from(row.gas_used);
        let fee = TransactionFee {
            gas_used: row.gas_used,
            gas_price: row.effective_gas_price,
            l1_fee: row.l1_fee,
            operator_fee: row.operator_fee,
        };
        let gas = if has_gas { fee.total().map(|fee| (used, fee)) } else { None };
        let position = (query.period(day(row.block_timestamp)), selector(&row.input));
        add(&mut points, position, 1, status.map(|status| u64::from(status == 0)), gas);
    }
    let names = names(app, head, most_frequent(points.values())).await?;
    for point in points.values_mut() {
        point.signature = point.selector.and_then(|selector| names.get(&selector).cloned());
    }
    Ok(points.into_iter().map(|((first, _), point)| (first, point)).collect())
}

fn selector(input: &[u8]) -> Option<[u8; 4]> {
    input.first_chunk().copied()
}

fn add(
    points: &mut BTreeMap<MethodPeriod, Methods>,
    position: MethodPeriod,
    transactions: u64,
    failed: Option<u64>,
    gas: Option<(U256, U256)>,
) {
    let none = Methods {
        selector: position.1,
        signature: None,
        transactions: 0,
        failed: Some(0),
        gas: Some((U256::ZERO, U256::ZERO)),
    };
    let point = points.entry(position).or_insert(none);
    point.transactions += transactions;
    point.failed = point.failed.zip(failed).map(|(sum, failed)| sum + failed);
    point.gas = point.gas.zip(gas).map(|(sum, gas)| (sum.0.wrapping_add(gas.0), sum.1.wrapping_add(gas.1)));
}

/// The most frequent methods.
fn most_frequent<'p>(points: impl Iterator<Item = &'p Methods>) -> Vec<Selector> {
    let mut totals: BTreeMap<[u8; 4], u64> = BTreeMap::new();
    for point in points {
        if let Some(selector) = point.selector {
            *totals.entry(selector).or_default() += point.transactions;
        }
    }
    let ranked: BTreeSet<(u64, [u8; 4])> = totals.into_iter().map(|(selector, calls)| (calls, selector)).collect();
    ranked.into_iter().rev().take(MAX_NAMED).map(|(_, of)| Selector::from(of)).collect()
}
