//! A branch of a recorded chain that leaves it at a height and has blocks without transactions from there on.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use alloy_primitives::keccak256;
use anyhow::Context as _;
use serde_json::{Value, json};
use xtask::workspace;

use crate::chains::chain;

/// The root of a trie that has nothing.
const EMPTY_ROOT: &str = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421";

/// The fields of a header in the order in which it is hashed, those of the execution-layer specification up to Prague;
/// `true` where it is a number.
const FIELDS: [(&str, bool); 21] = [
    ("parentHash", false),
    ("sha3Uncles", false),
    ("miner", false),
    ("stateRoot", false),
    ("transactionsRoot", false),
    ("receiptsRoot", false),
    ("logsBloom", false),
    ("difficulty", true),
    ("number", true),
    ("gasLimit", true),
    ("gasUsed", true),
    ("timestamp", true),
    ("extraData", false),
    ("mixHash", false),
    ("nonce", false),
    ("baseFeePerGas", true),
    ("withdrawalsRoot", false),
    ("blobGasUsed", true),
    ("excessBlobGas", true),
    ("parentBeaconBlockRoot", false),
    ("requestsHash", false),
];

/// A length before bytes or a list, as RLP has it.
fn prefixed(offset: u8, content: &[u8]) -> Vec<u8> {
    let length: Vec<u8> = content.len().to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    let head = match u8::try_from(content.len()) {
        Ok(short @ 0..=55) => vec![offset + short],
        _ => [vec![offset + 55 + length.len().to_le_bytes()[0]], length].concat(),
    };
    [&head, content].concat()
}

/// The hash of a header.
fn hash(block: &Value) -> anyhow::Result<String> {
    let mut fields = Vec::new();
    for (name, is_number) in FIELDS {
        let Some(digits) = block[name].as_str().and_then(|text| text.strip_prefix("0x")) else { break };
        let even = if digits.len().is_multiple_of(2) { digits.to_owned() } else { format!("0{digits}") };
        let mut bytes = alloy_primitives::hex::decode(even)?;
        if is_number {
            bytes = bytes.into_iter().skip_while(|byte| *byte == 0).collect();
        }
        match bytes.as_slice() {
            [byte @ 0..=0x7f] => fields.push(*byte),
            several => fields.extend(prefixed(0x80, several)),
        }
    }
    Ok(keccak256(prefixed(0xc0, &fields)).to_string())
}

/// The chain of a replay node in `folder`: the recording, and its branch `empty` with the heights `first` to `last`.
/// Returns the hash of its last block.
pub fn write(recording: &str, folder: &Path, (first, last): (u64, u64)) -> anyhow::Result<String> {
    for file in ["chain.ndjson.gz", "meta.json", "genesis.json"] {
        std::fs::copy(workspace::fixture(recording).join(file), folder.join(file))?;
    }
    let lines = &chain(recording).lines;
    let at = |height: u64| lines.get(usize::try_from(height).unwrap_or(usize::MAX)).context("a block");
    // The fields of the recorded blocks hash to what the node returned.
    anyhow::ensure!(at(first)?["block"]["hash"] == hash(&at(first)?["block"])?);
    let mut parent = at(first - 1)?["block"]["hash"].clone();
    let mut branch = std::fs::File::create(branch_of(folder))?;
    for height in first..=last {
        let mut line = at(height)?.clone();
        for list in ["receipts", "traces", "txStateDiffs", "parityTraces"] {
            line[list] = json!([]);
        }
        let block = &mut line["block"];
        for (name, value) in [
            ("parentHash", parent),
            ("transactions", json!([])),
            ("transactionsRoot", json!(EMPTY_ROOT)),
            ("receiptsRoot", json!(EMPTY_ROOT)),
            ("logsBloom", json!(format!("0x{}", "00".repeat(256)))),
            ("gasUsed", json!("0x0")),
            ("blobGasUsed", json!("0x0")),
        ] {
            block[name] = value;
        }
        parent = json!(hash(block)?);
        block["hash"] = parent.clone();
        writeln!(branch, "{line}")?;
    }
    Ok(parent.as_str().unwrap_or_default().to_owned())
}

fn branch_of(folder: &Path) -> PathBuf {
    folder.join("branch-empty.ndjson")
}
