//! `module=stats` and `module=gastracker`.

use axum::response::Response;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::answer::{Refused, result};
use super::params::Params;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::read::block_times::{after, before};
use crate::rpc::oracle;
use trawl_core::primitives::{BlockNumber, BlockRange, Timestamp, U256};
use trawl_core::store::Head;
use trawl_json::etherscan::write_gas_oracle;

/// How much there is of a token.
pub(super) async fn token_supply(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let token = params.address("contractaddress")?;
    let mut wanted = LabelQuery::default();
    wanted.tokens.insert(token);
    let (_, tokens, _) = app.address_info([token], wanted, head).await?;
    let supply = tokens.standard(&token).and_then(|standard| tokens.total_supply(&token, standard));
    let supply = supply.ok_or_else(|| Refused::Sentence("The supply of this token is not known".into()))?;
    Ok(result(|writer| writer.decimal_256(supply)))
}

/// What is told of the coin of a chain: nothing here.
pub(super) fn not_known(what: &str) -> Refused {
    Refused::Sentence(format!("{what} is not known here"))
}

/// What the transactions of a day (UTC) paid for gas, in wei.
pub(super) async fn total_fees(app: &App, head: &Head, params: &Params) -> Result<Response, Refused> {
    let text = params.required("date")?;
    let date: Date = text.parse().map_err(|_| Refused::Sentence("Invalid date: write YYYY-MM-DD".into()))?;
    let start = date.to_zoned(TimeZone::UTC).map(|time| time.timestamp().as_second());
    let start = start.ok().and_then(|seconds| u64::try_from(seconds).ok());
    let (Some(start), Some(end)) = (start, start.and_then(|start| start.checked_add(86_400))) else {
        return Err(Refused::Sentence("Invalid date: write one since 1970".into()));
    };
    let time = |seconds| Timestamp::from_seconds(seconds).map_err(|_| Refused::Sentence("Invalid date".into()));
    let Some(next) = after(app, head, time(end)?).await? else {
        return Err(Refused::Sentence("The blocks of this day are not all known yet".into()));
    };
    let first = after(app, head, time(start)?).await?;
    let last = before(app, head, time(end - 1)?).await?;
    let range = first.zip(last).and_then(|(first, last)| BlockRange::new(first, last)).filter(|_| next > 0);
    let sum = match range {
        Some(range) => fees(app, head, range).await?,
        None => U256::ZERO,
    };
    Ok(result(|writer| writer.decimal_256(sum)))
}

/// The sum of the fees of blocks.
///
/// # Errors
///
/// When receipts of some of them are not loaded.
async fn fees(app: &App, head: &Head, range: BlockRange) -> Result<U256, Problem> {
    let missing = head.receipts.missing(range);
    if !missing.is_empty() {
        return Err(Problem::BlocksMissing(missing));
    }
    let rows = app.reader().rows(&trawl_query::blocks::transaction_fees(&head.receipts.within(range))).await?;
    let unknown = rows.iter().find(|row| row.transaction_fees.is_none() || lacks_fees(&row.lacking));
    match unknown {
        Some(row) => Err(without_fees(row.block_number)),
        None => Ok(rows.iter().filter_map(|row| row.transaction_fees).fold(U256::ZERO, U256::saturating_add)),
    }
}

fn lacks_fees(lacking: &[String]) -> bool {
    lacking.iter().any(|column| column == "transaction_fees")
}

fn without_fees(block: BlockNumber) -> Problem {
    Problem::ColumnsMissing { what: format!("block {block}"), columns: vec!["transaction_fees".into()] }
}

/// Gas prices of three speeds for the next block.
pub(super) async fn gas_oracle(app: &App, head: &Head) -> Result<Response, Refused> {
    let oracle = oracle(app, head).await?;
    let prices = oracle.tips.map(|tip| tip.saturating_add(oracle.next_base_fee));
    let base_fee = oracle.next_base_fee;
    Ok(result(|writer| write_gas_oracle(writer, (oracle.last_block, base_fee), prices, &oracle.gas_used_ratios)))
}
