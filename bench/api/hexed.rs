//! The leg of those who keep hashes as text: one ClickHouse table by block, with bloom filters on address and topics.

use crate::bed::TestBed;
use crate::client::Request;
use crate::store::Store;
use crate::{progress, sql};

/// The database of the leg's table: not the product's.
pub const DATABASE: &str = "hexed";

const CREATE: [&str; 2] = [
    "CREATE DATABASE IF NOT EXISTS hexed",
    "CREATE TABLE hexed.logs (
        block_number UInt64, log_index UInt32, transaction_index UInt32, transaction_hash String, block_hash String,
        block_timestamp DateTime, address String, topic0 Nullable(String), topic1 Nullable(String), topic2 Nullable(String),
        topic3 Nullable(String), data String,
        INDEX of_address address TYPE bloom_filter(0.01) GRANULARITY 1, INDEX of_topic0 topic0 TYPE bloom_filter(0.01) GRANULARITY 1,
        INDEX of_topic1 topic1 TYPE bloom_filter(0.01) GRANULARITY 1, INDEX of_topic2 topic2 TYPE bloom_filter(0.01) GRANULARITY 1,
        INDEX of_topic3 topic3 TYPE bloom_filter(0.01) GRANULARITY 1)
     ENGINE = MergeTree ORDER BY (block_number, log_index)",
];

const FILL: &str = "INSERT INTO hexed.logs
    WITH x -> concat('0x', lower(hex(x))) AS text
    SELECT block_number, log_index, transaction_index, text(transaction_hash), text(block_hash), toDateTime(block_timestamp), text(address),
        if(topics_count > 0, text(topic0), NULL), if(topics_count > 1, text(topic1), NULL),
        if(topics_count > 2, text(topic2), NULL), if(topics_count > 3, text(topic3), NULL), text(data)
    FROM logs_by_block";

/// Fills the table from the product's, unless that was done.
pub fn ensure(bed: &TestBed) -> anyhow::Result<()> {
    let mark = bed.folder().join("hexed-complete");
    if mark.exists() {
        return Ok(());
    }
    progress("filling the table of hexadecimal text");
    bed.store.text("DROP DATABASE IF EXISTS hexed SYNC", &[])?;
    for statement in CREATE {
        bed.store.text(statement, &[])?;
    }
    bed.store.text(FILL, &[])?;
    bed.store.text("OPTIMIZE TABLE hexed.logs FINAL", &[])?;
    Ok(std::fs::write(mark, "")?)
}

/// All logs of a contract, JSON by the engine.
pub fn contract(store: &Store, address: &str) -> Request {
    let sql = "SELECT * FROM hexed.logs WHERE address = {address:String} ORDER BY block_number, log_index";
    sql::raw(store, sql, &[("address", format!("0x{address}"))], "JSONEachRow", &[])
}

/// All logs with a topic.
pub fn topic(store: &Store, position: usize, digits: &str) -> Request {
    let sql =
        format!("SELECT * FROM hexed.logs WHERE topic{position} = {{topic:String}} ORDER BY block_number, log_index");
    sql::raw(store, &sql, &[("topic", format!("0x{digits}"))], "JSONEachRow", &[])
}
