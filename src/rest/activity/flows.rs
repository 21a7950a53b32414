//! What an address received from others and sent to them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use axum::response::Response;

use super::activity_query::too_much;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::whole_body::json;
use trawl_core::primitives::{Address, U256};
use trawl_core::store::Head;
use trawl_json::activity::flows::{Flow, FlowList, write_flows};
use trawl_query::stats::charts::MAX_GROUPS;

/// Most flows of an answer.
const MAX_FLOWS: usize = 100;

/// A token and its kind.
pub(super) type Token = (Address, String);

/// Flows by counterparty and token; those of coins have no token.
#[derive(Debug, Default)]
pub(super) struct Flows(BTreeMap<(Address, Option<Token>), Sums>);

/// Received and sent: how often, and how much; none for a sum that does not fit 256 bits.
type Sums = ([u64; 2], [Option<U256>; 2]);

impl Flows {
    pub fn add(&mut self, counterparty: Address, token: Option<Token>, times: [u64; 2], amounts: [Option<U256>; 2]) {
        let sums = self.0.entry((counterparty, token)).or_insert(([0, 0], [Some(U256::ZERO), Some(U256::ZERO)]));
        for side in 0..2 {
            sums.0[side] += times[side];
            sums.1[side] = sums.1[side].zip(amounts[side]).and_then(|(sum, amount)| sum.checked_add(amount));
        }
    }

    /// The most frequent ones, and whether they are of all requested blocks.
    ///
    /// # Errors
    ///
    /// 422 for more flows than are added up; when the store fails.
    pub async fn answer(self, app: &App, head: &Head, is_complete: bool) -> Result<Response, Problem> {
        if self.0.len() as u64 >= MAX_GROUPS {
            return Err(too_much());
        }
        let flow = |((counterparty, token), (times, amounts))| Flow { counterparty, token, times, amounts };
        let mut flows: Vec<Flow> = self.0.into_iter().map(flow).collect();
        // Those of the same frequency stay in the order of their addresses.
        flows.sort_by_key(|flow| Reverse(flow.times.iter().sum::<u64>()));
        let all = flows.len();
        flows.truncate(MAX_FLOWS);
        let tokens = || flows.iter().filter_map(|flow| flow.token.as_ref()).map(|token| token.0);
        let mut label_query = LabelQuery::default();
        label_query.tokens.extend(tokens());
        let shown = flows.iter().map(|flow| flow.counterparty).chain(tokens());
        let (addresses, tokens, _) = app.address_info(shown, label_query, head).await?;
        Ok(json(write_flows(&FlowList { flows, all, is_complete }, &addresses, &tokens)))
    }
}
