//! The lists of one id: who holds it, by what the node reported by calls, and its transfers, by the logs of the chain.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use trawl_core::primitives::U256;

use super::{expected_instances, lower, refused};
use crate::chains::{Chain, chain, quantity};
use crate::pages::{get, walk};

const TRANSFER: &str = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TRANSFER_SINGLE: &str = "0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62";
const TRANSFER_BATCH: &str = "0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb";

/// The ids that a log of a transfer moves.
fn ids(log: &Value) -> Vec<U256> {
    let word = |digits: &str| U256::from_str_radix(digits, 16).unwrap_or_default();
    let topics: Vec<&str> = log["topics"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let data = log["data"].as_str().unwrap_or_default().trim_start_matches("0x");
    match topics.as_slice() {
        [TRANSFER, _, _, id] => vec![word(&id[2..])],
        [TRANSFER_SINGLE, _, _, _] if data.len() == 128 => vec![word(&data[..64])],
        [TRANSFER_BATCH, _, _, _] => {
            let count = data.get(128..192).map_or(0, |count| word(count).to());
            let mut ids: Vec<U256> =
                (0..count).map(|item: usize| word(&data[64 * (3 + item)..64 * (4 + item)])).collect();
            ids.dedup();
            ids
        }
        _ => Vec::new(),
    }
}

/// The positions of the transfers of each id of a token, the highest first.
fn moves(chain: &Chain, token: &str) -> BTreeMap<U256, Vec<(u64, u64)>> {
    let mut moves: BTreeMap<U256, Vec<(u64, u64)>> = BTreeMap::new();
    let receipts = chain.lines.iter().rev().filter_map(|line| line["receipts"].as_array());
    let logs = receipts.flat_map(|receipts| receipts.iter().rev().filter_map(|receipt| receipt["logs"].as_array()));
    for log in logs.flat_map(|logs| logs.iter().rev()).filter(|log| lower(&log["address"]) == token) {
        for id in ids(log) {
            moves.entry(id).or_default().push((quantity(&log["blockNumber"]), quantity(&log["logIndex"])));
        }
    }
    moves
}

#[test]
fn of_an_id_are_its_holders() -> anyhow::Result<()> {
    let (chain, mut several) = (chain("devchain"), 0);
    for (token, (_, ids)) in expected_instances()? {
        for (id, holders) in ids.iter().step_by((ids.len() / 9).max(1)) {
            let path = format!("tokens/{token}/instances/{id}/holders");
            for size in [1, 50] {
                let found = walk(chain, &path, size)?;
                let of = |item: &Value| Some((lower(&item["address"]["hash"]), item["value"].as_str()?.parse().ok()?));
                let found_holders: BTreeMap<String, U256> = found.iter().filter_map(of).collect();
                ensure!(
                    found_holders == *holders && found.len() == holders.len(),
                    "{path}: {found:?}, expected {holders:?}"
                );
                ensure!(found.iter().all(|item| item["token_id"] == id.to_string()), "{path}: {found:?}");
                let amounts: Vec<U256> = found.iter().filter_map(of).map(|(_, amount)| amount).collect();
                ensure!(amounts.is_sorted_by(|one, next| one >= next), "{path}: {amounts:?}");
            }
            several += usize::from(holders.len() > 2);
        }
    }
    ensure!(several > 0, "no id has several holders");
    Ok(())
}

#[test]
fn of_an_id_are_its_transfers() -> anyhow::Result<()> {
    let (chain, mut most) = (chain("devchain"), 0);
    for token in expected_instances()?.into_keys() {
        let moves = moves(chain, &token);
        for (id, positions) in moves.iter().step_by((moves.len() / 9).max(1)) {
            let path = format!("tokens/{token}/instances/{id}/transfers");
            let count = get(chain, &format!("{path}-count"))?;
            ensure!(count == json!({"transfers_count": positions.len()}), "{path}: {count}, expected {positions:?}");
            for size in [1, 50] {
                let found = walk(chain, &path, size)?;
                let position = |item: &Value| Some((item["block_number"].as_u64()?, item["log_index"].as_u64()?));
                let found_positions: Vec<(u64, u64)> = found.iter().filter_map(position).collect();
                ensure!(found_positions == *positions, "{path}: {found_positions:?}, expected {positions:?}");
                ensure!(found.iter().all(|item| item["total"]["token_id"] == id.to_string()), "{path}: {found:?}");
            }
            most = most.max(positions.len());
        }
    }
    ensure!(most > 2, "no id was moved often");
    Ok(())
}

#[test]
fn of_no_id_are_not_found() -> anyhow::Result<()> {
    let (chain, instances) = (chain("devchain"), expected_instances()?);
    for (token, (_, ids)) in &instances {
        let absent = U256::from(77_777);
        ensure!(!ids.contains_key(&absent));
        ensure!(refused(chain, &format!("tokens/{token}/instances/{absent}/holders"))? == 404, "{token}");
        let none = json!({"items": [], "next_page_params": null});
        ensure!(get(chain, &format!("tokens/{token}/instances/{absent}/transfers"))? == none, "{token}");
        let count = get(chain, &format!("tokens/{token}/instances/{absent}/transfers-count"))?;
        ensure!(count == json!({"transfers_count": 0}), "{token}: {count}");
    }
    let token = instances.keys().next().context("a token")?;
    for list in ["holders", "transfers", "transfers-count"] {
        for (path, status) in [
            (format!("tokens/0x{}/instances/1/{list}", "9e".repeat(20)), 404),
            (format!("tokens/0x12/instances/1/{list}"), 422),
            (format!("tokens/{token}/instances/x/{list}"), 422),
            (format!("tokens/{token}/instances/1/{list}?type=ERC-721"), 422),
        ] {
            ensure!(refused(chain, &path)? == status, "{path}");
        }
    }
    Ok(())
}
