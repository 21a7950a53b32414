//! Cache headers for HTTP caches, and the API's own cache of answers.

use anyhow::{Context as _, ensure};
use xtask::http;

use crate::chains::{Chain, chain, quantity};
use crate::env;

const ASK: &str = "max-age=0, private, must-revalidate";
const MINUTE: &str = "public, max-age=60";
const FOR_GOOD: &str = "public, max-age=31536000, immutable";

/// A transaction with logs of the recording, and its block.
fn transaction(chain: &Chain) -> anyhow::Result<(String, u64)> {
    let mut receipts = chain.lines.iter().flat_map(|line| line["receipts"].as_array().into_iter().flatten());
    let receipt = receipts.find(|receipt| receipt["logs"].as_array().is_some_and(|logs| !logs.is_empty()));
    let receipt = receipt.context("a receipt with logs")?;
    Ok((receipt["transactionHash"].as_str().unwrap_or_default().to_owned(), quantity(&receipt["blockNumber"])))
}

/// `hive` is loaded whole and settled, `mainnet` with holes.
#[test]
fn only_final_answers_are_cacheable() -> anyhow::Result<()> {
    let agent = http::agent();
    let hive = chain("hive");
    let (hash, block) = transaction(hive)?;
    let address = format!("0x{}", "12".repeat(20));
    let behind = "block_number=30&transaction_index=0&index=0";
    for (target, expected) in [
        ("/api/v2/blocks".to_owned(), ASK),
        ("/api/v2/blocks?block_number=54".into(), MINUTE),
        ("/api/v2/blocks?block_number=55".into(), ASK),
        ("/api/v2/blocks?type=uncle&block_number=20".into(), ASK),
        ("/api/v2/blocks?type=reorg".into(), ASK),
        (format!("/api/v2/blocks/{block}/withdrawals"), MINUTE),
        (format!("/api/v2/transactions/{hash}/logs"), MINUTE),
        (format!("/api/v2/transactions/{hash}/summary"), MINUTE),
        (format!("/api/v2/transactions/{hash}/raw-trace"), FOR_GOOD),
        (format!("/api/v2/addresses/{address}/internal-transactions"), ASK),
        (format!("/api/v2/addresses/{address}/internal-transactions?{behind}"), MINUTE),
        (format!("/api/v2/addresses/{address}/token-transfers?block_number=30&index=1"), MINUTE),
        (format!("/api/v2/addresses/{address}/withdrawals?index=3"), ASK),
    ] {
        let answer = http::get(&agent, &format!("{}{target}", hive.api))?;
        ensure!(answer.status == 200 && answer.header("cache-control") == expected, "{target}: {answer:?}");
        ensure!(answer.header("etag").starts_with("W/\""), "{target}: {answer:?}");
    }
    for target in ["/api/v2/blocks?type=x", "/api/v2/blocks/99999999/withdrawals"] {
        let answer = http::get(&agent, &format!("{}{target}", hive.api))?;
        ensure!(answer.header("cache-control") == ASK && answer.header("etag").is_empty(), "{target}: {answer:?}");
    }
    let holes = http::get(&agent, &format!("{}/api/v2/blocks?block_number=19000000", chain("mainnet").api))?;
    ensure!(holes.header("cache-control") == ASK, "a hole may be filled: {holes:?}");
    Ok(())
}

#[test]
fn a_client_that_has_the_answer_gets_304() -> anyhow::Result<()> {
    let url = format!("{}/api/v2/blocks?items_count=3", chain("hive").api);
    let agent = http::agent();
    let first = http::get(&agent, &url)?;
    let tag = first.header("etag");
    let again = agent.get(&url).header("if-none-match", tag).call()?;
    ensure!(again.status() == 304 && again.headers()["etag"] == tag, "{again:?}");
    ensure!(again.headers()["cache-control"] == ASK && again.headers().contains_key("x-request-id"), "{again:?}");
    ensure!(again.into_body().read_to_vec()?.is_empty());
    let other = agent.get(&url).header("if-none-match", "W/\"0\"").call()?;
    ensure!(other.status() == 200, "{other:?}");
    let compressed = agent.get(&url).header("accept-encoding", "gzip").header("if-none-match", tag).call()?;
    ensure!(compressed.status() == 304, "{compressed:?}");
    Ok(())
}

#[test]
fn head_is_get_without_the_body() -> anyhow::Result<()> {
    let agent = http::agent();
    let api = &chain("hive").api;
    // First without and then with an answer in memory.
    for count in [11, 11] {
        let url = format!("{api}/api/v2/blocks?items_count={count}");
        let answer = agent.head(&url).header("accept-encoding", "identity").call()?;
        ensure!(answer.status() == 200, "{answer:?}");
        let (tag, length) = (answer.headers()["etag"].clone(), answer.headers()["content-length"].clone());
        ensure!(answer.into_body().read_to_vec()?.is_empty());
        let whole = agent.get(&url).header("accept-encoding", "identity").call()?;
        ensure!(whole.headers()["etag"] == tag && whole.headers()["content-length"] == length, "{whole:?}");
        ensure!(!whole.into_body().read_to_vec()?.is_empty());
    }
    ensure!(agent.head(format!("{api}/api/v2/blocks?type=x")).call()?.status() == 422);
    Ok(())
}

fn measured(api: &str, name: &str) -> anyhow::Result<f64> {
    let text = http::get(&http::agent(), &format!("{api}/metrics"))?.text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok());
    Ok(line.unwrap_or(0.0))
}

#[test]
fn hits_are_counted_and_room_is_bounded() -> anyhow::Result<()> {
    chain("hive");
    let api = env::start_api("hive", &["--cache-bytes", "200000"])?;
    let agent = http::agent();
    let of = |outcome| measured(&api.url, &format!("trawl_cache_requests_total{{outcome=\"{outcome}\"}}"));
    let url = |count: u64| format!("{}/api/v2/blocks?items_count={count}", api.url);
    let first = http::get(&agent, &url(2))?;
    for _ in 0..4 {
        ensure!(http::get(&agent, &url(2))?.body == first.body);
    }
    ensure!((of("miss")?, of("hit")?) == (1.0, 4.0), "{} {}", of("miss")?, of("hit")?);
    ensure!(measured(&api.url, "trawl_cache_bytes")? > 0.0);
    for count in 1..100 {
        http::get(&agent, &url(count))?;
    }
    let bytes = measured(&api.url, "trawl_cache_bytes")?;
    ensure!(bytes <= 200_000.0, "{bytes}");
    Ok(())
}

#[test]
fn nothing_is_cached_without_room() -> anyhow::Result<()> {
    chain("hive");
    let api = env::start_api("hive", &["--cache-bytes", "0"])?;
    let url = format!("{}/api/v2/blocks?items_count=2", api.url);
    let (one, other) = (http::get(&http::agent(), &url)?, http::get(&http::agent(), &url)?);
    ensure!(one.body == other.body && one.header("etag") == other.header("etag"));
    ensure!(measured(&api.url, "trawl_cache_requests_total{outcome=\"hit\"}")? == 0.0);
    Ok(())
}

/// Token contracts are called for their names after their blocks are committed, and no commit tells of the answer.
#[test]
fn a_word_about_a_token_is_seen() -> anyhow::Result<()> {
    let database = &env::migrate("kept_tokens")?;
    env::run(env::ingest(database, &["load", "--dump", &crate::chains::dump("devchain")]), 0)?;
    let api = env::start_api(database, &[])?;
    let token =
        env::sql(database, "SELECT min(lower(hex(token_address))) FROM token_transfers WHERE token_type = 'ERC-20'")?;
    let holder = format!("SELECT max(lower(hex(address))) FROM token_transfers WHERE token_address = unhex('{token}')");
    let holder = env::sql(database, &holder)?;
    let url = format!("{}/api/v2/addresses/0x{holder}/token-transfers?token=0x{token}&items_count=1", api.url);
    let before = http::get(&http::agent(), &url)?;
    ensure!(before.status == 200 && !before.text().contains("Newly named"), "{before:?}");
    env::sql(
        database,
        &format!(
            "INSERT INTO tokens (address, block_number, token_type, name, symbol, decimals, total_supply)
             VALUES (unhex('{token}'), 99999, 'ERC-20', 'Newly named', 'NEW', 18, 1)"
        ),
    )?;
    env::eventually(env::SOON, || {
        let after = http::get(&http::agent(), &url)?;
        let named = after.text().contains("Newly named");
        // On a busy machine a request may be refused, which is no answer.
        ensure!(after.status == 503 || named == (after.header("etag") != before.header("etag")), "{after:?}");
        Ok(named)
    })?;
    Ok(())
}

/// Somebody turns into a proxy in a hot block, is none after that block was orphaned, and is one once more when it is
/// settled; what was remembered of the views before is of no account.
#[test]
fn code_comes_and_goes_with_its_block() -> anyhow::Result<()> {
    let database = &env::migrate("kept_code")?;
    env::run(env::ingest(database, &["load", "--dump", &crate::chains::dump("devchain")]), 0)?;
    let api = env::start_api(database, &[])?;
    let holder = "SELECT min(lower(hex(address))) FROM token_transfers WHERE address != toFixedString('', 20) \
                  AND address NOT IN (SELECT address FROM contracts) \
                  AND address NOT IN (SELECT address FROM proxy_implementations)";
    let holder = env::sql(database, holder)?;
    let block: u64 = env::sql(database, "SELECT max(last_block) + 1 FROM ingest_commits")?.parse()?;
    let url = format!("{}/api/v2/addresses/0x{holder}/token-transfers?items_count=1", api.url);
    let shown = || -> anyhow::Result<(bool, usize)> {
        let page: serde_json::Value = serde_json::from_slice(&http::get(&http::agent(), &url)?.body)?;
        let sides = [&page["items"][0]["from"], &page["items"][0]["to"]];
        let is_holder = |side: &&&serde_json::Value| {
            side["hash"].as_str().is_some_and(|hash| hash.to_lowercase() == format!("0x{holder}"))
        };
        let side = sides.iter().find(is_holder).with_context(|| page.to_string())?;
        let implementations = side["implementations"].as_array().map_or(0, Vec::len);
        Ok((side["is_contract"] == true, implementations))
    };
    let becomes = |expected: (bool, usize)| {
        // On a busy machine a request may be refused.
        env::eventually(env::SOON, || Ok(shown().is_ok_and(|shown| shown == expected)))
            .with_context(|| format!("{expected:?} and not {:?}", shown()))
    };
    ensure!(shown()? == (false, 0));
    let head = |sequence: u64, generation: u64| {
        let insert = format!(
            "INSERT INTO ingest_heads (sequence, segments, head_block, node_block, tables_through) \
             VALUES ({sequence}, [({block}, {block}, {generation}, ['blocks'])], {block}, {block}, {block})"
        );
        env::sql(database, &insert)
    };
    let write = |prefix: &str, (column, value): (&str, &str)| -> anyhow::Result<()> {
        let key = format!("{value}unhex('{holder}'), {block}");
        let contract = format!("INSERT INTO {prefix}contracts ({column}address, block_number) VALUES ({key})");
        env::sql(database, &contract)?;
        let columns = format!("{column}address, block_number, kind, implementation");
        let values = format!("{key}, 'eip1967', unhex('{}')", "ab".repeat(20));
        env::sql(database, &format!("INSERT INTO {prefix}proxy_implementations ({columns}) VALUES ({values})"))?;
        Ok(())
    };
    write("hot_", ("generation, ", "7, "))?;
    head(1001, 7)?;
    becomes((true, 1))?;
    head(1002, 8)?;
    becomes((false, 0))?;
    write("", ("", ""))?;
    let commit = format!(
        "INSERT INTO ingest_commits (first_block, last_block, parts, chain_id, source, run) \
         SELECT {block}, {block}, ['blocks', 'transactions', 'receipts'], any(chain_id), 'test', 'test' FROM ingest_commits"
    );
    env::sql(database, &commit)?;
    becomes((true, 1))
}

/// Somebody of whom nothing is known emits a log in a hot block, and is unknown again after that block was orphaned.
#[test]
fn who_emitted_a_log_is_a_contract_while_its_block_counts() -> anyhow::Result<()> {
    let database = &env::migrate("kept_emitters")?;
    env::run(env::ingest(database, &["load", "--dump", &crate::chains::dump("devchain")]), 0)?;
    let api = env::start_api(database, &[])?;
    let block: u64 = env::sql(database, "SELECT max(last_block) + 1 FROM ingest_commits")?.parse()?;
    let somebody = "5e".repeat(20);
    let becomes = |expected: serde_json::Value| {
        env::eventually(env::SOON, || {
            let answer = http::get(&http::agent(), &format!("{}/api/v2/search?q=0x{somebody}", api.url))?;
            let page = http::get(&http::agent(), &format!("{}/api/v2/addresses/0x{somebody}", api.url))?;
            // On a busy machine a request may be refused.
            let is_known = answer.status == 200 && page.status == 200;
            let kind = if expected == true { "contract" } else { "address" };
            let shown = || Ok::<_, anyhow::Error>((answer.json()?["items"][0]["type"] == kind, page.json()?));
            Ok(is_known && shown().is_ok_and(|(is_kind, page)| is_kind && page["is_contract"] == expected))
        })
        .with_context(|| format!("{expected}"))
    };
    becomes(serde_json::Value::Null)?;
    let log = "INSERT INTO hot_logs (generation, address, block_number, log_index) VALUES";
    env::sql(database, &format!("{log} (7, unhex('{somebody}'), {block}, 0)"))?;
    for (sequence, generation, expected) in [(1001, 7, serde_json::json!(true)), (1002, 8, serde_json::Value::Null)] {
        let segment = format!("[({block}, {block}, {generation}, ['blocks', 'receipts'])]");
        let columns = "sequence, segments, head_block, node_block, tables_through";
        let values = format!("{sequence}, {segment}, {block}, {block}, {block}");
        env::sql(database, &format!("INSERT INTO ingest_heads ({columns}) VALUES ({values})"))?;
        becomes(expected)?;
    }
    api.stop()?;
    Ok(())
}
