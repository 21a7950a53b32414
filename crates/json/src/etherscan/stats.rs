//! Gas prices and rewards of the Etherscan-compatible interface.

use std::collections::BTreeMap;

use super::super::JsonWriter;
use super::transactions::write_time;
use super::write_known;
use trawl_core::primitives::{Address, BlockNumber, U256};

/// Writes gas prices in gwei: safe, proposed and fast, with the base fee of the next block and how full the newest are.
pub fn write_gas_oracle(
    writer: &mut JsonWriter,
    last_block: BlockNumber,
    base_fee: U256,
    prices: [U256; 3],
    ratios: &[f64],
) {
    let ratios: Vec<String> = ratios.iter().map(ToString::to_string).collect();
    writer.object(|item| {
        item.key("LastBlock").decimal(last_block);
        for (key, price) in ["SafeGasPrice", "ProposeGasPrice", "FastGasPrice"].into_iter().zip(prices) {
            item.key(key).string(&gwei(price));
        }
        item.key("suggestBaseFee").string(&gwei(base_fee));
        item.key("gasUsedRatio").string(&ratios.join(","));
    });
}

/// Wei as gwei, with the digits after the point that it has.
fn gwei(wei: U256) -> String {
    let (whole, rest) = wei.div_rem(U256::from(1_000_000_000));
    let text = format!("{whole}.{:09}", rest.to::<u64>());
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// How long until there is a block.
#[derive(Debug, Clone, PartialEq)]
pub struct Countdown {
    /// The newest block.
    pub current: BlockNumber,
    /// The block that is waited for.
    pub block: BlockNumber,
    /// Blocks from one to the other.
    pub remaining: u64,
    /// Seconds that they take, as far as the newest blocks tell.
    pub seconds: f64,
}

/// Writes how long until there is a block.
pub fn write_countdown(writer: &mut JsonWriter, countdown: &Countdown) {
    writer.object(|item| {
        item.key("CurrentBlock").decimal(countdown.current);
        item.key("CountdownBlock").decimal(countdown.block);
        item.key("RemainingBlock").decimal(countdown.remaining);
        item.key("EstimateTimeInSec").string(&format!("{:.1}", countdown.seconds));
    });
}

/// What the makers of a block and of its uncles got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockReward {
    /// Height of the block.
    pub number: BlockNumber,
    /// Timestamp of the header in microseconds.
    pub timestamp: i64,
    /// Beneficiary of the header.
    pub miner: Address,
    /// Wei of fees that were not burnt.
    pub fees: U256,
    /// Wei that the rules give, those for including uncles among them.
    pub stated: U256,
    /// Makers of uncles in order, and what they got.
    pub uncles: Vec<(Address, U256)>,
}

/// Writes the reward of a block. A 32nd of the plain reward is given for each uncle.
pub fn write_block_reward(writer: &mut JsonWriter, reward: &BlockReward) {
    let uncles = U256::from(reward.uncles.len());
    let inclusion = reward.stated * uncles / (U256::from(32) + uncles);
    writer.object(|item| {
        item.key("blockNumber").decimal(reward.number);
        write_time(item, reward.timestamp);
        item.key("blockMiner").hex(reward.miner.as_slice());
        item.key("blockReward").decimal_256(reward.stated.saturating_add(reward.fees));
        item.key("uncles").array(|list| {
            for (position, (miner, amount)) in reward.uncles.iter().enumerate() {
                list.item().object(|uncle| {
                    uncle.key("miner").hex(miner.as_slice());
                    uncle.key("unclePosition").decimal(position as u64);
                    uncle.key("blockreward").decimal_256(*amount);
                });
            }
        });
        item.key("uncleInclusionReward").decimal_256(inclusion);
    });
}

/// How much of each kind is in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockCounts {
    /// Height of the block.
    pub number: BlockNumber,
    /// Transactions, those that failed among them.
    pub transactions: u64,
    /// Its call frames, as lists of them have them.
    pub frames: u64,
    /// Its token transfers by standard; those of a batch count one by one.
    pub transfers: BTreeMap<String, u64>,
}

/// Writes how much of each kind is in a block: unlike elsewhere, Etherscan has numbers here.
pub fn write_block_counts(writer: &mut JsonWriter, counts: &BlockCounts) {
    let of = |standard: &str| counts.transfers.get(standard).copied().unwrap_or_default();
    writer.object(|item| {
        item.key("block").number(counts.number);
        item.key("txsCount").number(counts.transactions);
        item.key("internalTxsCount").number(counts.frames);
        item.key("erc20TxsCount").number(of("ERC-20"));
        item.key("erc721TxsCount").number(of("ERC-721"));
        item.key("erc1155TxsCount").number(of("ERC-1155"));
    });
}

/// Writes a block of an account's list: height, time in microseconds, and what its maker got, in wei.
pub fn write_made_block(writer: &mut JsonWriter, number: BlockNumber, timestamp: i64, reward: Option<U256>) {
    writer.object(|item| {
        item.key("blockNumber").decimal(number);
        write_time(item, timestamp);
        write_known(item.key("blockReward"), reward, JsonWriter::decimal_256);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gwei_has_the_digits_of_wei() {
        for (wei, text) in [
            (0_u64, "0"),
            (1, "0.000000001"),
            (1_000_000_000, "1"),
            (1_500_000_000, "1.5"),
            (20_000_000_001, "20.000000001"),
        ] {
            assert_eq!(gwei(U256::from(wei)), text);
        }
    }
}
