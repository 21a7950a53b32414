//! A log in the shape of JSON-RPC.

use serde::Serialize;
use tokio_postgres::Row;

use super::hex;

/// The members of a log of eth_getLogs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Log {
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

impl Log {
    /// Reads the columns in the order of the SELECT.
    pub fn read(row: &Row) -> anyhow::Result<Self> {
        let mut topics = Vec::with_capacity(4);
        for column in 1..5 {
            topics.extend(row.try_get::<_, Option<&[u8]>>(column)?.map(hex));
        }
        let quantity = |column: usize| anyhow::Ok(format!("{:#x}", row.try_get::<_, i64>(column)?));
        let small = |column: usize| anyhow::Ok(format!("{:#x}", row.try_get::<_, i32>(column)?));
        Ok(Self {
            address: hex(row.try_get(0)?),
            topics,
            data: hex(row.try_get(5)?),
            block_number: quantity(6)?,
            transaction_hash: hex(row.try_get(7)?),
            transaction_index: small(8)?,
            block_hash: hex(row.try_get(9)?),
            block_timestamp: quantity(10)?,
            log_index: small(11)?,
            removed: false,
        })
    }
}
