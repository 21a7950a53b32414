//! Whether there was code at an address when a transaction ran. Pure.

use revm::primitives::KECCAK_EMPTY;

use crate::enrich::contracts::{CodeCreation, ContractInfo};
use trawl_core::primitives::{Address, BlockNumber};
use trawl_query::addresses::CodeChange;

/// What is known of the code of an address over time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodeTimeline<'t> {
    /// Creations and delegations.
    pub info: &'t ContractInfo,
    /// Blocks that changed its code, ascending, as far as state is loaded.
    pub changes: &'t [CodeChange],
    /// Whether there are no creations but those.
    pub is_whole: bool,
    /// Whether there are no changes but those since the block of the first creation.
    pub has_all_changes: bool,
}

/// Whether there was code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Present,
    Absent,
    Unknown,
}

/// Leading zero bytes of the addresses at which chains have what runs without code: precompiles.
const PRECOMPILE_ZEROS: usize = 18;

impl CodeTimeline<'_> {
    /// Whether `address` had code when the transaction at a position began.
    pub fn before(&self, address: &Address, block: BlockNumber, index: u32) -> Code {
        let is_precompile = address[..PRECOMPILE_ZEROS].iter().all(|byte| *byte == 0) && !address.is_zero();
        // Delegations are known by blocks, and whether there is code behind one is another question.
        let delegates = self.info.pointers.iter().any(|one| one.kind == "eip7702" && one.block_number <= block);
        if is_precompile || delegates {
            return Code::Unknown;
        }
        let creations = &self.info.creations;
        if let Some(earlier) = creations.iter().rfind(|one| (one.block_number, one.transaction_index) < (block, index))
        {
            return self.since(earlier, block);
        }
        // An address that the nonce of its creator gives has had no code before.
        let is_first = creations.first().is_some_and(|first| !first.is_repeatable);
        if self.is_whole || self.info.is_codeless || is_first { Code::Absent } else { Code::Unknown }
    }

    /// Whether code that was created before is still there in `block`.
    fn since(&self, created: &CodeCreation, block: BlockNumber) -> Code {
        if !self.has_all_changes {
            return Code::Present;
        }
        let is_there = |change: &CodeChange| change.code_hash != KECCAK_EMPTY;
        let changes = || self.changes.iter().filter(|change| change.block_number >= created.block_number);
        let within = changes().find(|change| change.block_number == block).map(is_there);
        if created.block_number == block {
            // It is unknown when, within that block, something else changed.
            return if within == Some(true) { Code::Present } else { Code::Unknown };
        }
        let had_code = changes().rfind(|change| change.block_number < block).is_some_and(is_there);
        match (had_code, within) {
            (true, Some(false)) => Code::Unknown,
            (true, _) => Code::Present,
            // It was destroyed earlier, or in the block in which it was created; what comes in this block comes later.
            (false, _) => Code::Absent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::B256;
    use trawl_core::schema::ProxyRow;

    const CONTRACT: Address = Address::repeat_byte(7);

    fn created(positions: &[(u64, u32)], is_repeatable: bool) -> ContractInfo {
        let creation = |(block_number, transaction_index): &(u64, u32)| CodeCreation {
            block_number: *block_number,
            transaction_index: *transaction_index,
            is_repeatable,
        };
        ContractInfo { creations: positions.iter().map(creation).collect(), ..ContractInfo::default() }
    }

    /// A change at each height: to code, or to none.
    fn changes(heights: &[(u64, bool)]) -> Vec<CodeChange> {
        let change = |(block_number, has_code): &(u64, bool)| CodeChange {
            address: CONTRACT,
            block_number: *block_number,
            code_hash: if *has_code { B256::repeat_byte(1) } else { KECCAK_EMPTY },
        };
        heights.iter().map(change).collect()
    }

    fn before(info: &ContractInfo, is_whole: bool, block: u64, index: u32) -> Code {
        CodeTimeline { info, changes: &[], is_whole, has_all_changes: false }.before(&CONTRACT, block, index)
    }

    #[test]
    fn a_contract_has_code_after_its_creation() {
        let info = created(&[(5, 1)], false);
        assert_eq!(before(&info, false, 5, 0), Code::Absent);
        assert_eq!(before(&info, false, 5, 2), Code::Present);
        assert_eq!(before(&info, false, 9, 0), Code::Present);
        // At an address that a salt gives there may have been another one.
        assert_eq!(before(&created(&[(5, 1)], true), false, 4, 0), Code::Unknown);
        assert_eq!(before(&created(&[(5, 1)], true), true, 4, 0), Code::Absent);
    }

    #[test]
    fn it_has_none_between_its_destruction_and_the_next_creation() {
        let info = created(&[(5, 0), (9, 1)], true);
        let changes = changes(&[(5, true), (7, false), (9, true)]);
        let timeline = CodeTimeline { info: &info, changes: &changes, is_whole: true, has_all_changes: true };
        let at = |block, index| timeline.before(&CONTRACT, block, index);
        assert_eq!([at(6, 0), at(7, 0), at(8, 0)], [Code::Present, Code::Unknown, Code::Absent]);
        assert_eq!([at(9, 0), at(9, 2), at(10, 0)], [Code::Absent, Code::Present, Code::Present]);
        // Destroyed by the transaction that created it, which no difference of the block shows.
        let timeline = CodeTimeline { changes: &[], ..timeline };
        assert_eq!(timeline.before(&CONTRACT, 6, 0), Code::Absent);
    }

    #[test]
    fn an_account_has_none_where_all_creations_are_known() {
        let mut info = ContractInfo::default();
        assert_eq!(before(&info, false, 5, 0), Code::Unknown);
        assert_eq!(before(&info, true, 5, 0), Code::Absent);
        let implementation = Address::repeat_byte(8);
        info.pointers.push(ProxyRow { address: CONTRACT, block_number: 5, kind: "eip7702".into(), implementation });
        assert_eq!(before(&info, true, 4, 9), Code::Absent);
        assert_eq!(before(&info, true, 5, 0), Code::Unknown);
    }

    #[test]
    fn a_precompile_runs_without_code() {
        let info = ContractInfo::default();
        let timeline = CodeTimeline { info: &info, changes: &[], is_whole: true, has_all_changes: true };
        assert_eq!(timeline.before(&Address::with_last_byte(4), 5, 0), Code::Unknown);
        assert_eq!(timeline.before(&Address::ZERO, 5, 0), Code::Absent);
    }
}
