//! Pages of a thousand logs of the busiest contract: through Trawl, and the same statement sent to the engine.

use anyhow::{Context as _, ensure};
use serde_json::json;
use trawl_core::primitives::{Address, BlockRange, LogFilter, LogPosition};
use trawl_query::logs::LogPage;

use crate::bed::TestBed;
use crate::client::{Client, Request};
use crate::leg::{Leg, figure, in_turns};
use crate::report::{Bound, Report};
use crate::scans::ratio;
use crate::store::Content;
use crate::wide::{self, Contract};
use crate::{Flags, sql};

/// Logs of a page of eth_getLogs.
const SIZE: u64 = 1000;

/// Measures page 1 and page 10,000, or the deepest there is, and publishes the report.
pub fn measure(flags: &Flags) -> anyhow::Result<()> {
    let mut report = Report::new("pages", &flags.command);
    let bed = TestBed::start(flags, Content::Logs, flags.rows)?;
    let contract = wide::busiest(&bed.store)?;
    let deepest = ((contract.logs / SIZE as f64) as u64).clamp(2, 10_000);
    report.fact(format!(
        "{} generated logs; the busiest contract has {}; pages of {SIZE}; {} rounds.",
        figure(bed.size as f64),
        figure(contract.logs),
        flags.rounds
    ));
    let api = bed.api(&[])?;
    let legs = turns(&Client::new()?, &bed, &api.url, &contract, (deepest, flags.rounds))?;
    let of = |over: &str, under: &str| ratio(&legs, over, under);
    report.goal("Trawl / raw engine, page 1", of(TRAWL, RAW), Bound::AtMost(1.3));
    report.goal(
        format!("Trawl / raw engine, page {}", figure(deepest as f64)),
        of(TRAWL_DEEP, RAW_DEEP),
        Bound::AtMost(1.3),
    );
    report.goal("deep page / page 1, Trawl", of(TRAWL_DEEP, TRAWL), Bound::AtMost(1.2));
    report.goal("deep page / page 1, raw engine", of(RAW_DEEP, RAW), Bound::Unbounded);
    report.section(format!("Pages of eth_getLogs; the deep one is page {}", figure(deepest as f64)), "ms", legs);
    report.publish()?;
    Ok(())
}

/// Names that ratios are made of.
pub const RAW: &str = "raw engine, page 1";
/// Through the API.
pub const TRAWL: &str = "Trawl, page 1";
const RAW_DEEP: &str = "raw engine, deep page";
const TRAWL_DEEP: &str = "Trawl, deep page";

/// Milliseconds of both legs for page 1 and page `deepest`, in turns.
pub fn turns(
    client: &Client,
    bed: &TestBed,
    api: &str,
    contract: &Contract,
    (deepest, rounds): (u64, usize),
) -> anyhow::Result<Vec<Leg>> {
    let after = Some(position(bed, contract, deepest)?);
    let requests = [
        planned(bed, contract, None)?,
        served(bed, api, contract, None),
        planned(bed, contract, after)?,
        served(bed, api, contract, after),
    ];
    in_turns(&[RAW, TRAWL, RAW_DEEP, TRAWL_DEEP], rounds, |leg| {
        let whole = client.drain(&requests[leg])?;
        ensure!(whole.bytes > 100_000, "a page of a thousand logs has more than {} bytes", whole.bytes);
        Ok(whole.total * 1e3)
    })
}

/// The last log of the page before page `number`.
fn position(bed: &TestBed, contract: &Contract, number: u64) -> anyhow::Result<LogPosition> {
    let sql = "SELECT block_number, log_index FROM logs WHERE address = toFixedString(unhex({address:String}), 20) \
               ORDER BY block_number, log_index LIMIT 1 OFFSET {offset:UInt64}";
    let offset = (number - 1) * SIZE - 1;
    let parameters = [("address", contract.address.clone()), ("offset", offset.to_string())];
    let text = bed.store.text(sql, &parameters)?;
    let (block, log) = text.split_once('\t').context("the page exists")?;
    Ok(LogPosition { block_number: block.parse()?, log_index: log.parse()? })
}

fn planned(bed: &TestBed, contract: &Contract, after: Option<LogPosition>) -> anyhow::Result<Request> {
    let filter = LogFilter { addresses: vec![contract.address.parse::<Address>()?], topics: Vec::new() };
    let blocks = vec![BlockRange::new(0, bed.last_block()).context("ordered")?];
    Ok(sql::planned(&bed.store, &LogPage::new(filter, blocks, SIZE).after(after).statement()))
}

fn served(bed: &TestBed, api: &str, contract: &Contract, after: Option<LogPosition>) -> Request {
    let last = format!("{:#x}", bed.last_block());
    let mut filter = json!({"address": format!("0x{}", contract.address), "fromBlock": "0x0", "toBlock": last});
    if let Some(after) = after {
        let (block, log) = (format!("{:#x}", after.block_number), format!("{:#x}", after.log_index));
        filter["paging_options"] = json!({"blockNumber": block, "logIndex": log});
    }
    wide::rpc(api, "/api/eth-rpc", &filter)
}
