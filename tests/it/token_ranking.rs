//! The list of all tokens, against the counts of the tokens' own pages, and what is not served.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use crate::chains::{chain, dump};
use crate::env;
use crate::pages::{get, walk};

fn holders(token: &Value) -> Option<u64> {
    token["holders_count"].as_str().and_then(|count| count.parse().ok())
}

fn addresses(tokens: &[Value]) -> Vec<String> {
    tokens.iter().map(|token| token["address_hash"].as_str().unwrap_or_default().to_lowercase()).collect()
}

/// Every contract that emitted a transfer, and no other, in the order of the counts that its own page has.
#[test]
fn all_tokens_are_there_by_their_holders() -> anyhow::Result<()> {
    for name in ["devchain", "hive", "mainnet"] {
        let chain = chain(name);
        let moved =
            env::sql(chain.name, "SELECT DISTINCT '0x' || lower(hex(token_address)) FROM token_transfers_by_block")?;
        let counted = env::sql(chain.name, "SELECT DISTINCT '0x' || lower(hex(token_address)) FROM token_statistics")?;
        let with_metadata = env::sql(chain.name, "SELECT DISTINCT '0x' || lower(hex(address)) FROM tokens")?;
        let known: BTreeSet<String> = counted.lines().chain(with_metadata.lines()).map(str::to_owned).collect();
        ensure!(name != "devchain" || known.len() > 1, "{name}: {known:?}");
        let moved: BTreeSet<String> = moved.lines().map(str::to_owned).collect();
        ensure!(known.is_subset(&moved), "{name}: {known:?}, moved {moved:?}");
        let mut expected: Vec<(std::cmp::Reverse<Option<u64>>, String, Value)> = Vec::new();
        for token in &known {
            let mut page = get(chain, &format!("tokens/{token}"))?;
            // The list is of the last counting, which each of these chains has behind it.
            page.as_object_mut().context("a token")?.remove("block_number");
            expected.push((std::cmp::Reverse(holders(&page)), token.clone(), page));
        }
        expected.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
        let pages: Vec<Value> = expected.into_iter().map(|(_, _, page)| page).collect();
        for size in [1, 3, 50] {
            let found = walk(chain, "tokens", size)?;
            ensure!(found == pages, "{name} in pages of {size}: {found:#?}, not {pages:#?}");
        }
        // Least held first, and those without a count at the end again.
        let (mut known, unknown): (Vec<Value>, Vec<Value>) =
            pages.iter().cloned().partition(|token| holders(token).is_some());
        known.sort_by_key(|token| (holders(token), addresses(std::slice::from_ref(token))));
        let ascending: Vec<Value> = known.into_iter().chain(unknown).collect();
        for size in [2, 50] {
            let found = walk(chain, "tokens?sort=holders_count&order=asc", size)?;
            ensure!(found == ascending, "{name} in pages of {size}: {found:#?}");
        }
        for kind in ["ERC-20", "ERC-721", "ERC-1155", "ERC-20,ERC-1155"] {
            let of_kind: Vec<Value> =
                pages.iter().filter(|token| kind.split(',').any(|kind| token["type"] == kind)).cloned().collect();
            let found = walk(chain, &format!("tokens?type={kind}"), 2)?;
            ensure!(found == of_kind, "{name} {kind}: {found:#?}");
        }
        let limited = get(chain, "tokens?limit=1")?;
        ensure!(limited["items"].as_array().is_some_and(|items| items.len() <= 1), "{limited}");
    }
    Ok(())
}

/// Many tokens in a table of their own: pages through what is cached and beyond it, equal counts, contracts with
/// transfers of several kinds, and names.
#[test]
fn pages_are_whole_beyond_what_is_cached() -> anyhow::Result<()> {
    let database = &env::migrate("token_ranking_many")?;
    env::run(env::ingest(database, &["load", "--dump", &dump("devchain"), "--to", "3"]), 0)?;
    env::sql(database, "TRUNCATE TABLE token_statistics")?;
    let address = "toFixedString(unhex(leftPad(lower(hex(cityHash64(number))), 40, '0')), 20)";
    let rows = format!(
        "INSERT INTO token_statistics SELECT {address}, ['ERC-20', 'ERC-721'][1 + number % 2], number, \
         if(number % 11 = 0, NULL, number % 97), 5 FROM numbers(2600)"
    );
    env::sql(database, &rows)?;
    // Older rows that are not merged away yet, and an older kind of the same contract.
    let older = rows.replace("number % 97", "number + 1000").replace("% 2], number,", "% 2], 0,");
    env::sql(database, &older.replace("numbers(2600)", "numbers(1, 2599)"))?;
    let other = rows.replace("['ERC-20', 'ERC-721'][1 + number % 2], number,", "'ERC-1155', 0,");
    env::sql(database, &other.replace("numbers(2600)", "numbers(1, 40)"))?;
    env::sql(
        database,
        &format!(
            "INSERT INTO tokens SELECT {address}, 1, ['ERC-20', 'ERC-721'][1 + number % 2], \
             if(number % 5 = 0, 'Blue Coin', 'Red Sea'), 'SYM', 18, NULL FROM numbers(2610)"
        ),
    )?;
    // A name that is replaced is not found any more.
    env::sql(
        database,
        &format!("INSERT INTO tokens SELECT {address}, 2, 'ERC-721', 'Green', 'G', 18, NULL FROM numbers(5, 1)"),
    )?;
    let api = env::start_api(database, &[])?;
    let order = |ranking: &str| {
        format!(
            "SELECT '0x' || lower(hex({address})) FROM numbers(2610) \
             ORDER BY number >= 2600 OR number % 11 = 0, if(number >= 2600 OR number % 11 = 0, 0, toInt64(number % 97)) {ranking}, {address}"
        )
    };
    for (query, ranking) in [("", "DESC"), ("&order=asc", "ASC")] {
        let expected: Vec<String> = env::sql(database, &order(ranking))?.lines().map(str::to_owned).collect();
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("{}/api/v2/tokens?items_count=100{query}{cursor}", api.url);
            let page = http::get(&http::agent(), &path)?;
            ensure!(page.status == 200, "{path}: {}", page.text());
            let page = page.json()?;
            found.extend(addresses(page["items"].as_array().context("items")?));
            let Some(next) = page["next_page_params"].as_object() else { break };
            cursor.clear();
            for (name, value) in next.iter().filter(|(name, value)| *name != "items_count" && !value.is_null()) {
                write!(cursor, "&{name}={}", value.as_str().context("text")?)?;
            }
        }
        let first = found.iter().zip(&expected).position(|(one, other)| one != other);
        ensure!(found == expected, "{query}: {} of {}, different from {first:?} on", found.len(), expected.len());
    }
    let ask = |query: &str| -> anyhow::Result<Value> {
        let answer = http::get(&http::agent(), &format!("{}/api/v2/tokens?{query}", api.url))?;
        ensure!(answer.status == 200, "{query}: {}", answer.text());
        answer.json()
    };
    let blue = ask("q=COIN&items_count=100")?;
    let blue = blue["items"].as_array().context("items")?;
    ensure!(blue.len() >= 99 && blue.iter().all(|token| token["name"] == "Blue Coin"), "{blue:?}");
    // By an older kind of their transfers too, and as what they are by it: 10, 15 … 40 are called so.
    let older = ask("q=blue+coin&type=ERC-1155")?;
    let older = older["items"].as_array().context("items")?;
    ensure!(older.len() == 7 && older.iter().all(|token| token["type"] == "ERC-1155"), "{older:?}");
    let green = ask("q=gree")?;
    ensure!(green["items"].as_array().map(Vec::len) == Some(1), "{green}");
    let token = &green["items"][0]["address_hash"];
    let exact = ask(&format!("q={}", token.as_str().context("text")?))?;
    ensure!(exact["items"] == green["items"] && exact["next_page_params"].is_null(), "{exact}");
    api.stop()?;
    Ok(())
}

#[test]
fn what_is_no_ranking_is_refused() -> anyhow::Result<()> {
    let api = &chain("devchain").api;
    let refused = [
        "sort=fiat_value",
        "order=up",
        "type=ERC-9",
        "limit=0",
        "holders_count=x",
        "holders_count=5",
        "contract_address_hash=0x12",
    ];
    for query in refused {
        let answer = http::get(&http::agent(), &format!("{api}/api/v2/tokens?{query}"))?;
        ensure!(answer.status == 422, "{query}: {} {}", answer.status, answer.text());
    }
    // Both spellings are the same list.
    let plain = http::get(&http::agent(), &format!("{api}/api/v2/tokens"))?.json()?;
    ensure!(http::get(&http::agent(), &format!("{api}/api/v2/tokens/"))?.json()? == plain);
    Ok(())
}
