//! `/api/v2/advanced-filters/csv`: the rows of the list, whose items are held against the node's reports, in the
//! columns
//! of Blockscout.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::http;

use super::{Row, all, key};
use crate::chains::{Chain, chain};
use crate::pages::{get, walk};
use crate::scan::listed::{busiest, rows};

const HEADER: &str = "TxHash,Type,MethodId,UtcTimestamp,FromAddress,ToAddress,CreatedContractAddress,Value,TokenContractAddressHash,TokenDecimals,TokenSymbol,TokenValue,TokenID,BlockNumber,Fee,CurrentPrice,TxDateOpeningPrice,TxDateClosingPrice";

fn ask(chain: &Chain, query: &str) -> anyhow::Result<http::Answer> {
    http::get(&http::agent(), &format!("{}/api/v2/advanced-filters/csv?{query}", chain.api))
}

/// The rows of a file by cells.
fn exported(chain: &Chain, query: &str) -> anyhow::Result<Vec<Vec<String>>> {
    let answer = ask(chain, query)?;
    ensure!(answer.status == 200, "{query}: {} {}", answer.status, answer.text());
    ensure!(answer.header("content-type") == "application/csv", "{answer:?}");
    let file = answer.header("content-disposition");
    ensure!(file == "attachment; filename=\"advanced-filters.csv\"", "{file}");
    let text = answer.text();
    let mut lines = text.strip_suffix("\r\n").with_context(|| format!("{query}: no last end of a line"))?.split("\r\n");
    ensure!(lines.next() == Some(HEADER), "{query}: {text}");
    Ok(lines.map(|line| line.split(',').map(str::to_owned).collect()).collect())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A number of smallest units in whole ones.
fn whole(units: &str, decimals: usize) -> String {
    let digits = format!("{units:0>width$}", width = decimals + 1);
    let (whole, rest) = digits.split_at(digits.len() - decimals);
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}

/// The line that an item of the list is due. `selector`: of what its transaction calls.
fn line(item: &Value, selector: &str) -> Vec<String> {
    let total = &item["total"];
    let has_ids = !total["token_id"].is_null();
    let decimals = if has_ids { String::new() } else { text(&total["decimals"]) };
    let units = text(&total["value"]);
    let amount = decimals.parse().map_or_else(|_| units.clone(), |decimals| whole(&units, decimals));
    vec![
        text(&item["hash"]),
        text(&item["type"]),
        selector.to_owned(),
        text(&item["timestamp"]).replace('T', " "),
        text(&item["from"]["hash"]),
        text(&item["to"]["hash"]),
        text(&item["created_contract"]["hash"]),
        text(&item["value"]),
        text(&item["token"]["address_hash"]),
        decimals,
        text(&item["token"]["symbol"]),
        if item["type"] == "ERC-721" { String::new() } else { amount },
        text(&total["token_id"]),
        item["block_number"].to_string(),
        text(&item["fee"]),
        String::new(),
        String::new(),
        String::new(),
    ]
}

/// The lines that a query is due.
fn due(chain: &Chain, query: &str, all: &[Row]) -> anyhow::Result<Vec<Vec<String>>> {
    // Who creates a contract calls no function of it.
    let is_creation = |row: &&Row| row.key.2 == 0 && row.kind == "contract_creation";
    let creations: BTreeSet<&String> = all.iter().filter(is_creation).map(|row| &row.hash).collect();
    let items = walk(chain, &format!("advanced-filters?{query}"), 100)?;
    let lines = items.iter().map(|item| {
        let row = all.iter().find(|row| row.key == key(item)).with_context(|| item.to_string())?;
        let calls = row.selector.len() == 10 && !creations.contains(&row.hash);
        Ok(line(item, if calls { &row.selector } else { "" }))
    });
    lines.collect()
}

#[test]
fn is_the_list_as_a_file() -> anyhow::Result<()> {
    let mut kinds = BTreeSet::new();
    for name in ["devchain", "hive"] {
        let chain = chain(name);
        let all = all(chain)?;
        let transfers = rows(chain, "token-transfers", "")?;
        let token = busiest(&transfers, &["token"]).first().cloned().unwrap_or_default();
        let sender = &all.iter().find(|row| row.key.2 == 0).context("a transaction")?.from;
        let mut queries = vec![
            String::new(),
            "transaction_types=coin_transfer".into(),
            format!("from_address_hashes_to_include={sender}&address_relation=or"),
            "methods=0xa9059cbb&methods_names=transfer".into(),
            "amount_from=1&token_contract_address_hashes_to_include=native".into(),
            "from_address_hashes_to_include=0xdddddddddddddddddddddddddddddddddddddddd".into(),
        ];
        if !token.is_empty() {
            queries.push(format!("token_contract_address_hashes_to_include={token}"));
        }
        for query in queries {
            let (found, due) = (exported(chain, &query)?, due(chain, &query, &all)?);
            ensure!(found.len() == due.len(), "{name} {query}: {} of {}", found.len(), due.len());
            for (found, due) in found.iter().zip(&due) {
                ensure!(found == due, "{name} {query}: {found:?}\ninstead of {due:?}");
            }
            kinds.extend(found.iter().map(|cells| cells[1].clone()));
        }
    }
    ensure!(kinds.len() == 6, "{kinds:?}");
    Ok(())
}

/// The cursor of a page of the list is where a file begins.
#[test]
fn goes_on_after_a_page() -> anyhow::Result<()> {
    let chain = chain("devchain");
    let page = get(chain, "advanced-filters?items_count=7")?;
    let next = page["next_page_params"].as_object().context("a cursor")?;
    let cursor: Vec<String> = next
        .iter()
        .filter(|(name, _)| *name != "items_count")
        .map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"')))
        .collect();
    let (whole, rest) = (exported(chain, "")?, exported(chain, &cursor.join("&"))?);
    ensure!(rest == whole[7..] && !rest.is_empty(), "{} of {}", rest.len(), whole.len());
    Ok(())
}

#[test]
fn refuses_what_the_list_refuses() -> anyhow::Result<()> {
    let chain = chain("devchain");
    for (query, pointer) in [
        ("transaction_types=everything", "/transaction_types"),
        ("age=1h", "/age_from"),
        ("block_number=5", "/transaction_index"),
        ("items_count=5", "/items_count"),
        ("to_period=2020-01-01", "/to_period"),
    ] {
        let refused = ask(chain, query)?;
        ensure!(refused.status == 422, "{query}: {} {}", refused.status, refused.text());
        ensure!(refused.json()?["errors"][0]["source"]["pointer"] == pointer, "{query}: {}", refused.text());
    }
    let url = format!("{}/api/v2/advanced-filters/csv?age_from=2099-01-01&recaptcha_response=x", chain.api);
    let accepted = http::agent().get(url).header("accept", "text/csv").call()?;
    ensure!(accepted.status() == 200, "{}", accepted.status());
    Ok(())
}
