//! Lists, page by page: all pages together are the list, whatever the filter and wherever a page ends.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::env;

/// A list: where it is, and what tells an item from all others.
pub struct List {
    /// Its path with its parameters.
    pub target: String,
    /// What an item is known by, in words that a query or the chain's JSON gives too.
    pub name: fn(&Value) -> String,
}

/// An answer of REST on a bundled chain.
pub fn get(chain: &Chain, path: &str) -> anyhow::Result<Value> {
    let answer = http::get(&http::agent(), &format!("{}/api/v2/{path}", chain.api))?;
    ensure!(answer.status == 200, "{path}: {}", answer.text());
    answer.json()
}

/// All items of a list of a bundled chain, in pages of `size`: each member of a cursor is sent back.
pub fn walk(chain: &Chain, path: &str, size: u64) -> anyhow::Result<Vec<Value>> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let separator = if path.contains('?') { '&' } else { '?' };
        let page = get(chain, &format!("{path}{separator}items_count={size}{cursor}"))?;
        let more = page["items"].as_array().context("items")?;
        ensure!(more.len() as u64 <= size);
        items.extend(more.iter().cloned());
        let Some(next) = page["next_page_params"].as_object() else { return Ok(items) };
        cursor.clear();
        for (name, value) in next.iter().filter(|(name, _)| *name != "items_count") {
            write!(cursor, "&{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))?;
        }
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_lowercase)
}

fn joined(item: &Value, members: &[&str]) -> String {
    let member = |path: &&str| text(item.pointer(&format!("/{path}")).unwrap_or(&Value::Null));
    members.iter().map(member).collect::<Vec<_>>().join(" ")
}

impl List {
    /// Blocks of a kind.
    pub fn of_blocks(kind: &str) -> Self {
        Self { target: format!("/api/v2/blocks?type={kind}"), name: |item| joined(item, &["height", "hash"]) }
    }

    /// Blocks that an address made.
    pub fn of_mined_blocks(miner: &str) -> Self {
        Self { target: format!("/api/v2/addresses/{miner}/blocks-validated?"), ..Self::of_blocks("") }
    }

    /// Internal transactions of an address with parameters.
    pub fn of_internal_transactions(address: &str, parameters: &str) -> Self {
        Self {
            target: format!("/api/v2/addresses/{address}/internal-transactions?{parameters}"),
            name: |item| joined(item, &["block_number", "transaction_index", "index", "transaction_hash"]),
        }
    }

    /// All transactions, token transfers, internal transactions or withdrawals.
    pub fn of_everything(kind: &str) -> Self {
        let name: fn(&Value) -> String = match kind {
            "transactions" => |item| joined(item, &["block_number", "position", "hash"]),
            "withdrawals" => |item| joined(item, &["block_number", "index", "validator_index", "amount"]),
            "token-transfers" => Self::of_token_transfers("", "").name,
            "advanced-filters" => |item| {
                let indices = ["internal_transaction_index", "token_transfer_index", "token_transfer_batch_index"];
                joined(item, &[&["block_number", "transaction_index"][..], &indices].concat())
            },
            _ => Self::of_internal_transactions("", "").name,
        };
        Self { target: format!("/api/v2/{kind}?"), name }
    }

    /// Token transfers of an address with parameters.
    pub fn of_token_transfers(address: &str, parameters: &str) -> Self {
        Self {
            target: format!("/api/v2/addresses/{address}/token-transfers?{parameters}"),
            name: |item| {
                joined(
                    item,
                    &[
                        "block_number",
                        "log_index",
                        "total/token_id",
                        "total/value",
                        "from/hash",
                        "to/hash",
                        "token/address",
                    ],
                )
            },
        }
    }

    /// Withdrawals to an address.
    pub fn of_withdrawals(address: &str) -> Self {
        Self {
            target: format!("/api/v2/addresses/{address}/withdrawals?"),
            name: |item| joined(item, &["index", "validator_index", "block_number"]),
        }
    }

    /// The names of all items in their order, from pages of at most so many.
    pub fn walk(&self, api: &str, size: u64) -> anyhow::Result<Vec<String>> {
        let agent = http::agent();
        let mut names = Vec::new();
        let mut cursor = String::new();
        loop {
            let target = format!("{api}{}&items_count={size}{cursor}", self.target);
            let answer = http::get(&agent, &target)?;
            ensure!(answer.status == 200, "{target}: {} {}", answer.status, answer.text());
            let page = answer.json()?;
            let items = page["items"].as_array().context("items")?;
            names.extend(items.iter().map(self.name));
            let Some(next) = page["next_page_params"].as_object() else { return Ok(names) };
            ensure!(!items.is_empty(), "{target}: a page without items leads on");
            cursor.clear();
            for (name, value) in next.iter().filter(|(name, _)| *name != "items_count") {
                write!(cursor, "&{name}={}", value.as_str().map_or_else(|| value.to_string(), str::to_owned))?;
            }
        }
    }

    /// All pages together are `expected`, whatever their size.
    pub fn is(&self, api: &str, expected: &[String], sizes: &[u64]) -> anyhow::Result<()> {
        for size in sizes {
            let found = self.walk(api, *size)?;
            ensure!(found == expected, "{} in pages of {size}: {found:#?}\ninstead of {expected:#?}", self.target);
        }
        Ok(())
    }
}

fn lines_of(database: &str, sql: &str) -> anyhow::Result<Vec<String>> {
    Ok(env::sql(database, sql)?.lines().map(str::to_owned).collect())
}

/// The token transfers that a condition selects, in the order of the list, from the table that no address list reads.
pub fn transfers_in(database: &str, condition: &str) -> anyhow::Result<Vec<String>> {
    let address = |column: &str| format!("'0x' || lower(hex({column}))");
    let columns = [
        "toString(block_number)".into(),
        "toString(log_index)".into(),
        "ifNull(toString(token_id), 'null')".into(),
        "if(token_type = 'ERC-721', 'null', toString(value))".into(),
        address("from_address"),
        address("to_address"),
        address("token_address"),
    ];
    let sql = format!(
        "SELECT concatWithSeparator(' ', {}) FROM token_transfers_by_block WHERE {condition} \
         ORDER BY block_number DESC, log_index DESC, batch_index DESC",
        columns.join(", ")
    );
    lines_of(database, &sql)
}

/// All rows of a database that filters go over, under the names of their list: transactions, call frames and token
/// transfers.
pub fn rows_in(database: &str, condition: &str) -> anyhow::Result<Vec<String>> {
    let of = |table: &str, indices: &str, rows: &str| {
        format!(
            "SELECT concatWithSeparator(' ', toString(block_number), toString(transaction_index), {indices}) \
             FROM {table} WHERE {condition} AND {rows}"
        )
    };
    let transfers = of("token_transfers_by_block", "'null', toString(log_index), toString(batch_index)", "1");
    let listed = "frame_type != 'reward' AND (frame_index > 0 OR frame_type != 'call')";
    let frames = of("internal_transactions", "toString(frame_index), 'null', 'null'", listed);
    let all = [of("transactions", "'null', 'null', 'null'", "1"), frames, transfers].join(" UNION ALL ");
    lines_of(database, &all)
}

/// The call frames that a condition selects, but for the transactions themselves, as the list has them.
pub fn frames_in(database: &str, condition: &str) -> anyhow::Result<Vec<String>> {
    let sql = format!(
        "SELECT concatWithSeparator(' ', toString(block_number), toString(transaction_index), toString(frame_index), \
         '0x' || lower(hex(transaction_hash))) FROM internal_transactions \
         WHERE frame_type != 'reward' AND NOT (frame_index = 0 AND frame_type = 'call') AND ({condition}) \
         ORDER BY block_number DESC, transaction_index DESC, frame_index DESC"
    );
    lines_of(database, &sql)
}

fn word(address: &str) -> String {
    format!("unhex('{}')", address.trim_start_matches("0x"))
}

/// The addresses that most rows of a table of participants are about, and one that has none.
pub fn busiest(database: &str, table: &str, count: usize) -> anyhow::Result<Vec<String>> {
    let sql = format!(
        "SELECT '0x' || lower(hex(address)) FROM {table} GROUP BY address ORDER BY count() DESC, address LIMIT {count}"
    );
    let mut addresses = lines_of(database, &sql)?;
    addresses.push(format!("0x{}", "12".repeat(20)));
    Ok(addresses)
}

#[test]
fn of_token_transfers_are_all_of_them() -> anyhow::Result<()> {
    let api = &chain("devchain").api;
    let tokens = busiest("devchain", "token_transfers", 1)?;
    let token_of = |kind: &str| {
        let sql = format!(
            "SELECT any('0x' || lower(hex(token_address))) FROM token_transfers_by_block WHERE token_type = '{kind}'"
        );
        env::sql("devchain", &sql)
    };
    let (batches, coins) = (token_of("ERC-1155")?, token_of("ERC-20")?);
    // Whoever holds tokens of the kind that moves in batches, so that pages end inside one.
    let receiver = format!(
        "SELECT any('0x' || lower(hex(to_address))) FROM token_transfers_by_block WHERE token_address = {} AND batch_index > 1",
        word(&batches)
    );
    let holder = env::sql("devchain", &receiver)?;
    let mut items = 0;
    for address in [tokens[0].clone(), tokens[1].clone(), holder] {
        for (filter, side) in
            [("", "{a} IN (from_address, to_address)"), ("from", "from_address = {a}"), ("to", "to_address = {a}")]
        {
            for (types, kinds) in [("", ""), ("ERC-721", "'ERC-721'"), ("erc-20,ERC-1155", "'ERC-20', 'ERC-1155'")] {
                for token in ["", &batches, &coins] {
                    let mut parameters = format!("type={types}");
                    let mut condition = side.replace("{a}", &word(&address));
                    if !filter.is_empty() {
                        write!(parameters, "&filter={filter}")?;
                    }
                    if !kinds.is_empty() {
                        write!(condition, " AND token_type IN ({kinds})")?;
                    }
                    if !token.is_empty() {
                        write!(parameters, "&token={token}")?;
                        write!(condition, " AND token_address = {}", word(token))?;
                    }
                    let expected = transfers_in("devchain", &condition)?;
                    items += expected.len();
                    let sizes: &[u64] = if expected.len() > 30 { &[7, 50] } else { &[1, 50] };
                    List::of_token_transfers(&address, &parameters).is(api, &expected, sizes)?;
                }
            }
        }
    }
    ensure!(items > 300, "only {items} items");
    Ok(())
}

#[test]
fn of_internal_transactions_are_all_of_them() -> anyhow::Result<()> {
    let mut items = 0;
    for name in ["devchain", "hive"] {
        let api = &chain(name).api;
        for address in busiest(name, "internal_transactions_by_address", 3)? {
            let word = word(&address);
            for (parameters, condition) in [
                ("", format!("{word} IN (from_address, ifNull(to_address, ''), ifNull(created_contract, ''))")),
                ("filter=from", format!("from_address = {word}")),
                ("filter=to", format!("{word} IN (ifNull(to_address, ''), ifNull(created_contract, ''))")),
            ] {
                let expected = frames_in(name, &condition)?;
                items += expected.len();
                List::of_internal_transactions(&address, parameters).is(api, &expected, &[3, 50])?;
            }
        }
    }
    ensure!(items > 200, "only {items} items");
    Ok(())
}

/// Withdrawals of the recording: index, validator, height, receiver.
fn withdrawals_of(chain: &Chain) -> Vec<(u64, u64, u64, String)> {
    let mut withdrawals = Vec::new();
    for block in chain.lines.iter().map(|line| &line["block"]) {
        for withdrawal in block["withdrawals"].as_array().into_iter().flatten() {
            let number = |name: &str| quantity(&withdrawal[name]);
            let height = quantity(&block["number"]);
            withdrawals.push((number("index"), number("validatorIndex"), height, text(&withdrawal["address"])));
        }
    }
    withdrawals.sort_unstable_by(|one, other| other.cmp(one));
    withdrawals
}

#[test]
fn of_withdrawals_are_all_of_them() -> anyhow::Result<()> {
    for name in ["mainnet", "hive"] {
        let withdrawals = withdrawals_of(chain(name));
        let api = &chain(name).api;
        let receivers: BTreeSet<&String> = withdrawals.iter().map(|(_, _, _, receiver)| receiver).collect();
        for receiver in receivers.iter().take(12) {
            let mine = withdrawals.iter().filter(|one| one.3 == **receiver);
            let expected: Vec<String> =
                mine.map(|(index, validator, height, _)| format!("{index} {validator} {height}")).collect();
            List::of_withdrawals(receiver).is(api, &expected, &[1, 50])?;
        }
        let heights: BTreeSet<u64> = withdrawals.iter().map(|(_, _, height, _)| *height).collect();
        ensure!(!heights.is_empty());
        for height in heights.iter().take(4) {
            let of_block = withdrawals.iter().filter(|one| one.2 == *height);
            let expected: Vec<String> = of_block.map(|(index, validator, ..)| format!("{index} {validator}")).collect();
            let list = List {
                target: format!("/api/v2/blocks/{height}/withdrawals?"),
                name: |item| joined(item, &["index", "validator_index"]),
            };
            list.is(api, &expected, &[1, 3, 50])?;
        }
    }
    Ok(())
}

#[test]
fn of_blocks_are_all_of_them() -> anyhow::Result<()> {
    for name in ["hive", "mainnet"] {
        let chain = chain(name);
        let named = |block: &Value| (quantity(&block["number"]), text(&block["hash"]));
        let mut blocks: Vec<_> = chain.lines.iter().map(|line| named(&line["block"])).collect();
        let of_lines = chain.lines.iter().flat_map(|line| line["uncleHeaders"].as_array().into_iter().flatten());
        let mut uncles: Vec<_> = of_lines.map(named).collect();
        for (kind, blocks) in [("block", &mut blocks), ("uncle", &mut uncles), ("reorg", &mut Vec::new())] {
            blocks.sort_unstable_by(|one, other| other.cmp(one));
            let expected: Vec<String> = blocks.iter().map(|(height, hash)| format!("{height} {hash}")).collect();
            // A page of uncles takes all of a height, so its items may be more than were requested.
            List::of_blocks(kind).is(&chain.api, &expected, &[1, 7, 50])?;
        }
        ensure!(uncles.len() > 1, "{name} has no uncles");
    }
    Ok(())
}

#[test]
fn of_logs_are_all_of_them() -> anyhow::Result<()> {
    for name in ["devchain", "mainnet"] {
        let chain = chain(name);
        let mut receipts: Vec<&Value> =
            chain.lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten()).collect();
        let count = |receipt: &Value| receipt["logs"].as_array().map_or(0, Vec::len);
        receipts.sort_by_key(|receipt| std::cmp::Reverse(count(receipt)));
        ensure!(count(receipts[0]) > 50, "{name} has no transaction with more logs than a page");
        // Small pages of a long list would be many requests.
        for (receipt, sizes) in [(receipts[0], &[50, 99][..]), (receipts[receipts.len() / 8], &[1, 50])] {
            let expected: Vec<String> = receipt["logs"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|log| format!("{} {} {}", quantity(&log["logIndex"]), text(&log["address"]), text(&log["data"])))
                .collect();
            let list = List {
                target: format!("/api/v2/transactions/{}/logs?", text(&receipt["transactionHash"])),
                name: |item| joined(item, &["index", "address/hash", "data"]),
            };
            list.is(&chain.api, &expected, sizes)?;
        }
    }
    Ok(())
}
