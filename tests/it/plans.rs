//! EXPLAIN on the engine: every plan reads along its key, and few granules of it.

use anyhow::{Context as _, ensure};
use trawl_core::primitives::{
    Address, B256, BlockRange, Direction, FramePosition, LogFilter, LogPosition, TransactionPosition, TransferPosition,
};
use trawl_core::readable::Span;
use trawl_core::schema::TransactionRow;
use trawl_core::statement::{Parameter, Statement};
use trawl_query::addresses::RequestedFacts;
use trawl_query::logs::LogPage;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::walk::{Order, Walk};
use xtask::http;

use crate::chains::chain;
use crate::env;

mod account;
mod otterscan;
mod parts;
mod scans;

/// What EXPLAIN says of one read.
#[derive(Debug)]
pub struct ReadPlan {
    pub table: String,
    /// `InOrder`, `InReverseOrder` or `Default`.
    pub kind: String,
    pub keys: Vec<String>,
    /// Granules that the primary key leaves, and all.
    pub by_key: (u64, u64),
    /// Granules left by key and skip indexes.
    pub left: u64,
}

/// Explains a statement over the mainnet blocks, in the order of its reads.
fn explain<R>(statement: &Statement<R>) -> anyhow::Result<Vec<ReadPlan>> {
    explain_in(chain("mainnet").name, statement)
}

/// The same over any database.
pub fn explain_in<R>(database: &str, statement: &Statement<R>) -> anyhow::Result<Vec<ReadPlan>> {
    let settings = statement.workload.settings().iter().chain(statement.settings);
    let settings: Vec<String> = settings.map(|(name, value)| format!("{name} = {value}")).collect();
    let sql =
        format!("EXPLAIN indexes = 1, pretty = 0 {}\nSETTINGS {} FORMAT TSVRaw", statement.sql, settings.join(", "));
    let mut request = http::agent().post(env::store()).query("database", database);
    for (name, value) in &statement.parameters {
        request = request.query(format!("param_{name}"), text(value));
    }
    let mut response = request.send(&sql)?;
    let explained = response.body_mut().read_to_string()?;
    ensure!(response.status() == 200, "{explained}");
    let reads = parse(&explained).with_context(|| explained.clone())?;
    ensure!(!reads.is_empty(), "no read in\n{explained}");
    Ok(reads)
}

fn text(value: &Parameter) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    match value {
        Parameter::Number(number) => number.to_string(),
        Parameter::Addresses(_) | Parameter::Hashes(_) | Parameter::Selectors(_) | Parameter::Amounts(_) => {
            value.escaped().unwrap_or_default()
        }
        Parameter::Text(text) => text.clone(),
        Parameter::Numbers(numbers) => list(numbers.iter().map(ToString::to_string).collect()),
        Parameter::Texts(texts) => list(texts.iter().map(|text| format!("'{text}'")).collect()),
        Parameter::Ranges(ranges) => list(ranges.iter().map(|(first, last)| format!("({first},{last})")).collect()),
        Parameter::Generations(ranges) => list(ranges.iter().map(|range| format!("{range:?}")).collect()),
    }
}

fn parse(explained: &str) -> anyhow::Result<Vec<ReadPlan>> {
    let mut reads: Vec<ReadPlan> = Vec::new();
    let mut lines = explained.lines().map(|line| line.trim_start_matches(['│', '├', '└', '─', ' '])).peekable();
    while let Some(line) = lines.next() {
        if let Some(table) = line.strip_prefix("ReadFromMergeTree (") {
            let table = table.trim_end_matches(')').rsplit('.').next().unwrap_or_default().to_owned();
            reads.push(ReadPlan { table, kind: String::new(), keys: Vec::new(), by_key: (0, 0), left: 0 });
        }
        let Some(read) = reads.last_mut() else { continue };
        if let Some(kind) = line.strip_prefix("Read type: ").or_else(|| line.strip_prefix("ReadType: ")) {
            read.kind = kind.trim().into();
        }
        if line.trim() == "Keys:" {
            while let Some(key) = lines.next_if(|line| !line.contains(':')) {
                read.keys.push(key.trim().into());
            }
        }
        if let Some(granules) = line.strip_prefix("Granules: ").and_then(|granules| granules.split_once('/')) {
            let (left, all) = (granules.0.parse()?, granules.1.parse()?);
            if read.by_key == (0, 0) {
                read.by_key = (left, all);
            }
            read.left = left;
        }
    }
    Ok(reads)
}

fn only<R>(statement: &Statement<R>) -> anyhow::Result<ReadPlan> {
    let mut reads = explain(statement)?;
    ensure!(reads.len() == 1, "{reads:?}");
    reads.pop().context("one read")
}

fn head() -> u64 {
    chain("mainnet").head()
}

/// One range over everything, as over a chain without gaps.
fn everything() -> Span {
    vec![BlockRange::new(0, head()).expect("ordered")].into()
}

fn block(number: u64) -> Span {
    vec![BlockRange::single(number)].into()
}

/// Tether, the busiest emitter of the recorded blocks.
fn tether() -> Address {
    alloy_primitives::address!("0xdac17f958d2ee523a2206206994597c13d831ec7")
}

fn filter(addresses: Vec<Address>, topics: Vec<Vec<B256>>) -> LogFilter {
    LogFilter { addresses, topics }
}

#[test]
fn logs_of_an_address_read_its_range_in_order() -> anyhow::Result<()> {
    let read = only(&LogPage::new(filter(vec![tether()], Vec::new()), everything(), 1000).statement())?;
    ensure!(read.table == "logs" && read.kind == "InOrder" && read.keys == ["address", "block_number"], "{read:?}");
    ensure!(read.by_key.1 >= 10 && read.by_key.0 <= 3, "{read:?}");
    let narrow = vec![BlockRange::single(head())];
    let read = only(&LogPage::new(filter(vec![tether()], Vec::new()), narrow, 1000).statement())?;
    ensure!(read.kind == "InOrder" && read.by_key.0 <= 2, "{read:?}");
    Ok(())
}

#[test]
fn logs_of_several_addresses_read_their_ranges_in_order() -> anyhow::Result<()> {
    let others = (0..7).map(|byte| Address::repeat_byte(byte * 31));
    let addresses: Vec<Address> = others.chain([tether()]).collect();
    let reads = explain(&LogPage::new(filter(addresses, Vec::new()), everything(), 1000).statement())?;
    ensure!(reads.len() == 8, "{reads:?}");
    for read in reads {
        ensure!(read.table == "logs" && read.kind == "InOrder" && read.keys == ["address", "block_number"], "{read:?}");
        ensure!(read.by_key.0 <= 3, "{read:?}");
    }
    let many: Vec<Address> = (0..200).map(Address::repeat_byte).collect();
    let read = only(&LogPage::new(filter(many, Vec::new()), everything(), 1000).statement())?;
    ensure!(read.table == "logs_by_block" && read.kind == "InOrder" && read.left < read.by_key.0, "{read:?}");
    Ok(())
}

#[test]
fn logs_of_a_window_read_it_in_order() -> anyhow::Result<()> {
    let window = vec![BlockRange::new(15_040_708, 15_040_708).context("ordered")?];
    let read = only(&LogPage::new(LogFilter::default(), window, 1000).statement())?;
    ensure!(read.table == "logs_by_block" && read.kind == "InOrder" && read.keys == ["block_number"], "{read:?}");
    ensure!(read.by_key.0 <= 3 && read.by_key.1 >= 10, "{read:?}");
    let gaps = vec![BlockRange::single(1), BlockRange::single(15_040_708)];
    let read = only(&LogPage::new(LogFilter::default(), gaps, 1000).statement())?;
    ensure!(read.keys == ["block_number"] && read.by_key.0 < read.by_key.1, "{read:?}");
    Ok(())
}

#[test]
fn topics_skip_granules_by_bloom_filter() -> anyhow::Result<()> {
    let absent = B256::repeat_byte(0x12);
    for position in 0..4 {
        for words in [vec![absent], vec![absent, B256::repeat_byte(0x13)]] {
            let mut topics = vec![Vec::new(); position];
            topics.push(words);
            let read = only(&LogPage::new(filter(Vec::new(), topics.clone()), everything(), 1000).statement())?;
            ensure!(read.table == "logs_by_block" && read.kind == "InOrder" && read.left <= 2, "{position}: {read:?}");
            let read = only(&LogPage::new(filter(vec![tether()], topics), everything(), 1000).statement())?;
            ensure!(read.table == "logs" && read.left <= 1, "{position}: {read:?}");
        }
    }
    Ok(())
}

#[test]
fn a_log_page_continues_at_its_key() -> anyhow::Result<()> {
    let after = Some(LogPosition { block_number: 15_537_394, log_index: 9_500 });
    let page = LogPage::new(LogFilter::default(), everything(), 1000);
    let (from_start, from_key) = (only(&page.statement())?, only(&page.after(after).statement())?);
    ensure!(from_key.kind == "InOrder" && from_key.by_key.0 < from_start.by_key.0, "{from_key:?}, {from_start:?}");
    let page = LogPage::new(filter(vec![tether()], Vec::new()), everything(), 1000).after(after);
    let read = only(&page.statement())?;
    ensure!(read.kind == "InOrder" && read.keys == ["address", "block_number"] && read.by_key.0 <= 3, "{read:?}");
    let read = only(&trawl_query::logs::of_transaction(&block(15_537_394), 0, Some(100), 51))?;
    ensure!(
        read.table == "logs_by_block"
            && read.keys.contains(&"block_number".into())
            && read.keys.contains(&"log_index".into()),
        "{read:?}"
    );
    Ok(())
}

#[test]
fn lookups_by_hash_read_one_granule() -> anyhow::Result<()> {
    let line = chain("mainnet").lines.last().context("a block")?;
    let hash = |value: &serde_json::Value| value.as_str().unwrap_or_default().parse::<B256>();
    let transaction = hash(&line["block"]["transactions"][7]["hash"])?;
    let read = only(&trawl_query::transactions::by_hash(&transaction))?;
    ensure!(
        read.table == "transactions" && read.keys == ["block_number", "transaction_index"] && read.by_key.0 == 1,
        "{read:?}"
    );
    let block = hash(&line["block"]["hash"])?;
    // There are no newer blocks, so their empty table is not read.
    let read = only(&trawl_query::blocks::by_hash(&block, &Default::default()))?;
    ensure!(read.table == "blocks" && read.keys == ["block_number"] && read.by_key.0 == 1, "{read:?}");
    let database = chain("mainnet").name;
    for table in ["transactions_by_hash", "blocks_by_hash"] {
        let explained = env::sql(
            database,
            &format!("EXPLAIN indexes = 1 SELECT block_number FROM {table} WHERE hash_prefix = 1 FORMAT TSVRaw"),
        )?;
        let read = parse(&explained)?.pop().context("a read")?;
        ensure!(read.keys == ["hash_prefix"], "{read:?}");
    }
    Ok(())
}

#[test]
fn lists_read_their_keys() -> anyhow::Result<()> {
    let read = only(&trawl_query::blocks::newest(&everything(), 51))?;
    ensure!(read.table == "blocks" && read.kind == "InReverseOrder" && read.keys == ["block_number"], "{read:?}");
    let read = only(&trawl_query::blocks::at(&block(20_000_000)))?;
    ensure!(read.keys == ["block_number"] && read.by_key.0 == 1, "{read:?}");
    let read = only(&trawl_query::blocks::hashes(&block(20_000_000)))?;
    ensure!(read.keys == ["block_number"] && read.by_key.0 == 1, "{read:?}");
    let read = only(&trawl_query::stats::fees::headers(&block(20_000_000)))?;
    ensure!(read.keys == ["block_number"] && read.by_key.0 == 1, "{read:?}");
    let read = only(&trawl_query::stats::fees::payments(&block(20_000_000)))?;
    ensure!(read.table == "transactions" && read.keys[0] == "block_number" && read.by_key.0 <= 2, "{read:?}");
    let read = only(&trawl_query::stats::fees::prices(&block(20_000_000)))?;
    ensure!(read.table == "transactions" && read.keys[0] == "block_number" && read.by_key.0 <= 2, "{read:?}");
    let read = only(&trawl_query::transactions::in_block_at(&block(20_000_000), 7))?;
    ensure!(read.keys == ["block_number", "transaction_index"] && read.by_key.0 == 1, "{read:?}");
    let read = only(&trawl_query::blocks::uncles::of_nephew(&block(15_040_708), 15_040_708, &B256::ZERO))?;
    ensure!(read.table == "uncles" && read.keys[0] == "block_number" && read.by_key.0 <= 1, "{read:?}");
    let read = only(&trawl_query::blocks::uncles::newest(&everything(), 100, 51))?;
    ensure!(read.kind == "InReverseOrder" && read.keys[0] == "block_number", "{read:?}");
    for before in [None, Some(438_100)] {
        let read = only(&trawl_query::blocks::withdrawals::of_address(
            &Address::repeat_byte(0x8e),
            &everything(),
            before,
            51,
        ))?;
        ensure!(read.table == "withdrawals" && read.keys[0] == "address" && read.kind == "InReverseOrder", "{read:?}");
        let read = only(&trawl_query::blocks::withdrawals::of_block(&block(17_062_257), before, 51))?;
        ensure!(
            read.table == "withdrawals_by_block" && read.keys[0] == "block_number" && read.by_key.0 == 1,
            "{read:?}"
        );
    }
    for read in [
        only(&trawl_query::transactions::of_block(&block(20_000_000)))?,
        only(&trawl_query::transactions::hashes_of_block(&block(20_000_000)))?,
    ] {
        ensure!(read.table == "transactions" && read.keys[0] == "block_number" && read.by_key.0 <= 2, "{read:?}");
    }
    Ok(())
}

/// Every combination of filters, first page and a later one.
#[test]
fn lists_of_an_address_read_one_range_in_order() -> anyhow::Result<()> {
    let address = Address::repeat_byte(0x25);
    for direction in [None, Some(Direction::From), Some(Direction::To)] {
        for before in [None, Some(FramePosition { block_number: 15_040_708, transaction_index: 3, frame_index: 9 })] {
            let plan = trawl_query::transactions::internal::of_address(&address, direction, &everything(), before, 51);
            let read = only(&plan)?;
            ensure!(read.kind == "InReverseOrder" && read.keys[0] == "address", "{direction:?} {before:?}: {read:?}");
            ensure!(read.keys.contains(&"block_number".into()) && read.by_key.0 <= 1, "{direction:?}: {read:?}");
        }
        for (token, types) in
            [(None, vec![]), (Some(tether()), vec![]), (None, vec!["ERC-721"]), (Some(tether()), vec!["ERC-20"])]
        {
            let filter = TransferFilter { direction, token, types };
            let position = TransferPosition { block_number: 15_040_708, log_index: 3, batch_index: 0 };
            for before in [None, Some(position)] {
                let read =
                    only(&trawl_query::tokens::transfers::of_address(&address, &filter, &everything(), before, 51))?;
                let table = match (direction, token) {
                    (None, None) => "token_transfers",
                    (None, Some(_)) => "token_transfers_by_token",
                    (Some(_), _) => "token_transfers_by_direction",
                };
                ensure!(read.table == table && read.kind == "InReverseOrder", "{filter:?}: {read:?}");
                ensure!(read.keys[0] == "address" && read.by_key.0 <= 2, "{filter:?}: {read:?}");
            }
        }
    }
    let frames = only(&trawl_query::transactions::internal::of_transaction(&block(15_040_708), 3))?;
    ensure!(frames.table == "internal_transactions" && frames.keys[0] == "block_number", "{frames:?}");
    Ok(())
}

/// Whether there is a row of an address is the end of one range.
#[test]
fn pages_of_an_address_read_ends_of_ranges() -> anyhow::Result<()> {
    use trawl_query::addresses::page::{creation, frame_of_code, logs, token_receipt, token_transfer};
    let (address, blocks) = (tether(), everything());
    let reads = [
        only(&creation(&address, &blocks))?,
        only(&logs(&address, &blocks, 51))?,
        only(&frame_of_code(&address, &blocks))?,
        only(&token_transfer(&address, &blocks))?,
        only(&token_receipt(&address, &blocks))?,
    ];
    for read in reads {
        ensure!(read.kind == "InReverseOrder" && read.keys[0] == "address", "{read:?}");
    }
    let frame = only(&trawl_query::addresses::page::creation_code(&address, &block(15_040_708), 3))?;
    ensure!(frame.table == "internal_transactions" && frame.keys[0] == "block_number", "{frame:?}");
    Ok(())
}

/// The positions are a range of their own table, and the rows are found at them.
#[test]
fn transactions_of_an_address_are_found_at_their_positions() -> anyhow::Result<()> {
    let address = tether();
    for direction in [None, Some(Direction::From), Some(Direction::To)] {
        for beyond in [None, Some(TransactionPosition { block_number: 15_040_708, transaction_index: 3 })] {
            for (order, kind) in [(Order::NewestFirst, "InReverseOrder"), (Order::OldestFirst, "InOrder")] {
                let (blocks, walk) = (everything(), Walk { order, beyond, limit: 51 });
                let plan = trawl_query::transactions::positions_of_address(&tether(), direction, &blocks.settled, walk);
                let positions = only(&plan)?;
                ensure!(positions.table == "transactions_by_address", "{direction:?}: {positions:?}");
                ensure!(positions.kind == kind && positions.keys[0] == "address", "{direction:?}: {positions:?}");
                ensure!(positions.keys.contains(&"block_number".into()), "{direction:?}: {positions:?}");
                let all = trawl_query::transactions::of_address::<TransactionRow>(&tether(), direction, &blocks, walk);
                let side = direction.map(|side| (&address, side));
                let moves = trawl_query::transactions::moves(side, &blocks, walk);
                for rows in [Some(only(&all)?), direction.map(|_| only(&moves)).transpose()?].into_iter().flatten() {
                    let is_at_positions = rows.keys == ["block_number", "transaction_index"];
                    ensure!(rows.table == "transactions" && is_at_positions, "{direction:?}: {rows:?}");
                }
            }
        }
    }
    Ok(())
}

#[test]
fn transfers_of_a_token_are_found_at_the_positions_of_its_logs() -> anyhow::Result<()> {
    use trawl_query::tokens::{TokenPart, transfers, transfers_total};
    for before in [None, Some(TransferPosition { block_number: 15_040_708, log_index: 3, batch_index: 0 })] {
        for moved in [TokenPart::Token(&tether()), TokenPart::Id(&tether(), trawl_core::primitives::U256::from(7))] {
            let rows = only(&transfers(moved, &everything(), before, 51))?;
            ensure!(rows.table == "token_transfers_by_block", "{rows:?}");
            ensure!(rows.keys == ["block_number", "log_index"], "{rows:?}");
            let read = only(&transfers_total(moved, &everything().settled))?;
            ensure!(read.table == "logs" && read.keys[..2] == ["address", "block_number"], "{read:?}");
        }
    }
    Ok(())
}

/// The mainnet blocks begin with the genesis and have a gap after it: rows that a chain without one would have.
#[test]
fn what_is_known_of_tokens_is_found_by_key() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    env::sql(
        database,
        "INSERT INTO token_statistics
         SELECT toFixedString(sipHash128(number) || 'abcd', 20), 'ERC-20', number, 1, 1 FROM numbers(100000)",
    )?;
    let counted = vec![tether(), Address::repeat_byte(7)];
    let requested = RequestedFacts { counted, ..RequestedFacts::default() };
    let facts = trawl_query::addresses::facts(&requested, &everything()).context("a statement")?;
    let reads = explain(&facts)?;
    env::sql(database, "TRUNCATE TABLE token_statistics")?;
    let [read] = reads.as_slice() else { anyhow::bail!("{reads:?}") };
    ensure!(
        read.table == "token_statistics" && read.keys.first().is_some_and(|key| key == "token_address"),
        "{read:?}"
    );
    ensure!(read.by_key.0 <= 4 && read.by_key.1 > 100, "{read:?}");
    Ok(())
}
