//! What an answer holds, in a form that is compared with what the model holds.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use alloy_primitives::{B256, U256};
use anyhow::{Context as _, anyhow, bail};
use serde_json::Value;

use crate::ask::{HeadRequest, LOG_CAP, PAGE, WINDOW};
use crate::chain::block::{Block, Event, Log};
use crate::chain::world::World;
use crate::chain::{BlockIndex, Model};

/// A row: the block it is of (`None`: the answer says there is none), its position in it, and a digest of the rest.
pub type Row = (Option<BlockIndex>, u64, u64);

/// The content of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Blocks, logs, transfers, frames.
    Rows(Vec<Row>),
    /// A number, such as a balance in wei.
    Amount(U256),
    /// It exists, whatever its fields are.
    Something,
    /// It does not exist.
    Nothing,
}

/// An answer without rows.
#[derive(Debug)]
pub enum Refusal {
    /// An error of JSON-RPC with its code.
    Code(i64, String),
    /// Something else than requested, or a block that never existed.
    Foreign(anyhow::Error),
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        Self::Foreign(error)
    }
}

fn digest(parts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// Reads an answer.
pub fn read(ask: HeadRequest, body: &[u8], model: &Model) -> Result<Content, Refusal> {
    if let HeadRequest::Scan(_) = ask {
        return Ok(scan(body, model)?);
    }
    let answer: Value = serde_json::from_slice(body).context("no JSON")?;
    for single in answer.as_array().map_or(std::slice::from_ref(&answer), Vec::as_slice) {
        if let Some(code) = single["error"]["code"].as_i64() {
            return Err(Refusal::Code(code, single["error"]["message"].as_str().unwrap_or_default().into()));
        }
    }
    Ok(content(ask, &answer, model)?)
}

fn content(ask: HeadRequest, answer: &Value, model: &Model) -> anyhow::Result<Content> {
    let rows = |list: &Value, row: fn(&Model, &Value) -> anyhow::Result<Row>| {
        let list = list.as_array().with_context(|| format!("no list: {}", excerpt(answer)))?;
        Ok(Content::Rows(list.iter().map(|item| row(model, item)).collect::<anyhow::Result<_>>()?))
    };
    match ask {
        HeadRequest::Blocks | HeadRequest::BlocksBelow(_) => {
            rows(&answer["items"], |model, item| Ok((Some(block(model, &item["hash"])?), 0, 0)))
        }
        HeadRequest::Transfers(_) | HeadRequest::TransfersBelow(..) => rows(&answer["items"], |model, item| {
            let value = item["total"]["value"].as_str().unwrap_or_default();
            let sides = [&item["from"]["hash"], &item["to"]["hash"], &item["token"]["address"]].map(lower);
            let block_index = transaction(model, &item["transaction_hash"])?;
            if block(model, &item["block_hash"])? != block_index {
                bail!("a transfer with a transaction of another block: {}", excerpt(item));
            }
            let digest = digest(&[&sides[0], &sides[1], &sides[2], value]);
            Ok((Some(block_index), item["log_index"].as_u64().context("log_index")?, digest))
        }),
        HeadRequest::Internal(_) => rows(&answer["items"], |model, item| {
            let block_index = transaction(model, &item["transaction_hash"])?;
            let position = item["transaction_index"].as_u64().context("transaction_index")?;
            Ok((Some(block_index), position, digest(&[item["value"].as_str().unwrap_or_default()])))
        }),
        HeadRequest::AllLogs(_) | HeadRequest::NewestLogs(..) | HeadRequest::OldLogs(..) | HeadRequest::BlockLogs => {
            rows(&answer["result"], log)
        }
        HeadRequest::FullBlock => Ok(Content::Rows(vec![full_block(model, &answer["result"])?])),
        HeadRequest::Receipts => rows(&answer["result"], |model, item| {
            let block_index = block(model, &item["blockHash"])?;
            if transaction(model, &item["transactionHash"])? != block_index {
                bail!("a receipt of another block: {}", excerpt(item));
            }
            Ok((
                Some(block_index),
                quantity(&item["transactionIndex"])?,
                item["logs"].as_array().map_or(0, Vec::len) as u64,
            ))
        }),
        HeadRequest::Batch(_) => batch(answer, model),
        HeadRequest::Balance(_) | HeadRequest::BalanceOf(..) => {
            let text = answer["result"].as_str().with_context(|| format!("no result: {}", excerpt(answer)))?;
            Ok(Content::Amount(text.parse().map_err(|error| anyhow!("{text}: {error}"))?))
        }
        HeadRequest::TransactionLogs(_) => rows(&answer["items"], |model, item| {
            let topics: Vec<String> = item["topics"].as_array().into_iter().flatten().map(lower).collect();
            let digest = digest(&[&lower(&item["address"]["hash"]), &topics.concat(), &lower(&item["data"])]);
            Ok((Some(transaction(model, &item["transaction_hash"])?), item["index"].as_u64().context("index")?, digest))
        }),
        HeadRequest::Summary(_) => Ok(Content::Something),
        HeadRequest::Scan(_) => bail!("a scan is no JSON"),
    }
}

fn batch(answer: &Value, model: &Model) -> anyhow::Result<Content> {
    let mut calls: Vec<&Value> = answer.as_array().context("no batch")?.iter().collect();
    calls.sort_by_key(|call| call["id"].as_u64());
    let row = |call: &&Value| match &call["result"] {
        Value::Null => Ok((None, 0, 0)),
        found => Ok((Some(block(model, &found["hash"])?), 0, 0)),
    };
    Ok(Content::Rows(calls.iter().map(row).collect::<anyhow::Result<_>>()?))
}

fn full_block(model: &Model, item: &Value) -> anyhow::Result<Row> {
    let block_index = block(model, &item["hash"])?;
    let transactions = item["transactions"].as_array().context("transactions")?;
    let hashes: Vec<&str> = transactions.iter().filter_map(|transaction| transaction["hash"].as_str()).collect();
    Ok((Some(block_index), hashes.len() as u64, digest(&hashes)))
}

fn scan(body: &[u8], model: &Model) -> anyhow::Result<Content> {
    let text = std::str::from_utf8(body).context("no text")?;
    let mut lines: Vec<Value> =
        text.lines().map(serde_json::from_str).collect::<Result<_, _>>().context("no NDJSON")?;
    let end = lines.pop().filter(|line| line.get("end").is_some()).context("no mark at its end")?;
    if end["end"]["complete"] == false {
        bail!("not complete: {}", excerpt(&end));
    }
    Ok(Content::Rows(lines.iter().map(|line| log(model, line)).collect::<anyhow::Result<_>>()?))
}

fn log(model: &Model, item: &Value) -> anyhow::Result<Row> {
    let block_index = block(model, &item["blockHash"])?;
    if transaction(model, &item["transactionHash"])? != block_index {
        bail!("a log with a transaction of another block: {}", excerpt(item));
    }
    let topics: Vec<String> = item["topics"].as_array().into_iter().flatten().map(lower).collect();
    let digest = digest(&[&lower(&item["address"]), &topics.concat(), &lower(&item["data"])]);
    Ok((Some(block_index), quantity(&item["logIndex"])?, digest))
}

fn block(model: &Model, hash: &Value) -> anyhow::Result<BlockIndex> {
    let parsed = hash.as_str().and_then(|hash| hash.parse::<B256>().ok());
    parsed.and_then(|hash| model.by_hash(&hash)).with_context(|| format!("a block that never was: {hash}"))
}

fn transaction(model: &Model, hash: &Value) -> anyhow::Result<BlockIndex> {
    let parsed = hash.as_str().and_then(|hash| hash.parse::<B256>().ok());
    parsed.and_then(|hash| model.by_transaction(&hash)).with_context(|| format!("an unknown transaction: {hash}"))
}

fn quantity(value: &Value) -> anyhow::Result<u64> {
    let digits = value.as_str().and_then(|text| text.strip_prefix("0x"));
    let digits = digits.with_context(|| format!("{value} is no quantity"))?;
    Ok(u64::from_str_radix(digits, 16)?)
}

fn lower(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_lowercase()
}

/// The beginning of a value.
pub fn excerpt(value: &Value) -> String {
    value.to_string().chars().take(300).collect()
}

/// The answer if the chain ends in the block at `tip`; `None` if the request cannot be answered there.
pub fn expected(ask: HeadRequest, model: &Model, world: &World, tip: BlockIndex) -> Option<Content> {
    let account = |account: u32| format!("{:#x}", world.accounts[account as usize]);
    let token = |token: u8| format!("{:#x}", world.tokens[usize::from(token)]);
    let digest_of = |log: &Log| {
        let topics: String = log.topics(world).iter().map(|topic| format!("{topic:#x}")).collect();
        digest(&[&token(log.token), &topics, &log.data().to_string()])
    };
    let logs_of = |number: u8, from: u64, to: u64, cap: usize| {
        let mut branch: Vec<(BlockIndex, &Block)> = model
            .down(tip)
            .skip_while(|(_, block)| block.number > to)
            .take_while(|(_, block)| block.number >= from)
            .collect();
        branch.reverse();
        let logs = branch.into_iter().flat_map(|(block_index, block)| {
            block.logs_of[usize::from(number)]
                .iter()
                .map(move |index| (block_index, *index, &block.logs[*index as usize]))
        });
        Content::Rows(
            logs.take(cap)
                .map(|(block_index, index, log)| (Some(block_index), u64::from(index), digest_of(log)))
                .collect(),
        )
    };
    let newest = model.at(tip);
    let below = match ask {
        HeadRequest::BlocksBelow(number) | HeadRequest::TransfersBelow(_, number) => number,
        _ => u64::MAX,
    };
    Some(match ask {
        HeadRequest::Blocks | HeadRequest::BlocksBelow(_) => {
            let rows = model.down(tip).filter(|(_, block)| block.number < below);
            Content::Rows(rows.take(PAGE).map(|(block_index, _)| (Some(block_index), 0, 0)).collect())
        }
        HeadRequest::Transfers(of) | HeadRequest::TransfersBelow(of, _) => {
            let rows = model.down(tip).filter(|(_, block)| block.number < below).flat_map(|(block_index, block)| {
                let transfers = block.logs.iter().enumerate().rev();
                transfers.filter_map(move |(index, log)| match log.event {
                    Event::Transfer { from, to, amount } if from == of || to == of => {
                        Some((block_index, index, log.token, from, to, amount))
                    }
                    _ => None,
                })
            });
            let row = |(block_index, index, contract, from, to, amount): (BlockIndex, usize, u8, u32, u32, u128)| {
                let digest = digest(&[&account(from), &account(to), &token(contract), &amount.to_string()]);
                (Some(block_index), index as u64, digest)
            };
            Content::Rows(rows.take(PAGE).map(row).collect())
        }
        HeadRequest::Internal(of) => {
            let rows = model.down(tip).flat_map(|(block_index, block)| {
                block.inner.iter().rev().filter(move |inner| inner.to == of).map(move |inner| (block_index, inner))
            });
            let row = |(block_index, inner): (BlockIndex, &crate::chain::block::Inner)| {
                (Some(block_index), u64::from(inner.transaction), digest(&[&inner.value.to_string()]))
            };
            Content::Rows(rows.take(PAGE).map(row).collect())
        }
        HeadRequest::AllLogs(of) => logs_of(of, 0, u64::MAX, LOG_CAP),
        HeadRequest::NewestLogs(of, from) => logs_of(of, from, u64::MAX, LOG_CAP),
        HeadRequest::OldLogs(of, from, to) => logs_of(of, from, to, LOG_CAP),
        HeadRequest::Scan(of) => logs_of(of, 0, u64::MAX, usize::MAX),
        HeadRequest::TransactionLogs(of) | HeadRequest::Summary(of) => {
            let block_index = model.by_transaction(&of)?;
            if model.on_branch(tip, model.at(block_index).number) != Some(block_index) {
                return Some(Content::Nothing);
            }
            if let HeadRequest::Summary(_) = ask {
                return Some(Content::Something);
            }
            let block = model.at(block_index);
            let logs =
                block.logs.iter().enumerate().filter(|(_, log)| block.transactions[log.transaction as usize] == of);
            Content::Rows(logs.map(|(index, log)| (Some(block_index), index as u64, digest_of(log))).collect())
        }
        HeadRequest::BlockLogs => {
            let rows = newest.logs.iter().enumerate().take(LOG_CAP);
            Content::Rows(rows.map(|(index, log)| (Some(tip), index as u64, digest_of(log))).collect())
        }
        HeadRequest::FullBlock => Content::Rows(vec![full_row(model, tip)]),
        HeadRequest::Receipts => {
            let mut counts = vec![0; newest.transactions.len()];
            newest.logs.iter().for_each(|log| counts[log.transaction as usize] += 1);
            Content::Rows(counts.into_iter().enumerate().map(|(index, logs)| (Some(tip), index as u64, logs)).collect())
        }
        HeadRequest::Balance(of) => {
            Content::Amount(U256::from(model.holding(tip, crate::chain::block::Asset::Coin, of)))
        }
        HeadRequest::BalanceOf(of, holder) => {
            Content::Amount(U256::from(model.holding(tip, crate::chain::block::Asset::Token(of), holder)))
        }
        HeadRequest::Batch(last) => {
            let numbers = last.saturating_sub(WINDOW - 1)..=last;
            Content::Rows(numbers.map(|number| (model.on_branch(tip, number), 0, 0)).collect())
        }
    })
}

fn full_row(model: &Model, block_index: BlockIndex) -> Row {
    let hashes: Vec<String> = model.at(block_index).transactions.iter().map(|hash| format!("{hash:#x}")).collect();
    let hashes: Vec<&str> = hashes.iter().map(String::as_str).collect();
    (Some(block_index), hashes.len() as u64, digest(&hashes))
}
