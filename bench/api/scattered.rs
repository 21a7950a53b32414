//! About a thousand logs scattered over all blocks: a wallet as topic1, a rare topic0.

use anyhow::{Context as _, ensure};
use serde_json::json;
use trawl_core::primitives::{BlockRange, LogFilter};
use trawl_core::schema::LogRow;
use trawl_core::statement::Statement;
use trawl_query::logs::LogPage;
use trawl_query::logs::topics::Search;

use crate::bed::TestBed;
use crate::client::{Client, Request};
use crate::leg::{Leg, in_turns};
use crate::store::Store;
use crate::{hexed, sql, wide};

/// A topic at a position.
#[derive(Debug, Clone)]
pub struct Topic {
    position: usize,
    /// 64 hexadecimal digits without `0x`.
    digits: String,
    /// Logs that have it.
    pub logs: usize,
}

/// The topic at a position whose number of logs is nearest to a thousand.
pub fn find(store: &Store, position: usize) -> anyhow::Result<Topic> {
    let column = ["topic0", "topic1"].get(position).context("only topics 0 and 1 are measured")?;
    let sql = format!(
        "SELECT lower(hex({column})), count() AS logs FROM logs_by_block WHERE topics_count > {{position:UInt8}} \
         GROUP BY {column} ORDER BY abs(toInt64(logs) - 1000), {column} LIMIT 1"
    );
    let text = store.text(&sql, &[("position", position.to_string())])?;
    let (digits, logs) = text.split_once('\t').context("a log with such a topic")?;
    Ok(Topic { position, digits: digits.into(), logs: logs.parse()? })
}

impl Topic {
    /// eth_getLogs of it over all blocks.
    pub fn request(&self, url: &str, path: &str, last: u64) -> Request {
        let mut topics = vec![json!(null); self.position];
        topics.push(json!(format!("0x{}", self.digits)));
        wide::rpc(url, path, &json!({"topics": topics, "fromBlock": "0x0", "toBlock": format!("{last:#x}")}))
    }

    fn statement(&self, last: u64) -> anyhow::Result<Statement<LogRow>> {
        let mut topics = vec![Vec::new(); self.position];
        topics.push(vec![self.digits.parse()?]);
        let filter = LogFilter { addresses: Vec::new(), topics };
        let all = BlockRange::new(0, last).context("ordered")?;
        let page = LogPage::new(filter, vec![all], u64::from(u32::MAX));
        // Where the topic lies is looked up and fetched in one statement, as by one who knows that it is rare.
        let rare = page.keys().into_iter().next().map(|key| Search::At { key, blocks: Some(all), is_last: true });
        Ok(page.found_by(&rare.unwrap_or(Search::Through)).statement())
    }
}

/// Reads the topic over every leg in turn. Samples are milliseconds.
pub fn measure(
    client: &Client,
    bed: &TestBed,
    api: &str,
    topic: &Topic,
    rounds: usize,
    has_hexed: &anyhow::Result<()>,
) -> anyhow::Result<Vec<Leg>> {
    let last = bed.last_block();
    let served = topic.request(api, "/api/eth-rpc", last);
    let planned = sql::planned(&bed.store, &topic.statement(last)?);
    let answer = client.fetch(&served)?.body;
    let found = answer.windows(10).filter(|window| window == b"\"logIndex\"").count();
    ensure!(found == topic.logs, "eth_getLogs answered {found} of {} logs", topic.logs);
    let mut names = vec![TRAWL, RAW];
    let mut requests = vec![served, planned];
    if has_hexed.is_ok() {
        names.push(HEXED);
        requests.push(hexed::topic(&bed.store, topic.position, &topic.digits));
    }
    in_turns(&names, rounds, |leg| Ok(client.drain(&requests[leg])?.total * 1e3))
}

/// Names of the legs that ratios are made of.
pub const TRAWL: &str = "Trawl eth_getLogs";
/// The statement of Trawl's plan, sent to the engine.
pub const RAW: &str = "raw engine, Trawl's plan";
/// Another layout in the same engine.
pub const HEXED: &str = "hex text and bloom filters";
