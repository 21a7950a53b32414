//! Token transfers: as many as an independent reader finds in the same logs, each participant once.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::workspace;

use crate::chains::chain;
use crate::env;

fn counts(database: &str) -> anyhow::Result<String> {
    env::sql(
        database,
        "SELECT token_type, count() FROM token_transfers_by_block GROUP BY token_type ORDER BY token_type",
    )
}

/// ethereum-etl finds 326 in the same chain: 276, 49, and one with nothing indexed, which is no shape of a standard.
/// ERC-1155 it does not read: four singles (a look-alike is not counted), and batches of four ids, one id twice, and
/// none.
#[test]
fn are_those_of_the_scenario() -> anyhow::Result<()> {
    let found = counts(chain("devchain").name)?;
    ensure!(found == "ERC-1155\t9\nERC-20\t276\nERC-721\t49", "{found}");
    let twice = "SELECT count(), any(value) FROM token_transfers_by_block
                 WHERE token_type = 'ERC-1155' AND token_id = 3 AND from_address = unhex(repeat('0', 40))";
    let twice = env::sql(chain("devchain").name, twice)?;
    ensure!(twice.starts_with("1\t"), "{twice}");
    Ok(())
}

/// Row by row what ethereum-etl exported from the same node; the id of an ERC-721 transfer is its value there.
#[test]
fn are_those_another_program_found() -> anyhow::Result<()> {
    let file = workspace::fixture("ethereum-etl/devchain-csv/token_transfers.csv");
    let text = std::fs::read_to_string(file)?;
    // The one with nothing indexed, which is no shape of a standard.
    let plain = "0x71c95911e9a5d330f4d621842ec243ee1343292e";
    let mut expected: Vec<&str> = text.lines().skip(1).filter(|line| !line.starts_with(plain)).collect();
    ensure!(expected.len() + 1 == text.lines().count() - 1 && expected.len() == 325, "{}", expected.len());
    let hex = |column: &str| format!("'0x', lower(hex({column})), ','");
    let sql = format!(
        "SELECT concat({}, {}, {}, toString(coalesce(token_id, value)), ',', {}, toString(log_index), ',', toString(block_number))
         FROM token_transfers_by_block WHERE token_type != 'ERC-1155'",
        hex("token_address"), hex("from_address"), hex("to_address"), hex("transaction_hash"),
    );
    let found = env::sql(chain("devchain").name, &sql)?;
    let mut found: Vec<&str> = found.lines().collect();
    found.sort_unstable();
    expected.sort_unstable();
    ensure!(found == expected, "{:#?} instead of {:#?}", &found[..3], &expected[..3]);
    Ok(())
}

/// Counted in the fixture's logs by topics and length of data alone.
#[test]
fn of_mainnet_are_counted() -> anyhow::Result<()> {
    let found = counts(chain("mainnet").name)?;
    ensure!(found == "ERC-1155\t21\nERC-20\t1910\nERC-721\t11187", "{found}");
    ensure!(counts(chain("hive").name)?.is_empty());
    Ok(())
}

/// What was received minus what was given, against `balanceOf` of the scenario's node.
#[test]
fn add_up_to_the_balances_a_node_gave() -> anyhow::Result<()> {
    let database = chain("devchain").name;
    let expected: Value =
        serde_json::from_str(&std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?)?;
    let sums = env::sql(
        database,
        "SELECT concat(lower(hex(token_address)), ' ', lower(hex(address)), ' ', toString(token_id)),
             sumIf(value, direction = 'to') - sumIf(value, direction = 'from')
         FROM token_transfers_by_direction GROUP BY token_address, address, token_id",
    )?;
    let sums: BTreeMap<&str, &str> = sums.lines().filter_map(|line| line.split_once('\t')).collect();
    let bare = |address: &str| address.trim_start_matches("0x").to_lowercase();
    let mut compared = 0;
    let mut check = |token: &str, owner: &str, id: Option<&str>, balance: &str| {
        // Nothing says NULL in a concatenation.
        let key = format!("{} {} {}", bare(token), bare(owner), id.unwrap_or_default());
        let found = sums.get(key.as_str()).copied().unwrap_or("0");
        compared += 1;
        if found == balance { Ok(()) } else { Err(anyhow::anyhow!("{key}: {found} instead of {balance}")) }
    };
    for (token, entry) in expected["erc1155"].as_object().context("tokens")? {
        for (owner, amounts) in entry.as_object().context("owners")? {
            for (id, amount) in amounts.as_object().context("ids")? {
                check(token, owner, Some(id), amount.as_str().context("an amount")?)?;
            }
        }
    }
    for (token, entry) in expected["erc721"].as_object().context("tokens")? {
        // Minted many at once without a transfer each (ERC-2309).
        if entry["label"] == "Batch721" {
            continue;
        }
        for (id, owner) in entry["owners"].as_object().context("owners")? {
            check(token, owner.as_str().context("an owner")?, Some(id), "1")?;
        }
    }
    ensure!(compared > 40, "{compared}");
    let owners = "SELECT concat(lower(hex(token_address)), ' ', lower(hex(address))),
                      sumIf(value, direction = 'to') - sumIf(value, direction = 'from')
                  FROM token_transfers_by_direction WHERE token_type = 'ERC-20' GROUP BY token_address, address";
    let owners = env::sql(database, owners)?;
    let owners: BTreeMap<&str, &str> = owners.lines().filter_map(|line| line.split_once('\t')).collect();
    for (token, entry) in expected["erc20"].as_object().context("tokens")? {
        // Deposits and withdrawals make and take coins without a transfer.
        if entry["label"] == "Wrapped" {
            continue;
        }
        for (owner, amount) in entry["balances"].as_object().context("balances")? {
            let key = format!("{} {}", bare(token), bare(owner));
            let found = owners.get(key.as_str()).copied().unwrap_or("0");
            ensure!(Some(found) == amount.as_str(), "{} {key}: {found} instead of {amount}", entry["label"]);
        }
    }
    Ok(())
}

/// One row for each participant, one for each side, one for each transfer; the zero address takes part in mints and
/// burns.
#[test]
fn tables_hold_the_same_ones() -> anyhow::Result<()> {
    for name in ["devchain", "mainnet"] {
        let database = chain(name).name;
        let expected = env::sql(
            database,
            "SELECT count() + countIf(to_address != from_address), 2 * count() FROM token_transfers_by_block",
        )?;
        let found = env::sql(
            database,
            "SELECT (SELECT count() FROM token_transfers), (SELECT count() FROM token_transfers_by_direction)",
        )?;
        ensure!(found == expected && !found.starts_with('0'), "{name}: {found} instead of {expected}");
        let sum = |table: &str| env::sql(database, &format!("SELECT sum(cityHash64(*)) FROM {table}"));
        ensure!(sum("token_transfers")? == sum("token_transfers_by_token")?);
        let selves = "SELECT count() > 0 FROM token_transfers WHERE from_address = to_address";
        ensure!(name == "mainnet" || env::sql(database, selves)? == "1", "no transfer to oneself was tried");
    }
    Ok(())
}
