//! The token transfers of an address by counterparty and token.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::response::Response;

use super::asked::{Asked, too_much};
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::rest::page::json;
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_json::activity::{Flow, write_flows};
use trawl_query::charts::MOST_GROUPS;
use trawl_query::charts::counterparties::{newest, sums};

/// Flows of an answer, at most.
const MOST: usize = 100;

/// Transfers received and sent, and what they moved.
type Sums = ([u64; 2], [Option<U256>; 2]);

/// The flows of most transfers.
///
/// # Errors
///
/// 422 for more flows than are added up; when the store fails.
pub(super) async fn answer(app: &App, head: &Head, address: &Address, asked: &Asked) -> Result<Response, Problem> {
    let settled = asked.sums(app, head, |ranges| sums(address, ranges));
    let newest = asked.newest(app, |span| newest(address, span));
    let (settled, newest) = tokio::try_join!(settled, newest)?;
    let mut found: BTreeMap<(Address, Address, String), Sums> = BTreeMap::new();
    for row in settled {
        let (transfers, amounts) = ([row.received, row.sent], row.amounts());
        add(&mut found, (row.counterparty, row.token_address, row.token_type), transfers, amounts);
    }
    for row in newest {
        let is = [row.to_address == *address, row.from_address == *address];
        let counterparty = if is[0] { row.from_address } else { row.to_address };
        let amounts = is.map(|is| Some(if is { row.value } else { U256::ZERO }));
        add(&mut found, (counterparty, row.token_address, row.token_type), is.map(u64::from), amounts);
    }
    if found.len() as u64 >= MOST_GROUPS {
        return Err(too_much());
    }
    let flow = |((counterparty, token, token_type), (transfers, amounts))| Flow {
        counterparty,
        token,
        token_type,
        transfers,
        amounts,
    };
    let mut flows: Vec<Flow> = found.into_iter().map(flow).collect();
    // Those of as many transfers stay in the order of their addresses.
    flows.sort_by_key(|flow| Reverse(flow.transfers.iter().sum::<u64>()));
    let all = flows.len();
    flows.truncate(MOST);
    let mut wanted = LabelQuery::default();
    wanted.tokens.extend(flows.iter().map(|flow| flow.token));
    let shown = flows.iter().flat_map(|flow| [flow.counterparty, flow.token]);
    let (addresses, tokens, _) = app.address_info(shown, wanted, head).await?;
    Ok(json(write_flows(&flows, (all, asked.is_whole), &addresses, &tokens)))
}

fn add(
    found: &mut BTreeMap<(Address, Address, String), Sums>,
    key: (Address, Address, String),
    transfers: [u64; 2],
    amounts: [Option<U256>; 2],
) {
    let sums = found.entry(key).or_insert(([0, 0], [Some(U256::ZERO), Some(U256::ZERO)]));
    for side in 0..2 {
        sums.0[side] += transfers[side];
        sums.1[side] = sums.1[side].zip(amounts[side]).and_then(|(sum, amount)| sum.checked_add(amount));
    }
}
