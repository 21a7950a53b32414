//! `eth_feeHistory`: base fees and fullness of past blocks, and the tips at given percentiles of their gas.

use serde_json::Value;

use super::cache::Key;
use super::headers::{MIN_RULE_BLOCKS, headers, require_whole, run_up_to};
use crate::app::App;
use crate::error::Problem;
use crate::http::values::{block_name, invalid, quantity};
use crate::read::blocks::fee_rule::FeeRule;
use crate::read::rules::schedule;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::value;
use crate::rpc::service::Rpc;
use trawl_core::primitives::{BlockNumber, BlockRange, U256};
use trawl_core::schema::BlockPart;
use trawl_core::store::Head;
use trawl_json::JsonWriter;
use trawl_query::stats::fees::{BlockFees, Payment};

/// Most blocks of an answer, which is the limit of nodes; a request for more gets the newest of them.
const MAX_BLOCKS: u64 = 1024;
/// Most percentiles of a request.
const MAX_PERCENTILES: usize = 100;

/// Fees of blocks, and the rewards at percentiles of their gas if the request has some.
pub(crate) async fn history(call: Context<'_>) -> Result<Answer, Problem> {
    let (count, newest, percentiles) = match call.params {
        [count, newest] => (count, newest, None),
        [count, newest, percentiles] => (count, newest, Some(percentiles)),
        _ => return Err(invalid("Incorrect number of params")),
    };
    let count = block_count(&value(count))?;
    let newest = block_name(&value(newest)).ok_or_else(|| invalid("Invalid block number"))?;
    let percentiles = percentiles.map_or(Ok(Vec::new()), |given| read_percentiles(&value(given)))?;
    let (app, head) = (call.app, call.head()?);
    let Some(newest) = newest.number(head).filter(|_| count > 0) else { return Ok(Answer::of(write_nothing)) };
    if head.number().is_none_or(|top| newest > top) {
        return Err(invalid("request beyond head block"));
    }
    require_whole(head, newest, count.clamp(MIN_RULE_BLOCKS, MAX_BLOCKS.max(MIN_RULE_BLOCKS)))?;
    let missing = || Problem::BlocksMissing(vec![BlockRange::single(newest)]);
    let range = run_up_to(&head.blocks, newest, count.min(MAX_BLOCKS)).ok_or_else(missing)?;
    let generation = head.blocks.generation(newest);
    let is_followed = newest.checked_add(1).is_some_and(|above| head.blocks.contains(above));
    let (chain_id, has_rules) = (app.chain_id(head), head.configuration.is_some());
    let key = Key { range, generation, percentiles, chain_id, has_rules, is_followed };
    let slot = call.rpc.fees().histories.slot(key.clone());
    let text = slot.get_or_try_init(|| compute(call.rpc, head, &key)).await?;
    Ok(Answer::Whole(text.clone()))
}

/// `0x` and hexadecimal digits, decimal digits, or a JSON integer, as geth reads this number.
fn block_count(value: &Value) -> Result<u64, Problem> {
    let decimal = |text: &str| text.parse().ok().filter(|_| text.bytes().all(|digit| digit.is_ascii_digit()));
    let count = value.as_u64().or_else(|| value.as_str().and_then(|text| quantity(text).or_else(|| decimal(text))));
    count.ok_or_else(|| invalid("Invalid integer"))
}

/// Numbers from 0 to 100, each above the one before.
fn read_percentiles(value: &Value) -> Result<Vec<f64>, Problem> {
    let wrong = || invalid("invalid reward percentile");
    let list = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(list) if list.len() <= MAX_PERCENTILES => list,
        Value::Array(_) => return Err(invalid("exceed max reward percentiles: 100")),
        _ => return Err(wrong()),
    };
    let percentiles: Vec<f64> = list.iter().map(|one| one.as_f64().ok_or_else(wrong)).collect::<Result<_, _>>()?;
    let in_range = percentiles.iter().all(|one| (0.0..=100.0).contains(one));
    let ascends = percentiles.windows(2).all(|pair| pair[0] < pair[1]);
    if in_range && ascends { Ok(percentiles) } else { Err(wrong()) }
}

fn write_nothing(writer: &mut JsonWriter) {
    writer.object(|history| {
        history.key("oldestBlock").quantity(0);
        history.key("baseFeePerGas").array(|_| {});
        history.key("gasUsedRatio").array(|_| {});
    });
}

async fn compute(rpc: &Rpc, head: &Head, key: &Key) -> Result<Vec<u8>, Problem> {
    let app = rpc.app();
    let range = key.range;
    // More blocks than requested if these are too few to derive the chain's rule; one more above, if there is one.
    let sample = run_up_to(&head.blocks, range.last(), range.count().max(MIN_RULE_BLOCKS)).unwrap_or(range);
    let mut blocks = headers(rpc, head, sample).await?;
    let rule = FeeRule::of(key.chain_id, schedule(app, head).ok(), &blocks);
    let above = range.last().saturating_add(1);
    let next = match head.blocks.contains(above) {
        true => headers(rpc, head, BlockRange::single(above)).await?.pop(),
        false => None,
    };
    blocks.retain(|block| range.contains(block.block_number));
    let rewards = if key.percentiles.is_empty() { None } else { Some(rewards(app, head, key, &blocks).await?) };
    let history = History { blocks: &blocks, next: next.as_ref(), rule, rewards };
    let mut writer = JsonWriter::new();
    history.write(&mut writer)?;
    Ok(writer.into_bytes())
}

/// The data of an answer; `blocks` is not empty.
struct History<'h> {
    blocks: &'h [BlockFees],
    /// The block after them, if it is readable already.
    next: Option<&'h BlockFees>,
    rule: FeeRule,
    /// Wei per gas for every block and percentile.
    rewards: Option<Vec<Vec<U256>>>,
}

impl History<'_> {
    fn write(&self, writer: &mut JsonWriter) -> Result<(), Problem> {
        let (Some(first), Some(last)) = (self.blocks.first(), self.blocks.last()) else {
            return Err(Problem::Internal);
        };
        let fee = |block: &BlockFees| block.base_fee_per_gas.unwrap_or_default();
        let next = self.next.map_or_else(|| self.rule.assumed_next_base_fee(last), fee);
        let blobs = self.blob_fees(last);
        writer.object(|history| {
            history.key("oldestBlock").quantity(first.block_number);
            if let Some(rewards) = &self.rewards {
                history.key("reward").array(|list| {
                    for block in rewards {
                        list.item().array(|paid| block.iter().for_each(|tip| paid.item().quantity_256(*tip)));
                    }
                });
            }
            history.key("baseFeePerGas").array(|list| {
                self.blocks.iter().map(fee).chain([next]).for_each(|fee| list.item().quantity_256(fee));
            });
            history.key("gasUsedRatio").array(|list| {
                self.blocks.iter().for_each(|block| list.item().float(share(block.gas_used, block.gas_limit)));
            });
            if let Some((fees, ratios)) = blobs {
                history.key("baseFeePerBlobGas").array(|list| {
                    fees.iter().for_each(|fee| list.item().quantity_256(U256::from(*fee)));
                });
                history.key("blobGasUsedRatio").array(|list| {
                    ratios.iter().for_each(|ratio| list.item().float(*ratio));
                });
            }
        });
        Ok(())
    }

    /// The blob base fees, with that of the next block, and how full of blobs the blocks are. They are omitted if
    /// the chain's parameters are not known.
    fn blob_fees(&self, last: &BlockFees) -> Option<(Vec<u128>, Vec<f64>)> {
        let mut fees = self.blocks.iter().map(|block| self.rule.blob_base_fee(block)).collect::<Option<Vec<_>>>()?;
        fees.push(match self.next {
            Some(next) => self.rule.blob_base_fee(next)?,
            None => self.rule.next_blob_base_fee(last)?,
        });
        let ratio = |block: &BlockFees| Some(share(block.blob_gas_used.unwrap_or(0), self.rule.max_blob_gas(block)?));
        Some((fees, self.blocks.iter().map(ratio).collect::<Option<_>>()?))
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The tips, in wei, at each percentile of each block's gas. Memory is that of the transactions of one block.
async fn rewards(app: &App, head: &Head, key: &Key, blocks: &[BlockFees]) -> Result<Vec<Vec<U256>>, Problem> {
    if let Some(gap) = head.receipts.missing(key.range).first() {
        return Err(Problem::PartMissing { part: BlockPart::Receipts, block: gap.first() });
    }
    let mut rows = app.reader().stream(&trawl_query::stats::fees::payments(&head.receipts.within(key.range))).await?;
    let mut rewards = vec![vec![U256::ZERO; key.percentiles.len()]; blocks.len()];
    let mut reached: Vec<Payment> = Vec::new();
    let mut finish = |paid: &mut Vec<Payment>| {
        let Some(number) = paid.first().map(|payment| payment.block_number) else { return };
        let position = usize::try_from(number - key.range.first()).unwrap_or(usize::MAX);
        if let (Some(block), Some(reward)) = (blocks.get(position), rewards.get_mut(position)) {
            *reward = at_percentiles(block, paid, &key.percentiles);
        }
        paid.clear();
    };
    while let Some(batch) = rows.next().await? {
        for payment in batch.rows() {
            require_payment(&payment)?;
            if reached.last().is_some_and(|last| last.block_number != payment.block_number) {
                finish(&mut reached);
            }
            reached.push(payment);
        }
    }
    finish(&mut reached);
    Ok(rewards)
}

fn require_payment(payment: &Payment) -> Result<(), Problem> {
    let is_needed = |column: &&String| matches!(column.as_str(), "gas_used" | "effective_gas_price");
    let missing_columns: Vec<String> = payment.lacking.iter().filter(is_needed).cloned().collect();
    let number: BlockNumber = payment.block_number;
    let what = || format!("a transaction of block {number}");
    if missing_columns.is_empty() {
        return Ok(());
    }
    Err(Problem::ColumnsMissing { what: what(), columns: missing_columns })
}

/// The tips at percentiles of a block's gas: with transactions sorted by tip, that of the one at which the sum of gas
/// reaches the percentile.
fn at_percentiles(block: &BlockFees, paid: &mut [Payment], percentiles: &[f64]) -> Vec<U256> {
    let base_fee = block.base_fee_per_gas.unwrap_or_default();
    paid.sort_by_key(|payment| payment.effective_gas_price);
    let mut position = 0;
    let mut gas = paid.first().map_or(0, |payment| payment.gas_used);
    let mut tip_at = |percentile: f64| {
        // Rounded down in double precision, as nodes do.
        let threshold = (block.gas_used as f64 * percentile / 100.0) as u64;
        while gas < threshold && position + 1 < paid.len() {
            position += 1;
            gas += paid[position].gas_used;
        }
        paid.get(position).map_or(U256::ZERO, |payment| payment.effective_gas_price.saturating_sub(base_fee))
    };
    percentiles.iter().map(|percentile| tip_at(*percentile)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn percentiles_ascend_from_0_to_100() {
        assert_eq!(read_percentiles(&json!([0, 12.5, 100])), Ok(vec![0.0, 12.5, 100.0]));
        assert_eq!(read_percentiles(&Value::Null), Ok(Vec::new()));
        for bad in [json!([5, 5]), json!([6, 5]), json!([-1]), json!([100.1]), json!(["5"]), json!(5), json!({})] {
            assert!(read_percentiles(&bad).is_err(), "{bad}");
        }
        assert!(read_percentiles(&json!((0..101).collect::<Vec<_>>())).is_err());
    }

    #[test]
    fn counts_are_quantities_or_integers() {
        assert_eq!(block_count(&json!("0x400")), Ok(1024));
        assert_eq!(block_count(&json!(4)), Ok(4));
        assert_eq!(block_count(&json!("4")), Ok(4));
        for bad in [json!(-1), json!("-4"), json!("+4"), json!(""), json!(1.5), json!(null)] {
            assert!(block_count(&bad).is_err(), "{bad}");
        }
    }
}
