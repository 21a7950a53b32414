//! EXPLAIN: filters on views read along keys and indexes of the tables, whether they are on bytes, text, height or
//! date.

use anyhow::{Context as _, ensure};
use xtask::http;

use crate::chains::chain;
use crate::env;

/// Granules that a statement reads of a table, and all that the table has.
pub fn granules(database: &str, table: &str, sql: &str) -> anyhow::Result<(u64, u64)> {
    let sql = format!("EXPLAIN indexes = 1, pretty = 0 {sql} FORMAT TSVRaw");
    let mut response = http::agent().post(env::store()).query("database", database).send(&sql)?;
    let explained = String::from_utf8_lossy(&response.body_mut().read_to_vec()?).into_owned();
    ensure!(response.status() == 200, "{explained}");
    let read = explained
        .split("ReadFromMergeTree (")
        .find(|read| read.split(')').next().and_then(|name| name.rsplit('.').next()).is_some_and(|name| name == table));
    let counts: Vec<(u64, u64)> = read
        .with_context(|| format!("no read of {table} in\n{explained}"))?
        .lines()
        .filter_map(|line| line.trim_start_matches(['│', ' ']).strip_prefix("Granules: ")?.split_once('/'))
        .filter_map(|(left, all)| Some((left.parse().ok()?, all.trim().parse().ok()?)))
        .collect();
    let (first, last) = (counts.first().with_context(|| explained.clone())?, counts.last().context("counts")?);
    Ok((last.0, first.1))
}

#[test]
fn bytes_and_text_of_a_contract_read_its_range() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    let weth = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";
    let read =
        |condition: &str| granules(database, "logs", &format!("SELECT data FROM v_logs_by_contract WHERE {condition}"));
    let ((bytes, all), (text, _)) =
        (read(&format!("address = address('{weth}')"))?, read(&format!("address_hex = '{weth}'"))?);
    ensure!(bytes <= 3 && text <= 3 && all >= 10, "{bytes} and {text} of {all}");
    // A token of one block.
    let rare = "SELECT token_hex FROM v_token_transfers GROUP BY token_hex HAVING uniqExact(block_number) = 1 ORDER BY count(), token_hex LIMIT 1";
    let rare = env::sql(database, rare)?;
    for filter in [format!("token_address = address('{rare}')"), format!("token_hex = '{rare}'")] {
        let sql = format!("SELECT value FROM v_token_transfers WHERE {filter}");
        let (left, all) = granules(database, "token_transfers_by_block", &sql)?;
        ensure!(left <= 2 && all >= 10, "{filter}: {left} of {all}");
    }
    Ok(())
}

#[test]
fn one_address_is_a_range_of_its_views() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    let busy = "SELECT address_hex FROM v_token_transfers_by_address WHERE address != unhex(repeat('00', 20)) GROUP BY address_hex ORDER BY count() DESC, address_hex LIMIT 1 OFFSET 20";
    let busy = env::sql(database, busy)?;
    for (view, table, columns) in [
        ("v_token_transfers_by_address", "token_transfers", "value, block_timestamp"),
        ("v_transactions_by_address", "transactions_by_address", "value, fee"),
    ] {
        for filter in [format!("address = address('{busy}')"), format!("address_hex = '{busy}'")] {
            let sql = format!("SELECT {columns} FROM {view} WHERE {filter}");
            let (left, all) = granules(database, table, &sql)?;
            ensure!(left <= 2 && left < all, "{view} WHERE {filter}: {left} of {all}");
        }
    }
    // The rest of a transaction is found at its position.
    let positions = format!(
        "SELECT block_number, transaction_index FROM v_transactions_by_address WHERE address = address('{busy}') AND block_number = 22869878"
    );
    let sql = format!("SELECT input FROM v_transactions WHERE (block_number, transaction_index) IN ({positions})");
    let (left, all) = granules(database, "transactions", &sql)?;
    ensure!(left <= 2 && all >= 4, "{left} of {all}");
    Ok(())
}

#[test]
fn heights_read_their_range_of_every_view() -> anyhow::Result<()> {
    let database = chain("mainnet").name;
    for (view, table) in [
        ("v_logs", "logs_by_block"),
        ("v_transactions", "transactions"),
        ("v_token_transfers", "token_transfers_by_block"),
        ("v_uniswap_v2_swaps", "logs_by_block"),
    ] {
        let (left, all) = granules(database, table, &format!("SELECT * FROM {view} WHERE block_number = 20000000"))?;
        ensure!(left <= 3 && left < all, "{view}: {left} of {all}");
    }
    Ok(())
}

/// A million logs, 25 a block, a block every 12 seconds: a day reads what its heights read.
#[test]
fn dates_read_the_granules_of_their_heights() -> anyhow::Result<()> {
    let database = "analysts_dates";
    let _database = env::migrate(database)?;
    let position = "intDiv(number, 25) AS block_number, number % 25 AS log_index, toDateTime64('2024-01-01 00:00:00', 6, 'UTC') + 12 * block_number AS block_timestamp";
    let address = "CAST(reinterpretAsString(toUInt64(number % 1000)) AS FixedString(20))";
    for table in ["logs", "logs_by_block"] {
        let insert = format!(
            "INSERT INTO {table} (address, block_number, log_index, block_timestamp) SELECT {address}, {position} FROM numbers(1000000)"
        );
        env::sql(database, &insert)?;
    }
    let blocks = "INSERT INTO blocks (block_number, timestamp) SELECT number, toDateTime64('2024-01-01 00:00:00', 6, 'UTC') + 12 * number FROM numbers(40000)";
    env::sql(database, blocks)?;
    env::commit(database, 39_999)?;
    let by_date = "SELECT count() FROM v_logs WHERE block_date = '2024-01-03'";
    let by_height = "SELECT count() FROM v_logs WHERE block_number BETWEEN 14400 AND 21599";
    let by_function = "SELECT count() FROM v_logs WHERE block_number >= block_at('2024-01-03') AND block_number < block_at('2024-01-04')";
    for sql in [by_date, by_height, by_function] {
        ensure!(env::sql(database, sql)? == "180000", "{sql}: {}", env::sql(database, sql)?);
    }
    let (date, all) = granules(database, "logs_by_block", by_date)?;
    let (height, _) = granules(database, "logs_by_block", by_height)?;
    let (function, _) = granules(database, "logs_by_block", by_function)?;
    ensure!(height > 100 && all > 4 * height, "{height} of {all}");
    ensure!(date * 10 <= height * 11 && function * 10 <= height * 11, "{date} and {function} instead of {height}");
    // Of one contract too.
    let contract = "address = CAST(reinterpretAsString(toUInt64(7)) AS FixedString(20))";
    let (of_day, _) = granules(
        database,
        "logs",
        &format!("SELECT count() FROM v_logs_by_contract WHERE {contract} AND block_date = '2024-01-03'"),
    )?;
    ensure!(of_day <= 2, "{of_day}");
    Ok(())
}
