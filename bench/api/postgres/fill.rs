//! Fills PostgreSQL with the rows that the engine holds, by COPY, and makes the indexes behind it.

use std::io::Read as _;
use std::pin::pin;
use std::time::Instant;

use axum::body::Bytes;
use futures_util::SinkExt as _;

use super::cluster::Cluster;
use crate::bed::TestBed;
use crate::progress;
use crate::store::Content;

/// A table: how it is made, what fills it, what is done when it is full.
struct Table {
    name: &'static str,
    create: &'static str,
    /// Rows as COPY reads them: the engine escapes tab-separated text as PostgreSQL does.
    rows: &'static str,
    finish: &'static [&'static str],
}

const LOGS: &[Table] = &[Table {
    name: "logs",
    create: "CREATE TABLE logs (
        address bytea NOT NULL, block_number bigint NOT NULL, log_index integer NOT NULL, transaction_index integer NOT NULL,
        transaction_hash bytea NOT NULL, block_hash bytea NOT NULL, block_timestamp bigint NOT NULL,
        topic0 bytea, topic1 bytea, topic2 bytea, topic3 bytea, data bytea NOT NULL)",
    rows: "WITH x -> concat('\\\\x', lower(hex(x))) AS text
        SELECT text(address), block_number, log_index, transaction_index, text(transaction_hash), text(block_hash),
            toUnixTimestamp(block_timestamp), if(topics_count > 0, text(topic0), NULL), if(topics_count > 1, text(topic1), NULL),
            if(topics_count > 2, text(topic2), NULL), if(topics_count > 3, text(topic3), NULL), text(data)
        FROM logs_by_block ORDER BY block_number, log_index",
    finish: &[
        "ALTER TABLE logs ADD PRIMARY KEY (block_number, log_index)",
        "CREATE INDEX ON logs (address, block_number, log_index)",
        "CREATE INDEX ON logs (topic0, block_number, log_index)",
        "CREATE INDEX ON logs (topic1, block_number, log_index)",
        "CREATE INDEX ON logs (topic2, block_number, log_index)",
        "CREATE INDEX ON logs (topic3, block_number, log_index)",
    ],
}];

const TRANSFERS: &[Table] = &[
    Table {
        name: "token_transfers",
        create: "CREATE TABLE token_transfers (
            address bytea NOT NULL, block_number bigint NOT NULL, log_index integer NOT NULL, batch_index integer NOT NULL,
            transaction_index integer NOT NULL, transaction_hash bytea NOT NULL, block_hash bytea NOT NULL,
            block_timestamp timestamp NOT NULL, token_type text NOT NULL, token_address bytea NOT NULL,
            from_address bytea NOT NULL, to_address bytea NOT NULL, token_id numeric, value numeric NOT NULL)",
        rows: "WITH x -> concat('\\\\x', lower(hex(x))) AS text
            SELECT text(address), block_number, log_index, batch_index, transaction_index, text(transaction_hash), text(block_hash),
                toDateTime(block_timestamp), token_type, text(token_address), text(from_address), text(to_address), token_id, value
            FROM token_transfers ORDER BY block_number, log_index, address",
        finish: &[
            "ALTER TABLE token_transfers ADD PRIMARY KEY (address, block_number, log_index, batch_index)",
            "CREATE INDEX ON token_transfers (block_number, log_index)",
        ],
    },
    Table {
        name: "transactions",
        create: "CREATE TABLE transactions (
            block_number bigint NOT NULL, transaction_index integer NOT NULL, hash bytea NOT NULL, to_address bytea, input bytea NOT NULL)",
        rows: "WITH x -> concat('\\\\x', lower(hex(x))) AS text
            SELECT block_number, transaction_index, text(hash), text(assumeNotNull(to_address)), text(input)
            FROM transactions ORDER BY block_number, transaction_index",
        finish: &["ALTER TABLE transactions ADD PRIMARY KEY (block_number, transaction_index)"],
    },
    Table {
        name: "tokens",
        create: "CREATE TABLE tokens (
            address bytea PRIMARY KEY, token_type text NOT NULL, name text, symbol text, decimals integer, total_supply numeric)",
        rows: "WITH x -> concat('\\\\x', lower(hex(x))) AS text
            SELECT text(address), token_type, name, symbol, decimals, total_supply FROM tokens",
        finish: &[],
    },
    Table {
        name: "addresses",
        create: "CREATE TABLE addresses (
            address bytea PRIMARY KEY, name text, is_contract boolean NOT NULL, is_verified boolean NOT NULL)",
        rows: "WITH x -> concat('\\\\x', lower(hex(x))) AS text
            SELECT text(address), name, 't', 'f' FROM tokens",
        finish: &[],
    },
];

/// Makes and fills the tables of a data set.
pub fn fill(bed: &TestBed, cluster: &Cluster, content: Content) -> anyhow::Result<()> {
    let tables = match content {
        Content::Logs => LOGS,
        Content::Transfers => TRANSFERS,
        Content::Mainnet => anyhow::bail!("of the bundled blocks PostgreSQL has no tables"),
    };
    for table in tables {
        let started = Instant::now();
        copy(bed, cluster, table)?;
        progress(&format!("PostgreSQL: copied {} in {:.0} s", table.name, started.elapsed().as_secs_f64()));
        for statement in table.finish {
            execute(cluster, statement)?;
        }
        // Index-only scans and plans need both.
        execute(cluster, &format!("VACUUM (FREEZE, ANALYZE) {}", table.name))?;
        progress(&format!("PostgreSQL: {} is ready after {:.0} s", table.name, started.elapsed().as_secs_f64()));
    }
    execute(cluster, "CHECKPOINT")
}

fn execute(cluster: &Cluster, statement: &str) -> anyhow::Result<()> {
    cluster.run(async |client| Ok(client.batch_execute(statement).await?))
}

fn copy(bed: &TestBed, cluster: &Cluster, table: &Table) -> anyhow::Result<()> {
    let mut rows = bed.store.reader(table.rows, &[], "TSV")?;
    cluster.run(async |client| {
        // Both in one transaction, so that nothing is written twice.
        let client = client.transaction().await?;
        client.batch_execute(table.create).await?;
        let sink = client.copy_in::<_, Bytes>(&format!("COPY {} FROM STDIN", table.name)).await?;
        let mut sink = pin!(sink);
        loop {
            let mut piece = vec![0; 1 << 20];
            let count = rows.read(&mut piece)?;
            if count == 0 {
                break;
            }
            piece.truncate(count);
            sink.send(piece.into()).await?;
        }
        sink.finish().await?;
        Ok(client.commit().await?)
    })
}
