//! Every source gives the same rows: column by column, apart from columns a row names as lacking.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::{load, write_dump};
use crate::chains::{self, chain, dump};
use crate::env;

mod damaged;
mod left_out;

/// The transactions of `cryo/devchain-variants/csv`.
const TRANSACTIONS: &str = "network_31337__transactions__00000010_to_00000019.csv";

/// Columns of `blocks` that neither cryo's defaults nor what leaves no doubt can tell.
const CRYO_BLOCKS: &str = "parent_hash sha3_uncles state_root transactions_root receipts_root logs_bloom difficulty \
    gas_limit mix_hash nonce withdrawals_root blob_gas_used excess_blob_gas parent_beacon_block_root requests_hash \
    size uncles withdrawals_count";
/// The same with all its columns.
const CRYO_ALL_BLOCKS: &str = "sha3_uncles difficulty gas_limit mix_hash nonce withdrawals_root blob_gas_used \
    excess_blob_gas parent_beacon_block_root requests_hash uncles withdrawals_count";
const ETL_BLOCKS: &str = "mix_hash parent_beacon_block_root requests_hash";
const SIGNED: &str = "v r s chain_id access_list authorization_list";

/// A folder of `tests/fixtures`, the chain it was made from, and what its rows lack.
struct Fixture {
    flag: &'static str,
    folder: &'static str,
    chain: &'static str,
    flags: &'static [&'static str],
    /// First and last block it gives.
    range: (u64, u64),
    lacking_of_blocks: &'static str,
    lacking_of_transactions: &'static str,
}

const DEVCHAIN: Fixture = Fixture {
    flag: "--cryo",
    folder: "cryo/devchain",
    chain: "devchain",
    flags: &[],
    range: (0, 91),
    lacking_of_blocks: CRYO_BLOCKS,
    lacking_of_transactions: SIGNED,
};
/// Blocks 10 to 19 have typed transactions only, and those name their chain.
const VARIANT: Fixture =
    Fixture { range: (10, 19), lacking_of_transactions: "v r s access_list authorization_list", ..DEVCHAIN };
const HIVE: Fixture = Fixture {
    chain: "hive",
    range: (9, 54),
    lacking_of_transactions: "v r s chain_id access_list authorization_list blob_gas_price blob_gas_used \
        blob_versioned_hashes max_fee_per_blob_gas",
    ..DEVCHAIN
};
const ETL: Fixture = Fixture {
    flag: "--etl",
    lacking_of_blocks: ETL_BLOCKS,
    lacking_of_transactions: SIGNED,
    flags: &["--chain-id", "31337"],
    ..DEVCHAIN
};
const ETL_HIVE: Fixture = Fixture {
    chain: "hive",
    range: (0, 54),
    flags: &["--chain-id", "3503995874084926"],
    lacking_of_blocks: "mix_hash parent_beacon_block_root requests_hash uncles",
    ..ETL
};

fn same_rows(fixture: &Fixture) -> anyhow::Result<()> {
    let database = &format!("source_{}_{}", fixture.folder.replace(['/', '-'], "_"), fixture.range.0);
    let _database = env::migrate(database)?;
    let folder = workspace::fixture(fixture.folder).display().to_string();
    let arguments = [&["load", fixture.flag, &folder][..], fixture.flags].concat();
    env::run(env::ingest(database, &arguments), 0)?;
    let (first, last) = fixture.range;
    let committed = env::sql(
        database,
        "SELECT min(first_block), max(last_block), sum(last_block - first_block + 1), any(source) FROM ingest_commits",
    )?;
    let kind = fixture.flag.trim_start_matches("--");
    ensure!(committed == format!("{first}\t{last}\t{}\t{kind}", last - first + 1), "{committed}");
    compare(database, fixture)?;
    let lacking = |table: &str| -> anyhow::Result<BTreeSet<String>> {
        let text = env::sql(database, &format!("SELECT DISTINCT arrayJoin(lacking) FROM {table}"))?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    for (table, expected) in [("blocks", fixture.lacking_of_blocks), ("transactions", fixture.lacking_of_transactions)]
    {
        let expected: BTreeSet<String> = expected.split_whitespace().map(str::to_owned).collect();
        let found = lacking(table)?;
        ensure!(found == expected, "{table} lacks {found:?} instead of {expected:?}");
    }
    // What is lacking is no contradiction when the tables are proven.
    env::run(env::ingest(database, &["verify"]), 0).map(drop)
}

/// Every row the dump gives is there, and every column that is not lacking is equal.
fn compare(database: &str, fixture: &Fixture) -> anyhow::Result<()> {
    let reference = chain(fixture.chain).name;
    let (first, last) = fixture.range;
    for (table, keys) in [("blocks", "block_number"), ("transactions", "block_number, transaction_index")] {
        let columns = env::sql(
            database,
            &format!("SELECT name FROM system.columns WHERE database = '{database}' AND table = '{table}'"),
        )?;
        // A source that does not tell the total difficulty is not wrong about it.
        let differing: Vec<String> = columns
            .lines()
            .filter(|column| !["lacking", "total_difficulty"].contains(column))
            .map(|column| {
                let text = |side: &str| format!("ifNull(toString({side}.{column}), 'NULL')");
                format!(
                    "countIf(NOT has(found.lacking, '{column}') AND {} != {}) AS {column}",
                    text("found"),
                    text("reference")
                )
            })
            .collect();
        let query = format!(
            "SELECT count() AS rows, {} FROM {database}.{table} AS found \
             INNER JOIN {reference}.{table} AS reference USING ({keys}) FORMAT JSONEachRow",
            differing.join(", ")
        );
        let found: Value = serde_json::from_str(&env::sql(database, &query)?)?;
        let counts = found.as_object().context("an object")?;
        let rows = |database: &str| {
            env::sql(database, &format!("SELECT count() FROM {table} WHERE block_number BETWEEN {first} AND {last}"))
        };
        ensure!(
            rows(database)? == rows(reference)? && counts["rows"].to_string().trim_matches('"') == rows(reference)?,
            "{table}"
        );
        let wrong: Vec<_> =
            counts.iter().filter(|(column, count)| *column != "rows" && **count != "0" && **count != 0).collect();
        ensure!(wrong.is_empty(), "{table}: {wrong:?}");
    }
    for table in ["blocks_by_hash", "transactions_by_hash", "logs", "logs_by_block"] {
        let sum = |database: &str| {
            let range = format!("block_number BETWEEN {first} AND {last}");
            env::sql(database, &format!("SELECT count(), sum(cityHash64(*)) FROM {table} WHERE {range}"))
        };
        ensure!(sum(database)? == sum(reference)?, "{table}: {} instead of {}", sum(database)?, sum(reference)?);
    }
    // Withdrawals and uncles are there where the commit says so, and nowhere else.
    for (table, part, block) in
        [("withdrawals", "withdrawals", "block_number"), ("uncles", "uncles", "nephew_block_number")]
    {
        let committed = format!(
            "{block} IN (SELECT arrayJoin(range(first_block, last_block + 1)) FROM {database}.ingest_commits \
             WHERE has(parts, '{part}'))"
        );
        let sum = |database: &str, filter: &str| {
            env::sql(database, &format!("SELECT count(), sum(cityHash64(*)) FROM {table} WHERE {filter}"))
        };
        ensure!(sum(database, "1")? == sum(reference, &committed)?, "{table}");
    }
    Ok(())
}

/// Ranges of different sources stand side by side, and a folder gives only what is not there.
#[test]
fn a_load_goes_on_from_another_source() -> anyhow::Result<()> {
    let database = &env::migrate("source_mixed")?;
    let dump = dump("devchain");
    let cryo = workspace::fixture("cryo/devchain").display().to_string();
    let etl = workspace::fixture("ethereum-etl/devchain-json").display().to_string();
    env::run(env::ingest(database, &["load", "--dump", &dump, "--from", "20", "--to", "29"]), 0)?;
    env::run(env::ingest(database, &["load", "--cryo", &cryo, "--to", "49"]), 0)?;
    env::run(env::ingest(database, &["load", "--etl", &etl]), 0)?;
    let ranges = env::sql(
        database,
        "SELECT source, min(first_block), max(last_block), sum(last_block - first_block + 1) FROM ingest_commits \
         GROUP BY source ORDER BY source",
    )?;
    ensure!(ranges == "cryo\t0\t49\t40\ndump\t20\t29\t10\netl\t50\t91\t42", "{ranges}");
    compare(database, &DEVCHAIN)?;
    env::run(env::ingest(database, &["verify"]), 0)?;
    let output = env::run(
        env::ingest(database, &["load", "--cryo", &workspace::fixture("cryo/hive").display().to_string()]),
        3,
    )?;
    ensure!(String::from_utf8_lossy(&output.stderr).contains("the source's chain is 3503995874084926"));
    Ok(())
}

/// What is done to a copy of a folder, and the words it must be refused with.
type Damage = (&'static str, &'static str, fn(&Path) -> anyhow::Result<()>, &'static str);

#[test]
fn one_kind_is_named_and_the_environment_gives_way() -> anyhow::Result<()> {
    let database = &env::migrate("source_named")?;
    let cryo = workspace::fixture("cryo/devchain").display().to_string();
    let etl = workspace::fixture("ethereum-etl/devchain-json").display().to_string();
    for other in [["--etl", &etl], ["--era1", &etl], ["--dump", &etl], ["--rpc-url", "http://127.0.0.1:1"]] {
        let arguments = [&["load", "--cryo", &cryo][..], &other].concat();
        let output = env::run(env::ingest(database, &arguments), 2)?;
        ensure!(String::from_utf8_lossy(&output.stderr).contains("cannot be used with"), "{other:?}");
    }
    // Named on the command line, a source stands whatever the environment says.
    let mut command = env::ingest(database, &["load", "--cryo", &cryo, "--to", "3"]);
    command.env("TRAWL_RPC_URL", "http://127.0.0.1:1").env("TRAWL_ETL", &etl);
    env::run(command, 0)?;
    let mut command = env::ingest(database, &["load", "--to", "5"]);
    command.env("ETH_RPC_URL", "http://127.0.0.1:1").env("TRAWL_ETL", &etl);
    env::run(command, 0)?;
    let kinds = env::sql(database, "SELECT arraySort(groupUniqArray(source)) FROM ingest_commits")?;
    ensure!(kinds == "['cryo','etl']", "{kinds}");
    Ok(())
}

#[test]
fn blocks_that_no_file_has_are_named() -> anyhow::Result<()> {
    let database = &env::migrate("ingest_not_whole")?;
    let lines = chains::lines("devchain")?;
    let some: Vec<Value> =
        lines.iter().enumerate().filter(|(n, _)| ![7, 9, 10].contains(n)).map(|it| it.1.clone()).collect();
    let file = write_dump(&some)?;
    let path = file.path().display().to_string();
    let text = load(database, &path, &["--to", "20"], 1)?;
    ensure!(text.contains("the source does not have the requested blocks 7, 9-10"), "{text}");
    ensure!(env::sql(database, "SELECT count() FROM blocks")? == "18", "what is there is committed");
    let text = load(database, &path, &["--from", "30", "--to", "100"], 1)?;
    ensure!(text.contains("requested blocks 92-100"), "{text}");
    // Without a range, gaps are reported and the load succeeds.
    let text = load(database, &path, &[], 0)?;
    ensure!(text.contains("some requested blocks are not loaded") && text.contains("7, 9-10"), "{text}");
    let text = load(database, &dump("devchain"), &["--to", "91"], 0)?;
    ensure!(!text.contains("requested"), "{text}");
    Ok(())
}

tests! {
    cryo_devchain_0_91_gives_the_same_rows: same_rows(&DEVCHAIN),
    cryo_devchain_all_columns_0_91_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/devchain-all-columns", lacking_of_blocks: CRYO_ALL_BLOCKS, ..DEVCHAIN }),
    cryo_devchain_variants_csv_10_19_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/devchain-variants/csv", ..VARIANT }),
    cryo_devchain_variants_json_10_19_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/devchain-variants/json", ..VARIANT }),
    cryo_devchain_variants_hex_10_19_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/devchain-variants/hex", ..VARIANT }),
    cryo_devchain_variants_u256_string_10_19_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/devchain-variants/u256-string", ..VARIANT }),
    cryo_hive_9_54_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/hive", ..HIVE }),
    ethereum_etl_devchain_csv_0_91_gives_the_same_rows: same_rows(&Fixture { folder: "ethereum-etl/devchain-csv", ..ETL }),
    ethereum_etl_devchain_json_0_91_gives_the_same_rows: same_rows(&Fixture { folder: "ethereum-etl/devchain-json", ..ETL }),
    ethereum_etl_devchain_stream_0_91_gives_the_same_rows: same_rows(&Fixture { folder: "ethereum-etl/devchain-stream", ..ETL }),
    ethereum_etl_hive_csv_0_54_gives_the_same_rows: same_rows(&Fixture { folder: "ethereum-etl/hive-csv", ..ETL_HIVE }),
    // Written by an older version, from before Byzantium, with the receipt in the row of the transaction.
    ethereum_etl_mainnet_1755634_1755635_1755635_gives_the_same_rows: same_rows(&Fixture {
        folder: "ethereum-etl/mainnet-1755634",
        chain: "mainnet",
        range: (1_755_635, 1_755_635),
        flags: &["--from", "1755635", "--to", "1755635", "--chain-id", "1"],
        lacking_of_blocks: "mix_hash",
        lacking_of_transactions: "v r s chain_id",
        ..ETL
    }),
    ethereum_etl_hive_json_0_54_gives_the_same_rows: same_rows(&Fixture { folder: "ethereum-etl/hive-json", ..ETL_HIVE }),
    // Before Cancun, a header without blob fields has none of the later ones either.
    ethereum_etl_hive_json_7_33_gives_the_same_rows: same_rows(&Fixture {
        folder: "ethereum-etl/hive-json",
        range: (7, 33),
        flags: &["--from", "7", "--to", "33"],
        lacking_of_blocks: "mix_hash uncles",
        lacking_of_transactions: "v r s chain_id access_list",
        ..ETL_HIVE
    }),
    cryo_devchain_7_33_gives_the_same_rows: same_rows(&Fixture { folder: "cryo/devchain", range: (7, 33), flags: &["--from", "7", "--to", "33"], ..DEVCHAIN }),
}
