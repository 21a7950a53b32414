//! The blocks of a simulation in order, those between them included.

use std::borrow::Cow;

use super::plan::{BlockPlan, MAX_BLOCKS};
use super::refusal::Refusal;
use trawl_core::primitives::U256;

/// Seconds between blocks whose times are not given.
const SECONDS: u64 = 12;

/// A block to simulate with its height and its time.
#[derive(Debug)]
pub(super) struct ScheduleEntry<'a> {
    pub number: u64,
    pub time: u64,
    /// The default plan for a block that fills a gap between requested ones.
    pub plan: Cow<'a, BlockPlan>,
}

/// Gives each block its height and its time, and fills gaps with empty blocks.
///
/// # Errors
///
/// When heights or times do not ascend, or there are too many blocks.
pub(super) fn schedule(blocks: &[BlockPlan], base: u64, base_time: u64) -> Result<Vec<ScheduleEntry<'_>>, Refusal> {
    let (mut number, mut time) = (base, base_time);
    let mut scheduled = Vec::new();
    for plan in blocks {
        let requested = plan.overrides.number.unwrap_or_else(|| U256::from(number) + U256::from(1));
        if requested <= U256::from(number) {
            return Err(Refusal::NumberOrder { number: requested.saturating_to(), before: number });
        }
        if requested > U256::from(base) + U256::from(MAX_BLOCKS) {
            return Err(Refusal::TooMuch(format!("too many blocks: at most {MAX_BLOCKS} are simulated")));
        }
        let requested: u64 = requested.saturating_to();
        while number + 1 < requested {
            (number, time) = (number + 1, later(time)?);
            scheduled.push(ScheduleEntry { number, time, plan: Cow::default() });
        }
        let own = match plan.overrides.time {
            Some(own) => u64::try_from(own).map_err(|_| Refusal::Parameter("Invalid block override".into()))?,
            None => later(time)?,
        };
        if own <= time {
            return Err(Refusal::TimeOrder { time: own, before: time });
        }
        (number, time) = (requested, own);
        scheduled.push(ScheduleEntry { number, time, plan: Cow::Borrowed(plan) });
    }
    Ok(scheduled)
}

fn later(time: u64) -> Result<u64, Refusal> {
    time.checked_add(SECONDS).ok_or_else(|| Refusal::Parameter("the block timestamp exceeds 64 bits".into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlockOverrides;

    fn block(number: Option<u64>, time: Option<u64>) -> BlockPlan {
        let overrides =
            BlockOverrides { number: number.map(U256::from), time: time.map(U256::from), ..BlockOverrides::default() };
        BlockPlan { overrides, ..BlockPlan::default() }
    }

    fn times(blocks: &[BlockPlan]) -> Result<Vec<(u64, u64, bool)>, Refusal> {
        let scheduled = schedule(blocks, 54, 540)?;
        Ok(scheduled.iter().map(|block| (block.number, block.time, matches!(block.plan, Cow::Borrowed(_)))).collect())
    }

    #[test]
    fn gaps_are_filled_with_empty_blocks() {
        let blocks = [block(Some(57), None), block(None, Some(600)), block(Some(59), None)];
        let expected = [(55, 552, false), (56, 564, false), (57, 576, true), (58, 600, true), (59, 612, true)];
        assert_eq!(times(&blocks), Ok(expected.to_vec()));
    }

    #[test]
    fn blocks_ascend_and_are_few() {
        assert_eq!(times(&[block(Some(54), None)]), Err(Refusal::NumberOrder { number: 54, before: 54 }));
        assert_eq!(times(&[block(None, Some(540))]), Err(Refusal::TimeOrder { time: 540, before: 540 }));
        let last = times(&[block(Some(54 + 256), None)]).expect("in the limit");
        assert_eq!(last.len(), 256);
        let far = times(&[block(Some(54 + 257), None)]).expect_err("too many");
        assert_eq!((far.code(), far.to_string()), (-38_026, "too many blocks: at most 256 are simulated".into()));
        // Far above any height.
        let mut plan = block(None, None);
        plan.overrides.number = Some(U256::MAX);
        assert_eq!(times(&[plan]).map_err(|refusal| refusal.code()), Err(-38_026));
    }
}
