//! The JSON writer alone: from rows in memory to text, against structs of text and serde.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use trawl_core::primitives::{Address, BlockRange, LogFilter, Timestamp};
use trawl_core::schema::{LogRow, LogView};
use trawl_core::store::Batch;
use trawl_json::JsonWriter;
use trawl_json::logs::write_rpc_log;
use trawl_query::logs::LogPage;

use crate::bed::TestBed;
use crate::leg::{Leg, in_turns};
use crate::wide::Contract;

/// Logs in memory.
const LOGS: u64 = 50_000;

/// Names that ratios are made of.
pub const WRITER: &str = "Trawl's writer";
/// The usual way.
pub const SERDE: &str = "serde_json, structs of text made and written";

/// The members of eth_getLogs as most programs have them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Log {
    address: String,
    topics: Vec<String>,
    data: String,
    block_number: String,
    transaction_hash: String,
    transaction_index: String,
    block_hash: String,
    block_timestamp: String,
    log_index: String,
    removed: bool,
}

/// `0x` and digits, as std writes them: what programs without a library for it do.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold("0x".to_owned(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl Log {
    fn read(logs: &LogView<'_>, row: usize, hex: fn(&[u8]) -> String) -> Self {
        let columns = [&logs.topic0, &logs.topic1, &logs.topic2, &logs.topic3];
        let topics = columns.iter().take(logs.topics_count[row].into()).map(|column| hex(column.bytes(row)));
        Self {
            address: hex(logs.address.bytes(row)),
            topics: topics.collect(),
            data: hex(logs.data.value(row)),
            block_number: format!("{:#x}", logs.block_number[row]),
            transaction_hash: hex(logs.transaction_hash.bytes(row)),
            transaction_index: format!("{:#x}", logs.transaction_index[row]),
            block_hash: hex(logs.block_hash.bytes(row)),
            block_timestamp: format!("{:#x}", Timestamp::from_micros(logs.block_timestamp[row]).seconds()),
            log_index: format!("{:#x}", logs.log_index[row]),
            removed: false,
        }
    }
}

/// Thousands of logs a second on one core, from column bytes to text.
pub fn measure(bed: &TestBed, contract: &Contract, rounds: usize) -> anyhow::Result<Vec<Leg>> {
    let batches = read(bed, contract)?;
    let views: Vec<LogView<'_>> = batches.iter().map(Batch::view).collect();
    let rows: usize = batches.iter().map(Batch::len).sum();
    let ready: Vec<Log> = views
        .iter()
        .zip(&batches)
        .flat_map(|(view, batch)| (0..batch.len()).map(|row| Log::read(view, row, hex)))
        .collect();
    let each = |visit: &mut dyn FnMut(&LogView<'_>, usize)| {
        views.iter().zip(&batches).for_each(|(view, batch)| (0..batch.len()).for_each(|row| visit(view, row)));
    };
    // Both write into the same memory again and again, a piece at a time, as an answer is written.
    let ours = || {
        let (mut writer, mut bytes) = (JsonWriter::new(), 0);
        each(&mut |view, row| {
            write_rpc_log(&mut writer, view, row);
            if writer.len() > PIECE {
                bytes += black_box(writer.take()).len();
            }
        });
        bytes + writer.len()
    };
    let serde = |log: &Log, text: &mut Vec<u8>, bytes: &mut usize| {
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(&mut *text, log);
        if text.len() > PIECE {
            *bytes += black_box(std::mem::replace(text, Vec::with_capacity(PIECE + 4096))).len();
        }
    };
    let made = |hex: fn(&[u8]) -> String| {
        let (mut text, mut bytes) = (Vec::new(), 0);
        each(&mut |view, row| serde(&Log::read(view, row, hex), &mut text, &mut bytes));
        bytes + text.len()
    };
    let written = || {
        let (mut text, mut bytes) = (Vec::new(), 0);
        ready.iter().for_each(|log| serde(log, &mut text, &mut bytes));
        bytes + text.len()
    };
    let work: [&dyn Fn() -> usize; 4] =
        [&ours, &|| made(hex), &|| made(|bytes| const_hex::encode_prefixed(bytes)), &written];
    ensure!(work.iter().all(|work| work() == ours()), "the writers disagree about the text's length");
    let names = [
        WRITER,
        SERDE,
        "the same with a vectorised library for the digits",
        "serde_json, structs of text that are there",
    ];
    in_turns(&names, rounds, |leg| {
        let (started, mut passes) = (Instant::now(), 0);
        while passes == 0 || started.elapsed() < Duration::from_millis(300) {
            black_box(work[leg]());
            passes += 1;
        }
        Ok((rows * passes) as f64 / started.elapsed().as_secs_f64() / 1e3)
    })
}

/// As much text as a piece of an answer has.
const PIECE: usize = 256 << 10;

fn read(bed: &TestBed, contract: &Contract) -> anyhow::Result<Vec<Batch<LogRow>>> {
    let filter = LogFilter { addresses: vec![contract.address.parse::<Address>()?], topics: Vec::new() };
    let blocks = vec![BlockRange::new(0, bed.last_block()).context("ordered")?];
    let statement = LogPage::new(filter, blocks, LOGS).statement();
    bed.rows(&statement)
}
