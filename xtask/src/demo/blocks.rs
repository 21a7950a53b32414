//! Blocks as their source has them, to load and to compare answers with.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context as _, anyhow};
use serde_json::{Value, json};
use xtask::workspace;

use super::chains::{BlockParts, Chain};

/// Lines of a dump (`block`, `receipts`) by height.
pub type Blocks = BTreeMap<u64, Value>;

/// The bundled blocks of a chain.
pub fn of_chain(chain: &Chain) -> anyhow::Result<Blocks> {
    let mut blocks = Blocks::new();
    for dump in chain.dumps {
        blocks.extend(read_dump(&workspace::fixture(dump))?);
    }
    if let Some(parts) = &chain.parts {
        let line = join(parts)?;
        blocks.insert(quantity(&line["block"]["number"])?, line);
    }
    Ok(blocks)
}

/// A block and its receipts as a line of a dump.
pub fn join(parts: &BlockParts) -> anyhow::Result<Value> {
    let receipts: Value = serde_json::from_reader(open(&workspace::fixture(parts.receipts))?)?;
    let height = quantity(&receipts[0]["blockNumber"])?;
    let mut blocks = read_dump(&workspace::fixture(parts.blocks))?;
    let mut line = blocks.remove(&height).with_context(|| format!("{} has no block {height}", parts.blocks))?;
    Ok(json!({"block": line["block"].take(), "receipts": receipts}))
}

fn read_dump(dump: &Path) -> anyhow::Result<Blocks> {
    let mut blocks = Blocks::new();
    for line in BufReader::new(open(dump)?).lines() {
        let line: Value = serde_json::from_str(&line?)?;
        blocks.insert(quantity(&line["block"]["number"])?, line);
    }
    Ok(blocks)
}

/// A file as text, unpacked.
fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(match path.extension() {
        Some(ending) if ending == "gz" => Box::new(flate2::read::MultiGzDecoder::new(file)),
        _ => Box::new(file),
    })
}

/// A number in the notation of nodes.
pub fn quantity<N: TryFrom<u128>>(value: &Value) -> anyhow::Result<N> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let number = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| anyhow!("{value} is no quantity"))
}

/// The transactions of a line, each with its receipt where the source has it.
pub fn transactions(line: &Value) -> impl Iterator<Item = (&Value, Option<&Value>)> {
    let transactions = line["block"]["transactions"].as_array().into_iter().flatten();
    transactions.enumerate().map(|(position, transaction)| (transaction, line["receipts"].get(position)))
}

/// The logs of a line.
pub fn logs(line: &Value) -> impl Iterator<Item = &Value> {
    let receipts = line["receipts"].as_array().into_iter().flatten();
    receipts.flat_map(|receipt| receipt["logs"].as_array().into_iter().flatten())
}
