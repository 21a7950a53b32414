//! era1 archives: written here by the specification from a recorded chain, whole and damaged.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::chains::{chain, quantity};
use crate::env;

/// The last block before the merge in the conformance chain.
const LAST: usize = 33;

fn bytes(value: &Value) -> Vec<u8> {
    let text = value.as_str().expect("hexadecimal text").trim_start_matches("0x");
    let text = if text.len() % 2 == 1 { format!("0{text}") } else { text.to_owned() };
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).expect("digits")).collect()
}

/// An integer as RLP has it: big endian without leading zeros.
fn integer(value: &Value) -> Vec<u8> {
    bytes(value).into_iter().skip_while(|byte| *byte == 0).collect()
}

fn head(short: u8, length: usize) -> Vec<u8> {
    if length < 56 {
        return vec![short + length as u8];
    }
    let digits: Vec<u8> = length.to_be_bytes().into_iter().skip_while(|byte| *byte == 0).collect();
    [vec![short + 55 + digits.len() as u8], digits].concat()
}

fn text(bytes: &[u8]) -> Vec<u8> {
    if let [byte] = bytes
        && *byte < 0x80
    {
        return vec![*byte];
    }
    [head(0x80, bytes.len()), bytes.to_vec()].concat()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let payload = items.concat();
    [head(0xc0, payload.len()), payload].concat()
}

/// Where the payload of the item at the start of `rlp` lies, and so where the item ends.
fn payload(rlp: &[u8]) -> std::ops::Range<usize> {
    let long = |base: u8| {
        let digits = usize::from(rlp[0] - base);
        let length = rlp[1..=digits].iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        1 + digits..1 + digits + length
    };
    match rlp[0] {
        0..0x80 => 0..1,
        byte @ 0x80..0xb8 => 1..1 + usize::from(byte - 0x80),
        0xb8..0xc0 => long(0xb7),
        byte @ 0xc0..0xf8 => 1..1 + usize::from(byte - 0xc0),
        0xf8.. => long(0xf7),
    }
}

/// Header and body of a block's RLP: `[header, transactions, uncles]` and `[transactions, uncles]`.
fn parts(block: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let items = &block[payload(block)];
    let (header, body) = items.split_at(payload(items).end);
    (header.to_vec(), list(&[body.to_vec()]))
}

fn receipt(receipt: &Value) -> Vec<u8> {
    let logs: Vec<Vec<u8>> = receipt["logs"]
        .as_array()
        .expect("logs")
        .iter()
        .map(|log| {
            let topics: Vec<_> =
                log["topics"].as_array().expect("topics").iter().map(|topic| text(&bytes(topic))).collect();
            list(&[text(&bytes(&log["address"])), list(&topics), text(&bytes(&log["data"]))])
        })
        .collect();
    let outcome = if receipt["root"].is_string() { bytes(&receipt["root"]) } else { integer(&receipt["status"]) };
    let fields = [
        text(&outcome),
        text(&integer(&receipt["cumulativeGasUsed"])),
        text(&bytes(&receipt["logsBloom"])),
        list(&logs),
    ];
    match quantity(&receipt["type"]) {
        0 => list(&fields),
        kind => text(&[vec![kind as u8], list(&fields)].concat()),
    }
}

fn snappy(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut packer = snap::write::FrameEncoder::new(Vec::new());
    packer.write_all(bytes)?;
    packer.into_inner().map_err(|error| anyhow::anyhow!("{error}"))
}

fn entry(kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).expect("short");
    [&kind.to_le_bytes()[..], &length.to_le_bytes(), &[0, 0], data].concat()
}

fn word(value: &Value) -> [u8; 32] {
    let mut little = integer(value);
    little.reverse();
    little.resize(32, 0);
    little.try_into().expect("32 bytes")
}

fn hash(parts: &[&[u8]]) -> Vec<u8> {
    Sha256::digest(parts.concat()).to_vec()
}

/// Merkleization as the SSZ specification words it: chunks padded to the limit, hashed by halves.
fn merkle(records: &[Vec<u8>], limit: usize) -> Vec<u8> {
    if limit == 1 {
        return records.first().cloned().unwrap_or_else(|| vec![0; 32]);
    }
    let (left, right) = records.split_at(records.len().min(limit / 2));
    hash(&[&merkle(left, limit / 2), &merkle(right, limit / 2)])
}

/// An archive of lines of a dump, and where its entries begin.
fn archive(lines: &[Value]) -> anyhow::Result<(Vec<u8>, Vec<usize>)> {
    let mut file = entry(0x3265, &[]);
    let (mut starts, mut offsets, mut records) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines {
        let (header, body) = parts(&bytes(&line["raw"]));
        let receipts: Vec<_> = line["receipts"].as_array().context("receipts")?.iter().map(receipt).collect();
        offsets.push(file.len() as i64);
        for (kind, data) in [
            (0x03, snappy(&header)?),
            (0x04, snappy(&body)?),
            (0x05, snappy(&list(&receipts))?),
            (0x06, word(&line["totalDifficulty"]).to_vec()),
        ] {
            starts.push(file.len());
            file.extend(entry(kind, &data));
        }
        records.push(hash(&[&bytes(&line["block"]["hash"]), &word(&line["totalDifficulty"])]));
    }
    let mut length = [0; 32];
    length[0] = u8::try_from(records.len())?;
    starts.push(file.len());
    file.extend(entry(0x07, &hash(&[&merkle(&records, 8192), &length])));
    let index = file.len() as i64;
    let mut words = vec![quantity(&lines[0]["block"]["number"]) as i64];
    words.extend(offsets.iter().map(|offset| offset - index));
    words.push(i64::try_from(records.len())?);
    starts.push(file.len());
    file.extend(entry(0x3266, &words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>()));
    Ok((file, starts))
}

fn load(database: &str, path: &Path, code: i32) -> anyhow::Result<String> {
    let output = env::run(env::ingest(database, &["load", "--era1", &path.display().to_string()]), code)?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What archives do not hold: call frames, state, and verdicts that name the source.
const ELSEWHERE: [&str; 13] = [
    "block_verdicts",
    "internal_transactions",
    "internal_transactions_by_address",
    "internal_transactions_by_direction",
    "contracts",
    "balance_history",
    "nonce_history",
    "code_history",
    "codes",
    "storage_history",
    "account_destructions",
    "balance_credits",
    "proxy_implementations",
];

/// Nothing is lacking in what an archive holds: every column of every row is equal.
fn is_whole(database: &str) -> anyhow::Result<()> {
    let reference = chain("hive").name;
    for (table, column) in trawl_core::schema::BLOCK_TABLES.into_iter().filter(|(table, _)| !ELSEWHERE.contains(table))
    {
        let sum = |database: &str| {
            env::sql(
                database,
                &format!(
                    "SELECT count(), sum(cityHash64(formatRowNoNewline('TSV', *))) FROM {table} WHERE {column} <= {LAST}"
                ),
            )
        };
        ensure!(sum(database)? == sum(reference)?, "{table}: {} instead of {}", sum(database)?, sum(reference)?);
    }
    let committed = env::sql(
        database,
        "SELECT max(last_block), sum(last_block - first_block + 1), any(source), any(parts) FROM ingest_commits",
    )?;
    ensure!(committed == "33\t34\tera1\t['blocks','transactions','withdrawals','uncles','receipts']", "{committed}");
    Ok(())
}

#[test]
fn gives_the_same_rows_as_the_dump() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("hive-00000-00000000.era1");
    std::fs::write(&file, archive(&chain("hive").lines[..=LAST])?.0)?;
    let _database = env::migrate("era1_whole")?;
    load("era1_whole", &file, 0)?;
    is_whole("era1_whole")?;
    env::run(env::ingest("era1_whole", &["verify"]), 0).map(drop)
}

#[test]
fn files_of_a_folder_are_read_in_order() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let lines = &chain("hive").lines;
    std::fs::write(folder.path().join("hive-00001-b.era1"), archive(&lines[20..=LAST])?.0)?;
    std::fs::write(folder.path().join("hive-00000-c.era1"), archive(&lines[..20])?.0)?;
    std::fs::write(folder.path().join("checksums.txt"), "not an archive")?;
    let _database = env::migrate("era1_folder")?;
    load("era1_folder", folder.path(), 0)?;
    is_whole("era1_folder")?;
    let again = load("era1_folder", folder.path(), 0)?;
    ensure!(again.contains("committed 0 blocks"), "{again}");
    Ok(())
}

/// One byte of each kind of entry is changed, and a file is cut: nothing of it is seen.
#[test]
fn damaged_archives_are_refused() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("hive-00000-x.era1");
    let (whole, starts) = archive(&chain("hive").lines[..=LAST])?;
    let _database = env::migrate("era1_damaged")?;
    let refuse = |bytes: &[u8], words: &str| -> anyhow::Result<()> {
        std::fs::write(&file, bytes)?;
        let text = load("era1_damaged", &file, 3)?;
        ensure!(text.contains(words), "{words}: {text}");
        Ok(())
    };
    let changed = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        bytes
    };
    // Of block 5: header, total difficulty; then accumulator and index.
    let block = 4 * 5;
    refuse(&changed(starts[block] + 40), "snappy")?;
    refuse(&changed(starts[block + 3] + 8), "total difficulty: expected")?;
    refuse(&changed(starts[starts.len() - 2] + 8), "accumulator: expected")?;
    refuse(&changed(starts[starts.len() - 1] + 8), "its index does not fit its blocks")?;
    refuse(&changed(0), "does not begin with a version")?;
    refuse(&changed(starts[block + 1]), "where 0x0004 belongs")?;
    refuse(&changed(starts[block] + 6), "reserved bytes")?;
    refuse(&changed(starts[block] + 5), "")?;
    refuse(&whole[..starts[block] + 30], "ends in the middle")?;
    refuse(&whole[..starts[block]], "ends without its accumulator")?;
    refuse(&[&whole[..], &entry(0x03, &[])].concat(), "entries after its index")?;
    // A header that is valid by itself but not the next one.
    let mut lines = chain("hive").lines[..=LAST].to_vec();
    lines.remove(5);
    refuse(&archive(&lines)?.0, "block 6: number: expected 5, found 6")?;
    let rows = env::sql("era1_damaged", "SELECT (SELECT count() FROM blocks), (SELECT count() FROM ingest_commits)")?;
    ensure!(rows == "0\t0", "{rows}");
    // Bodies and receipts are not under the accumulator: their damage is found when they are unpacked or checked.
    let mut lines = chain("hive").lines[..=LAST].to_vec();
    lines[5]["receipts"][1]["cumulativeGasUsed"] = serde_json::json!("0x1");
    refuse(&archive(&lines)?.0, "block 5 is refused: cumulative gas of a receipt")?;
    let head = env::sql("era1_damaged", "SELECT max(last_block) FROM ingest_commits")?;
    ensure!(head == "4", "{head}");
    Ok(())
}
