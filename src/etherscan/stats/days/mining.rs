//! Figures of mining: `dailyavghashrate`, `dailyavgnetdifficulty`, `dailyblkcount`, `dailyblockrewards`,
//! `dailyuncleblkcount`.

use std::collections::BTreeMap;

use axum::response::Response;

use super::blocks::block_time;
use super::period::Period;
use crate::etherscan::answer::Refusal;
use crate::etherscan::request::Request;
use trawl_core::primitives::U256;
use trawl_json::etherscan::{Figure, grouped_thousands};
use trawl_json::stats::charts::coins;
use trawl_query::stats::charts::mining::{HeaderSum, RewardSum, headers, rewards};

/// Hashes of a gigahash, in which Etherscan counts the rate.
const GIGAHASH: f64 = 1e9;
/// Hashes of a terahash, in which it counts difficulties.
const TERAHASH: f64 = 1e12;

/// The days of a request with what is known of mining.
struct Mining {
    period: Period,
    headers: BTreeMap<u64, HeaderSum>,
    /// Of days with mined blocks: what their traces state.
    rewards: BTreeMap<u64, RewardSum>,
}

/// What the rules gave on a day.
struct MiningRewards {
    blocks: u64,
    /// Wei for makers of blocks, those for including uncles among them.
    of_blocks: U256,
    uncles: u64,
    of_uncles: U256,
    /// Wei of fees that were not burnt.
    fees: Option<U256>,
}

impl Mining {
    async fn headers(Request { app, head, params, .. }: &Request) -> Result<Self, Refusal> {
        let period = Period::read(app, head, params).await?;
        let settled = period.settled(app, head).await?;
        let headers = settled.rows(app, head, headers, |row| row.start).await?;
        Ok(Self { period, headers, rewards: BTreeMap::new() })
    }

    async fn rewards(request: &Request) -> Result<Self, Refusal> {
        let mut mining = Self::headers(request).await?;
        let Request { app, head, .. } = request;
        let settled = mining.period.settled(app, head).await?;
        let has_rewards = |day| settled.blocks(day).is_some_and(|blocks| head.rewards.missing(blocks).is_empty());
        let is_mined = |day: u64| mining.headers.get(&day).is_some_and(|row| row.mined > 0);
        let stated = settled.of_days(|day| is_mined(day) && has_rewards(day));
        mining.rewards = stated.rows(app, head, rewards, |row| row.start).await?;
        Ok(mining)
    }

    /// The difficulties of a day.
    fn difficulty(&self, day: u64) -> Option<&HeaderSum> {
        self.headers.get(&day).filter(|row| row.without_difficulty == 0)
    }

    /// What the rules gave: of proof of work what traces state, since the merge nothing.
    fn given(&self, day: u64) -> Option<MiningRewards> {
        let sums = self.period.sums(day)?;
        let difficulty = self.difficulty(day)?;
        let stated = self.rewards.get(&day);
        if difficulty.mined > 0 && stated.is_none() {
            return None;
        }
        let burnt = (difficulty.without_burnt == 0).then_some(difficulty.burnt);
        Some(MiningRewards {
            blocks: sums.blocks,
            of_blocks: stated.map_or(U256::ZERO, |row| row.of_blocks),
            uncles: stated.map_or(0, |row| row.uncles),
            of_uncles: stated.map_or(U256::ZERO, |row| row.of_uncles),
            fees: sums.fees.zip(burnt).and_then(|(fees, burnt)| fees.checked_sub(burnt)),
        })
    }

    fn is_without_blocks(&self, day: u64) -> bool {
        self.period.sums(day).is_some_and(|sums| sums.blocks == 0)
    }

    fn respond(&self, figures: impl Fn(u64) -> Option<Vec<Figure>>) -> Response {
        self.period.respond(|day| if self.is_without_blocks(day) { Some(Vec::new()) } else { figures(day) })
    }
}

/// Hashes of a second, in gigahashes: what the difficulties and the time between blocks tell.
pub(crate) async fn hash_rates(request: Request) -> Result<Response, Refusal> {
    let mining = Mining::headers(&request).await?;
    Ok(mining.respond(|day| {
        let row = mining.difficulty(day)?;
        let rate = mean(row).zip(block_time(&mining.period.sums(day)?));
        // The time of a single block is not known; without difficulty there is no rate whatever it is.
        let rate = rate.filter(|(_, seconds)| *seconds > 0.0).map(|(difficulty, seconds)| difficulty / seconds);
        let rate = rate.or((row.mined == 0).then_some(0.0))?;
        Some(vec![Figure::Text("networkHashRate", format!("{:.4}", rate / GIGAHASH))])
    }))
}

/// The difficulty of a block, in terahashes.
pub(crate) async fn difficulty(request: Request) -> Result<Response, Refusal> {
    let mining = Mining::headers(&request).await?;
    Ok(mining.respond(|day| {
        let difficulty = mean(mining.difficulty(day)?)?;
        Some(vec![Figure::Text("networkDifficulty", grouped_thousands(difficulty / TERAHASH))])
    }))
}

#[expect(clippy::cast_precision_loss, reason = "a mean")]
fn mean(row: &HeaderSum) -> Option<f64> {
    (row.blocks > 0).then(|| f64::from(row.difficulty) / row.blocks as f64)
}

/// The blocks of each day, and what their makers got, fees that were not burnt among it.
pub(crate) async fn blocks(request: Request) -> Result<Response, Refusal> {
    let mining = Mining::rewards(&request).await?;
    Ok(mining.respond(|day| {
        let given = mining.given(day)?;
        let wei = given.of_blocks.saturating_add(given.fees?);
        Some(vec![Figure::Number("blockCount", given.blocks), Figure::Text("blockRewards_Eth", coins(wei))])
    }))
}

/// What the rules gave to the makers of blocks and of uncles.
pub(crate) async fn block_rewards(request: Request) -> Result<Response, Refusal> {
    let mining = Mining::rewards(&request).await?;
    Ok(mining.respond(|day| {
        let given = mining.given(day)?;
        Some(vec![Figure::Text("blockRewards_Eth", coins(given.of_blocks.saturating_add(given.of_uncles)))])
    }))
}

/// The uncles of each day, and what their makers got.
pub(crate) async fn uncles(request: Request) -> Result<Response, Refusal> {
    let mining = Mining::rewards(&request).await?;
    Ok(mining.respond(|day| {
        let given = mining.given(day)?;
        Some(vec![
            Figure::Number("uncleBlockCount", given.uncles),
            Figure::Text("uncleBlockRewards_Eth", coins(given.of_uncles)),
        ])
    }))
}
