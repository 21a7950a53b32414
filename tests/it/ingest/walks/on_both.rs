//! Lists that two branches of a chain have, and what is on each of them.

use anyhow::ensure;

use super::WalkedList;
use crate::env;
use crate::pages::{List, rows_in};

/// Who made most blocks, and which on each of the branches.
pub(super) fn mined(databases: &[String; 2]) -> anyhow::Result<(String, [Vec<String>; 2])> {
    let most = "SELECT lower(hex(miner)) FROM blocks GROUP BY 1 ORDER BY count() DESC, 1 LIMIT 1";
    let miner = env::sql(&databases[0], most)?;
    let blocks = format!(
        "SELECT toString(block_number) || ' 0x' || lower(hex(hash)) FROM blocks WHERE miner = unhex('{miner}')"
    );
    let of = |database: &String| Ok(env::sql(database, &blocks)?.lines().map(str::to_owned).collect());
    let found: [anyhow::Result<Vec<String>>; 2] = [of(&databases[0]), of(&databases[1])];
    let [main, deep] = found;
    Ok((format!("0x{miner}"), [main?, deep?]))
}

/// Whoever sent or received each transaction that a condition selects, or was created by it.
fn participants(condition: &str) -> String {
    format!(
        "SELECT DISTINCT arrayJoin([from_address, ifNull(to_address, from_address), ifNull(contract_address, from_address)]) \
         AS address, block_number, transaction_index, hash FROM transactions WHERE {condition}"
    )
}

/// Transactions of the busiest account and of a block, and logs of the busiest contract. `one` gives the first of the
/// most frequent rows of a query that groups.
fn of_parties(one: &dyn Fn(&str) -> anyhow::Result<String>) -> anyhow::Result<Vec<(List, String)>> {
    let all = participants("1");
    let account = one(&format!("SELECT lower(hex(address)) FROM ({all}) GROUP BY 1"))?;
    let full = one("SELECT block_number FROM transactions WHERE block_number > 37 GROUP BY 1")?;
    let emitter = one("SELECT lower(hex(address)) FROM logs_by_block GROUP BY 1")?;
    let position =
        "concatWithSeparator(' ', toString(block_number), toString(transaction_index), '0x' || lower(hex(hash)))";
    let name = List::of_everything("transactions").name;
    let of_account = format!("SELECT {position} FROM ({all}) WHERE address = unhex('{account}')");
    // Along the block, not down it: no position at the beginning of its names.
    let of_block = format!("SELECT '0x' || lower(hex(hash)) FROM transactions WHERE block_number = {full}");
    let of_emitter = format!(
        "SELECT toString(block_number) || ' ' || toString(log_index) FROM logs_by_block WHERE address = unhex('{emitter}')"
    );
    let hash: fn(&serde_json::Value) -> String = |item| item["hash"].as_str().unwrap_or_default().to_owned();
    let log: fn(&serde_json::Value) -> String = |item| format!("{} {}", item["block_number"], item["index"]);
    Ok(vec![
        (List { target: format!("/api/v2/addresses/0x{account}/transactions?"), name }, of_account),
        (List { target: format!("/api/v2/blocks/{full}/transactions?"), name: hash }, of_block),
        (List { target: format!("/api/v2/addresses/0x{emitter}/logs?"), name: log }, of_emitter),
    ])
}

/// Lists in which both branches have the same, though some of it in blocks that differ.
pub(super) fn the_same() -> anyhow::Result<Vec<WalkedList>> {
    let [main, deep] = ["walks_main", "walks_depth17"];
    let one = |sql: &str| env::sql(main, &format!("{sql} ORDER BY count() DESC, 1 LIMIT 1"));
    let receiver = one("SELECT lower(hex(address)) FROM withdrawals_by_block GROUP BY 1")?;
    let height = one("SELECT block_number FROM withdrawals_by_block WHERE block_number > 37 GROUP BY 1")?;
    let hash = one("SELECT lower(hex(transaction_hash)) FROM logs_by_block WHERE block_number > 37 GROUP BY 1")?;
    let of_block = format!("/api/v2/blocks/{height}/withdrawals?");
    let of_transaction = format!("/api/v2/transactions/0x{hash}/logs?");
    let withdrawal: fn(&serde_json::Value) -> String = |item| format!("{} {}", item["index"], item["validator_index"]);
    let names =
        "concatWithSeparator(' ', toString(withdrawal_index), toString(validator_index), toString(block_number))";
    let expected = [
        (
            List::of_withdrawals(&format!("0x{receiver}")),
            format!("SELECT {names} FROM withdrawals_by_block WHERE address = unhex('{receiver}')"),
        ),
        (
            List { target: of_block, name: withdrawal },
            format!(
                "SELECT toString(withdrawal_index) || ' ' || toString(validator_index) FROM withdrawals_by_block \
                 WHERE block_number = {height}"
            ),
        ),
        (
            List { target: of_transaction, name: |item| format!("log {}", item["index"]) },
            format!("SELECT 'log ' || toString(log_index) FROM logs_by_block WHERE transaction_hash = unhex('{hash}')"),
        ),
        (List::of_blocks("uncle"), "SELECT toString(block_number) || ' 0x' || lower(hex(hash)) FROM uncles".to_owned()),
    ];
    let everything = [
        ("transactions", "toString(block_number), toString(transaction_index), '0x' || lower(hex(hash))"),
        (
            "withdrawals",
            "toString(block_number), toString(withdrawal_index), toString(validator_index), toString(amount)",
        ),
    ];
    let table = |kind| if kind == "withdrawals" { "withdrawals_by_block" } else { kind };
    let everything = everything.map(|(kind, columns)| {
        let sql = format!("SELECT concatWithSeparator(' ', {columns}) FROM {}", table(kind));
        (List::of_everything(kind), sql)
    });
    let of_all_kinds =
        WalkedList::new(List::of_everything("advanced-filters"), &[rows_in(main, "1")?, rows_in(deep, "1")?]);
    ensure!(of_all_kinds.always.len() > 20 && of_all_kinds.always == of_all_kinds.ever);
    let mut lists = vec![of_all_kinds];
    for (list, sql) in expected.into_iter().chain(everything).chain(of_parties(&one)?) {
        let of = |database| Ok(env::sql(database, &sql)?.lines().map(str::to_owned).collect());
        let branches: [anyhow::Result<Vec<String>>; 2] = [of(main), of(deep)];
        let [main, deep] = branches;
        let walked = WalkedList::new(list, &[main?, deep?]);
        ensure!(!walked.always.is_empty() && walked.always == walked.ever, "{}: {sql}", walked.list.target);
        lists.push(walked);
    }
    Ok(lists)
}
