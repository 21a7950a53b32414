//! What people who write SQL get: views with one row for each fact, functions, and views of events.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::schema::analysts::{FUNCTIONS, stages};
use xtask::workspace;

use crate::chains::{self, chain, quantity};
use crate::dice::Dice;
use crate::env;
use crate::ingest::follow::{hashes, reaches, started, tip};

mod by_address;
mod events;
mod keys;
mod text_views;
mod unsettled;

/// Lines of a file of SQL that are not comments.
fn lines_of_sql(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with("--") && !line.is_empty()).count()
}

/// The questions of a first day: on views the answer is that of the raw tables, in fewer lines.
#[test]
fn questions_have_the_answers_of_the_raw_tables() -> anyhow::Result<()> {
    let (mut found, mut shorter) = (0, 0);
    for entry in fs::read_dir(workspace::root().join("sql/analysts/queries"))? {
        let path = entry?.path();
        let name = path.file_name().context("a name")?.to_string_lossy().into_owned();
        let on_views = fs::read_to_string(&path)?;
        let raw = fs::read_to_string(workspace::root().join("tests/fixtures/analysts").join(&name))?;
        let (lines, raw_lines) = (lines_of_sql(&on_views), lines_of_sql(&raw));
        ensure!(lines <= raw_lines, "{name}: {lines} lines instead of {raw_lines}");
        shorter += usize::from(lines < raw_lines);
        let mut rows = 0;
        for chain in ["mainnet", "devchain"].map(chain) {
            let answer = env::sql(chain.name, &on_views).context(name.clone())?;
            let expected = env::sql(chain.name, &raw).context(name.clone())?;
            ensure!(answer == expected, "{name} over {}:\n{answer}\nand of the tables\n{expected}", chain.name);
            rows += answer.lines().count();
        }
        ensure!(rows > 0, "{name} found nothing");
        found += 1;
    }
    ensure!(found == 22 && shorter >= 15, "{found} questions, {shorter} shorter");
    Ok(())
}

/// What a chain holds by the node's own words, as views should show it: of each block its hash, the hashes of its
/// transactions, positions of its logs, and withdrawals.
fn expected_rows(branch: &str) -> anyhow::Result<[BTreeSet<String>; 4]> {
    let mut lines: Vec<Value> = chains::lines("hive")?;
    if branch != "main" {
        let over = chains::lines_of(&workspace::fixture(&format!("hive/branch-{branch}.ndjson.gz")))?;
        let first = quantity(&over[0]["block"]["number"]);
        lines.retain(|line| quantity(&line["block"]["number"]) < first);
        lines.extend(over);
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let [mut blocks, mut transactions, mut logs, mut withdrawals] = [const { BTreeSet::new() }; 4];
    for line in &lines {
        let block = &line["block"];
        let number = quantity(&block["number"]);
        blocks.insert(format!("{number}\t{}", text(&block["hash"])));
        transactions
            .extend(list(&block["transactions"]).iter().map(|found| format!("{number}\t{}", text(&found["hash"]))));
        for log in list(&line["receipts"]).iter().flat_map(|receipt| list(&receipt["logs"])) {
            let data = text(&log["data"]).len() / 2 - 1;
            logs.insert(format!("{number}\t{}\t{}\t{data}", quantity(&log["logIndex"]), text(&log["address"])));
        }
        for found in list(&block["withdrawals"]) {
            let wei = u128::from(quantity(&found["amount"])) * 1_000_000_000;
            withdrawals.insert(format!("{}\t{}\t{wei}", quantity(&found["index"]), text(&found["address"])));
        }
    }
    Ok([blocks, transactions, logs, withdrawals])
}

/// The same as the views say it.
const SHOWN: [&str; 4] = [
    "SELECT block_number, hash_hex FROM v_blocks",
    "SELECT block_number, hash_hex FROM v_transactions",
    "SELECT block_number, log_index, address_hex, length(data) FROM v_logs",
    "SELECT withdrawal_index, address_hex, amount FROM v_withdrawals",
];

fn rows(database: &str, sql: &str) -> anyhow::Result<Vec<String>> {
    Ok(env::sql(database, sql)?.lines().map(Into::into).collect())
}

/// All items of a list of the API.
fn walked(api: &str, path: &str) -> anyhow::Result<Vec<Value>> {
    let (mut items, mut query) = (Vec::new(), String::new());
    loop {
        let page = xtask::http::get(&xtask::http::agent(), &format!("{api}/api/v2/{path}{query}"))?.json()?;
        items.extend(page["items"].as_array().context("items")?.iter().cloned());
        let Some(next) = page["next_page_params"].as_object() else { return Ok(items) };
        let fields: Vec<String> =
            next.iter().map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"'))).collect();
        query = format!("?{}", fields.join("&"));
    }
}

#[test]
fn views_show_the_branch_that_counts() -> anyhow::Result<()> {
    let database = "analysts_followed";
    let (_database, node, follower, api) = started(database, &["--head", "50", "--finality", "8"])?;
    let read_to_tip = |branch: &str, chain: &std::collections::BTreeMap<u64, String>| {
        reaches(&api.url, tip(chain))?;
        let newest = format!("SELECT hash_hex FROM v_blocks WHERE block_number = {}", chain.len() - 1);
        env::eventually(Duration::from_secs(20), || Ok(env::sql(database, &newest)? == tip(chain)))
            .with_context(|| format!("waiting for the views to show {branch}"))
    };
    let main = hashes("main")?;
    let until_50 = main.range(..=50).map(|(number, hash)| (*number, hash.clone())).collect();
    read_to_tip("main until 50", &until_50)?;
    node.control(&json!({"head": 54}))?;
    read_to_tip("main", &main)?;
    for branch in ["depth1", "depth6", "main"] {
        node.control(&json!({"branch": branch}))?;
        read_to_tip(branch, &hashes(branch)?)?;
        for (shown, expected) in SHOWN.iter().zip(expected_rows(branch)?) {
            let found = rows(database, shown)?;
            ensure!(
                found.len() == expected.len(),
                "{branch}: {shown}: {} rows instead of {}",
                found.len(),
                expected.len()
            );
            ensure!(found.into_iter().collect::<BTreeSet<_>>() == expected, "{branch}: {shown}");
        }
        let by_contract =
            rows(database, "SELECT block_number, log_index, address_hex, length(data) FROM v_logs_by_contract")?;
        ensure!(
            by_contract.into_iter().collect::<BTreeSet<_>>() == expected_rows(branch)?[2],
            "{branch}: logs by contract"
        );
        by_address::compare(database).with_context(|| format!("on branch {branch}"))?;
        let head = env::sql(database, "SELECT block_number, api_block, settled_block < block_number FROM v_head")?;
        let number = hashes(branch)?.len() - 1;
        ensure!(head == format!("{number}\t{number}\t1"), "{branch}: {head}");
        // What nodes do not say is what the API says.
        let transfers: BTreeSet<String> = walked(&api.url, "token-transfers")?
            .iter()
            .map(|item| {
                format!(
                    "{}\t{}\t{}",
                    item["block_number"],
                    item["log_index"],
                    item["token"]["address_hash"].as_str().unwrap_or_default().to_lowercase()
                )
            })
            .collect();
        let shown = rows(database, "SELECT DISTINCT block_number, log_index, token_hex FROM v_token_transfers")?;
        ensure!(shown.into_iter().collect::<BTreeSet<_>>() == transfers, "{branch}: token transfers");
    }
    follower.stop()
}

#[test]
fn views_never_mix_branches() -> anyhow::Result<()> {
    let database = "analysts_mixture";
    let (_database, node, follower, api) = started(database, &["--head", "54", "--finality", "30"])?;
    let branches = ["main", "depth17", "depth6", "depth1"];
    let chains: Vec<_> = branches.iter().map(|name| hashes(name)).collect::<Result<_, _>>()?;
    reaches(&api.url, tip(&chains[0]))?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0_u32;
            while !is_over.load(Ordering::Relaxed) {
                let shown = rows(
                    database,
                    "SELECT block_number, lower(hex(block_hash)) FROM v_logs WHERE block_number >= 20 GROUP BY ALL",
                )?;
                let pair = |row: &String| {
                    row.split_once('\t').map(|(number, hash)| (number.parse().unwrap_or(0_u64), format!("0x{hash}")))
                };
                let is_of = |chain: &std::collections::BTreeMap<u64, String>| {
                    shown.iter().filter_map(pair).all(|(number, hash)| chain.get(&number) == Some(&hash))
                };
                ensure!(chains.iter().any(is_of), "a mixture: {shown:?}");
                reads += 1;
            }
            anyhow::Ok(reads)
        });
        let changed = [1, 2, 0, 3, 2, 1].into_iter().try_for_each(|position: usize| {
            node.control(&json!({"branch": branches[position]}))?;
            reaches(&api.url, tip(&chains[position]))
        });
        is_over.store(true, Ordering::Relaxed);
        let reads = reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        ensure!(reads > 5, "only {reads} reads");
        changed
    })?;
    follower.stop()
}

/// Rows that are being written, or that a killed run left behind, are in the tables and not in the views.
#[test]
fn what_is_not_committed_is_not_shown() -> anyhow::Result<()> {
    let database = "analysts_uncommitted";
    let _database = env::migrate(database)?;
    for block in [1, 2, 3, 7, 8] {
        env::sql(database, &format!("INSERT INTO blocks (block_number, transactions_count) VALUES ({block}, 1)"))?;
    }
    let shown = || {
        env::sql(
            database,
            "SELECT groupArray(block_number) FROM (SELECT block_number FROM v_blocks ORDER BY block_number)",
        )
    };
    ensure!(shown()? == "[]", "{}", shown()?);
    env::commit(database, 2)?;
    ensure!(shown()? == "[1,2]", "{}", shown()?);
    let more = "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) VALUES (8, 8, ['blocks'], 1, 'generated', 'test')";
    env::sql(database, more)?;
    ensure!(shown()? == "[1,2,8]", "{}", shown()?);
    ensure!(env::sql(database, "SELECT first_block, last_block, ranges FROM v_committed")? == "0\t8\t[(0,2),(8,8)]");
    Ok(())
}

/// Whatever commits overlap, touch or leave out: the ranges are those of their blocks, and counting goes on to the
/// first gap.
#[test]
fn ranges_are_those_of_the_commits() -> anyhow::Result<()> {
    let database = "analysts_ranges";
    let _database = env::migrate(database)?;
    let shown = || env::sql(database, "SELECT first_block, last_block, ranges FROM v_committed");
    ensure!(shown()? == "0\t0\t[]", "{}", shown()?);
    let counted = || env::sql(database, "SELECT counted_block, settled_block, last_block FROM v_counted");
    ensure!(counted()? == "\\N\t0\t0", "{}", counted()?);
    let mut dice = Dice(16);
    for round in 0..40 {
        env::sql(database, "TRUNCATE TABLE ingest_commits")?;
        env::sql(database, "TRUNCATE TABLE token_steps")?;
        let (mut blocks, mut with_receipts) = (BTreeSet::new(), BTreeSet::new());
        let mut commits = Vec::new();
        for _ in 0..1 + dice.roll(12) {
            let first = dice.roll(40) as u64;
            let last = first + dice.roll(6) as u64;
            let has_receipts = dice.roll(4) > 0;
            blocks.extend(first..=last);
            if has_receipts {
                with_receipts.extend(first..=last);
            }
            let parts = if has_receipts { "['blocks', 'receipts']" } else { "['blocks']" };
            commits.push(format!("({first}, {last}, {parts}, 1, 'generated', 'test')"));
        }
        let insert = "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) VALUES";
        env::sql(database, &format!("{insert} {}", commits.join(", ")))?;
        let expected: Vec<String> = ranges(&blocks).iter().map(|(first, last)| format!("({first},{last})")).collect();
        let [first, last] = [blocks.first(), blocks.last()].map(|block| block.copied().unwrap_or_default());
        ensure!(shown()? == format!("{first}\t{last}\t[{}]", expected.join(",")), "{commits:?}: {}", shown()?);
        let Some((_, reach)) = ranges(&with_receipts).into_iter().nth(round % 3) else { continue };
        let step = "INSERT INTO token_steps (first_block, last_block, stage, transfers, run) VALUES (0, {}, 'done', 0, 'test')";
        env::sql(database, &step.replace("{}", &reach.to_string()))?;
        ensure!(counted()? == format!("{reach}\t{reach}\t{reach}"), "{commits:?} up to {reach}: {}", counted()?);
    }
    Ok(())
}

/// Blocks as ranges, inclusive.
fn ranges(blocks: &BTreeSet<u64>) -> Vec<(u64, u64)> {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for block in blocks {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *block => *last = *block,
            _ => ranges.push((*block, *block)),
        }
    }
    ranges
}

/// Holders by the views are those of the API, newest blocks included.
#[test]
fn holders_are_those_of_the_api() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let token = "SELECT token_hex FROM v_token_holders WHERE token_type = 'ERC-20' GROUP BY token_hex ORDER BY count() DESC, token_hex LIMIT 1";
    let token = env::sql(chain.name, token)?;
    let items = walked(&chain.api, &format!("tokens/{token}/holders"))?;
    let expected: BTreeSet<String> = items
        .iter()
        .map(|item| {
            format!(
                "{}\t{}",
                item["address"]["hash"].as_str().unwrap_or_default().to_lowercase(),
                item["value"].as_str().unwrap_or_default()
            )
        })
        .collect();
    ensure!(expected.len() > 3, "{items:?}");
    for view in ["v_token_holders", "v_balances"] {
        let shown = rows(chain.name, &format!("SELECT holder_hex, balance FROM {view} WHERE token_hex = '{token}'"))?;
        ensure!(shown.into_iter().collect::<BTreeSet<_>>() == expected, "{view}");
    }
    Ok(())
}

/// Each view and each of its columns is explained where a client shows it.
#[test]
fn everything_has_a_comment() -> anyhow::Result<()> {
    let _database = env::migrate("analysts_comments")?;
    let bare = "SELECT table, name FROM system.columns WHERE database = 'analysts_comments' AND startsWith(table, 'v_') AND comment = '' \
                UNION ALL SELECT name, '' FROM system.tables WHERE database = 'analysts_comments' AND startsWith(name, 'v_') AND comment = ''";
    let bare = env::sql("default", bare)?;
    ensure!(bare.is_empty(), "{bare}");
    let count = env::sql(
        "default",
        "SELECT count() FROM system.tables WHERE database = 'analysts_comments' AND startsWith(name, 'v_')",
    )?;
    let made = stages().flatten().filter(|step| step.name.starts_with("v_")).count();
    ensure!(count == made.to_string(), "{count} of {made} views");
    for function in FUNCTIONS {
        let known =
            env::sql("default", &format!("SELECT count() FROM system.functions WHERE name = '{}'", function.name))?;
        ensure!(known == "1", "{} is not there", function.name);
    }
    Ok(())
}

/// The columns that are promised. Who changes one on purpose raises the version in v_schema, and writes the file anew
/// from the statement here.
#[test]
fn promised_columns_stay() -> anyhow::Result<()> {
    let _database = env::migrate("analysts_contract")?;
    let columns = "SELECT table, name, type FROM system.columns WHERE database = 'analysts_contract' AND startsWith(table, 'v_') ORDER BY table, position";
    let shown = env::sql("default", columns)?;
    let version = env::sql("analysts_contract", "SELECT version FROM v_schema")?;
    let promised = fs::read_to_string(workspace::root().join("tests/fixtures/analysts/columns.tsv"))?;
    let found = format!("version\t{version}\n{}\n", shown.replace("\\'", "'"));
    ensure!(
        promised.lines().all(|line| found.lines().any(|other| other == line)),
        "promised and gone:\n{}",
        promised.lines().filter(|line| !found.lines().any(|other| other == *line)).collect::<Vec<_>>().join("\n")
    );
    ensure!(
        found == promised,
        "new columns are promised by adding them to tests/fixtures/analysts/columns.tsv:\n{found}"
    );
    Ok(())
}

/// A view of a table that is left out goes with it, and comes back.
#[test]
fn a_view_of_a_table_that_is_left_out_is_not_there() -> anyhow::Result<()> {
    let database = "analysts_left_out";
    let _database = env::migrate(database)?;
    let there = || {
        env::sql(
            "default",
            &format!(
                "SELECT groupArray(name) FROM (SELECT name FROM system.tables WHERE database = '{database}' AND name IN ('v_balances', 'v_transactions_by_address') ORDER BY name)"
            ),
        )
    };
    ensure!(there()? == "['v_balances','v_transactions_by_address']");
    env::run(env::ingest(database, &["migrate", "--without", "token_balances_by_holder"]), 0)?;
    ensure!(there()? == "['v_transactions_by_address']");
    env::run(env::ingest(database, &["migrate", "--without", "transactions_by_address"]), 0)?;
    ensure!(there()? == "[]");
    env::run(env::ingest(database, &["migrate", "--with", "token_balances_by_holder"]), 0)?;
    ensure!(there()? == "['v_balances']");
    env::run(env::ingest(database, &["migrate", "--with", "transactions_by_address"]), 0)?;
    ensure!(there()? == "['v_balances','v_transactions_by_address']");
    Ok(())
}
