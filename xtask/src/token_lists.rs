//! `cargo xtask tokens`: the tokens that several public token lists have, with name, symbol and decimals. The lists
//! come from packages on npm, which `token_lists.txt` names with their versions; licences are written beside them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use alloy_primitives::Address;
use anyhow::{Context as _, bail};
use serde_json::Value;
use xtask::workspace;

use crate::npm;

const COMMENT: &str = "# Tokens by chain that at least two public token lists have (token_lists.txt), and those of \
    one list with the symbol of\n\
    # a token in known_tokens.txt. Chain id, address, decimals, symbol, name. `cargo xtask tokens` writes this file.\n";

/// A contract on a chain, by the chain's id.
type Contract = (u64, Address);

/// What one list says of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    decimals: u64,
    symbol: String,
    name: String,
}

/// Fetches the lists that are not there yet, and writes the file anew.
pub fn run() -> anyhow::Result<()> {
    let folder = workspace::root().join("crates/json/src/tokens");
    let text = std::fs::read_to_string(folder.join("token_lists.txt"))?;
    let (mut found, mut packages) = (BTreeMap::<Contract, Vec<Entry>>::new(), String::new());
    for line in text.lines() {
        if line.starts_with('#') {
            packages += &format!("{line}\n");
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let [name, version, file, ..] = words[..] else { bail!("`{line}` is no package, version and file") };
        let package = npm::package(name, version)?;
        add(&mut found, &package.join(file)).with_context(|| format!("{name} {version} {file}"))?;
        packages += &format!("{name} {version} {file} {}\n", npm::licence(&package)?);
    }
    let known = std::fs::read_to_string(folder.join("known_tokens.txt"))?;
    let lines = agreed(&found, &known);
    eprintln!("xtask: {} tokens of {} that are in any list", lines.len(), found.len());
    std::fs::write(folder.join("token_lists.txt"), packages)?;
    std::fs::write(folder.join("listed_tokens.txt"), format!("{COMMENT}{}\n", lines.join("\n")))?;
    Ok(())
}

/// Adds the tokens of a list in the form of <https://uniswap.org/tokenlist.schema.json>; a contract counts once.
fn add(found: &mut BTreeMap<Contract, Vec<Entry>>, file: &Path) -> anyhow::Result<()> {
    let list: Value = serde_json::from_slice(&std::fs::read(file)?)?;
    let tokens = list["tokens"].as_array().context("it has no `tokens`")?;
    let of_list: BTreeMap<Contract, Entry> = tokens.iter().filter_map(entry).collect();
    for (contract, entry) in of_list {
        found.entry(contract).or_default().push(entry);
    }
    Ok(())
}

/// A token that fits a line: an address, and words without characters that a line cannot hold.
fn entry(token: &Value) -> Option<(Contract, Entry)> {
    let text = |name: &str| token[name].as_str().map(str::trim);
    let is_plain = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    let symbol = text("symbol").filter(is_plain).filter(|symbol| symbol.len() <= 16 && !symbol.contains(' '))?;
    let name = text("name").filter(is_plain).filter(|name| name.len() <= 60)?;
    let address: Address = text("address")?.parse().ok()?;
    let decimals = token["decimals"].as_u64().filter(|decimals| *decimals <= 255)?;
    let entry = Entry { decimals, symbol: symbol.into(), name: name.into() };
    Some(((token["chainId"].as_u64()?, address), entry))
}

/// The lines of tokens that two lists have, or that bear a symbol of those `known`, which are left out themselves.
/// Lists that disagree on decimals say nothing.
fn agreed(found: &BTreeMap<Contract, Vec<Entry>>, known: &str) -> Vec<String> {
    let known = known.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(' ').collect::<Vec<_>>());
    let known: Vec<Vec<&str>> = known.filter(|words| words.len() > 4).collect();
    let symbols: BTreeSet<String> = known.iter().map(|words| words[3].to_uppercase()).collect();
    let is_known = |(chain, address): &Contract| {
        known.iter().any(|words| words[0] == chain.to_string() && words[1].parse() == Ok(*address))
    };
    let mut lines = Vec::new();
    for (contract, entries) in found {
        let first = &entries[0];
        let is_alike = entries.iter().any(|entry| symbols.contains(&entry.symbol.to_uppercase()));
        let is_certain = entries.iter().all(|entry| entry.decimals == first.decimals);
        if is_certain && (entries.len() > 1 || is_alike) && !is_known(contract) {
            let (chain, address) = contract;
            lines.push(format!(
                "{chain} {} {} {} {}",
                address.to_checksum(None),
                first.decimals,
                first.symbol,
                first.name
            ));
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KNOWN: &str = "# A comment\n1 0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48 6 USDC USD Coin";

    fn found(lists: &[Value]) -> BTreeMap<Contract, Vec<Entry>> {
        let mut found = BTreeMap::<Contract, Vec<Entry>>::new();
        for (contract, entry) in lists.iter().filter_map(entry) {
            found.entry(contract).or_default().push(entry);
        }
        found
    }

    fn token(address: &str, symbol: &str, decimals: u8) -> Value {
        let address = format!("0x{}", address.repeat(20));
        json!({"chainId": 10, "address": address, "symbol": symbol, "name": "A token", "decimals": decimals})
    }

    #[test]
    fn two_lists_or_a_known_symbol_make_a_token() {
        let twice = [token("11", "ONE", 18), token("11", "ONE", 18)];
        let line = "10 0x1111111111111111111111111111111111111111 18 ONE A token";
        assert_eq!(agreed(&found(&twice), KNOWN), [line]);
        assert_eq!(agreed(&found(&twice[..1]), KNOWN), [""; 0]);
        assert_eq!(agreed(&found(&[token("22", "usdc", 6)]), KNOWN).len(), 1);
        assert_eq!(agreed(&found(&[token("11", "ONE", 18), token("11", "ONE", 8)]), KNOWN), [""; 0]);
    }

    #[test]
    fn a_token_that_no_line_can_hold_is_left_out() {
        for symbol in ["", "A B", "A\nB", "ЕТН", "12345678901234567"] {
            assert_eq!(entry(&token("11", symbol, 18)), None, "{symbol}");
        }
        assert_eq!(entry(&token("1", "ONE", 18)), None);
    }
}
