//! Coins that call frames move. Pure.

use std::collections::BTreeSet;

use trawl_core::primitives::{Address, U256};
use trawl_query::internal_transactions::CoinFrame;

/// Coins that a transaction moves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Moves {
    /// Who gives whom how many wei.
    pub coins: Vec<(Address, Address, U256)>,
    /// Accounts that may have lost something that no frame tells.
    pub uncertain: BTreeSet<Address>,
    /// Whether the outermost frame failed, so that nothing moved.
    pub is_failed: bool,
}

/// What the frames below the outermost one move, but for those that failed or lie within one that failed.
///
/// What a contract that ends itself has, and receives after that, is gone in some forks and stays in others; so what it has is
/// not known. `None` where old nodes do not name who receives it: that may be anybody.
pub(super) fn moves(frames: &[CoinFrame]) -> Option<Moves> {
    let failed: Vec<&[u32]> =
        frames.iter().filter(|frame| !frame.error.is_empty()).map(|frame| frame.trace_address.as_slice()).collect();
    let succeeded = |frame: &&CoinFrame| !failed.iter().any(|failed| frame.trace_address.starts_with(failed));
    // A delegated call moves no coins, though its frame may have the value of its caller.
    let can_move = |frame: &&CoinFrame| frame.frame_type != "call" || frame.call_type == "call";
    let mut moves = Moves { is_failed: failed.iter().any(|path| path.is_empty()), ..Moves::default() };
    let inner = frames.iter().filter(|frame| !frame.trace_address.is_empty());
    for frame in inner.filter(succeeded).filter(can_move) {
        if frame.frame_type == "selfdestruct" {
            moves.uncertain.insert(frame.from_address);
        }
        moves.coins.push((frame.from_address, frame.to_address.or(frame.created_contract)?, frame.value));
    }
    Some(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(trace_address: &[u32], (frame_type, call_type): (&str, &str), error: &str) -> CoinFrame {
        CoinFrame {
            trace_address: trace_address.to_vec(),
            frame_type: frame_type.into(),
            call_type: call_type.into(),
            from_address: Address::repeat_byte(1),
            to_address: Some(Address::repeat_byte(2)),
            created_contract: None,
            value: U256::from(trace_address.len()),
            error: error.into(),
        }
    }

    #[test]
    fn only_frames_that_succeed_move_coins() {
        let call = ("call", "call");
        let frames = [
            frame(&[], call, ""),
            frame(&[0], call, ""),
            frame(&[1], call, "Reverted"),
            frame(&[1, 0], call, ""),
            frame(&[2], ("call", "delegatecall"), ""),
            frame(&[10, 0, 3], call, ""),
        ];
        let found = moves(&frames).expect("receivers");
        let values: Vec<U256> = found.coins.iter().map(|(_, _, value)| *value).collect();
        assert_eq!(values, [U256::from(1), U256::from(3)]);
        assert!(found.uncertain.is_empty() && !found.is_failed);
        let failed = moves(&[frame(&[], call, "Reverted"), frame(&[0], call, "")]).expect("receivers");
        assert!(failed.coins.is_empty() && failed.is_failed);
    }

    #[test]
    fn what_ends_itself_has_an_unknown_balance() {
        let mut end = frame(&[0], ("selfdestruct", ""), "");
        let found = moves(std::slice::from_ref(&end)).expect("receivers");
        assert_eq!(found.uncertain, BTreeSet::from([Address::repeat_byte(1)]));
        assert_eq!(found.coins.len(), 1);
        end.to_address = None;
        assert_eq!(moves(&[end]), None);
    }
}
