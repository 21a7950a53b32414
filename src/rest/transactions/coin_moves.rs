//! Coins that call frames move. Pure.

use std::collections::BTreeSet;

use trawl_core::primitives::{Address, U256};
use trawl_query::transactions::internal::CoinFrame;

/// Coins that a transaction moves.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::rest) struct Moves {
    /// Who gives whom how many wei.
    pub coins: Vec<(Address, Address, U256)>,
    /// Accounts that may have lost coins that no frame shows.
    pub uncertain: BTreeSet<Address>,
    /// Whether the outermost frame failed, so that nothing moved.
    pub is_failed: bool,
}

/// What the frames below the outermost one move.
///
/// What a contract that ends itself has, and receives after that, is gone in some forks and stays in others; so what it
/// has is not known. `None` where old nodes do not name who receives it: that may be any account.
pub(in crate::rest) fn moves(frames: &[CoinFrame]) -> Option<Moves> {
    // A delegated call moves no coins, though its frame may have the value of its caller.
    let can_move = |frame: &&CoinFrame| frame.frame_type != "call" || frame.call_type == "call";
    let lasts = |frame: &&CoinFrame| frame.is_undone == 0;
    let is_failed = frames.first().is_some_and(|frame| frame.frame_index == 0 && frame.is_undone == 1);
    let mut moves = Moves { is_failed, ..Moves::default() };
    let inner = frames.iter().filter(|frame| frame.frame_index > 0);
    for frame in inner.filter(lasts).filter(can_move) {
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

    fn frame(frame_index: u32, frame_type: &str, call_type: &str, is_undone: u8) -> CoinFrame {
        CoinFrame {
            frame_index,
            frame_type: frame_type.into(),
            call_type: call_type.into(),
            from_address: Address::repeat_byte(1),
            to_address: Some(Address::repeat_byte(2)),
            created_contract: None,
            value: U256::from(frame_index),
            is_undone,
        }
    }

    #[test]
    fn only_frames_that_last_move_coins() {
        let frames = [
            frame(0, "call", "call", 0),
            frame(1, "call", "call", 0),
            frame(2, "call", "call", 1),
            frame(3, "call", "delegatecall", 0),
            frame(4, "call", "call", 0),
        ];
        let found = moves(&frames).expect("receivers");
        let values: Vec<U256> = found.coins.iter().map(|(_, _, value)| *value).collect();
        assert_eq!(values, [U256::from(1), U256::from(4)]);
        assert!(found.uncertain.is_empty() && !found.is_failed);
        let failed = moves(&[frame(0, "call", "call", 1), frame(1, "call", "call", 1)]).expect("receivers");
        assert!(failed.coins.is_empty() && failed.is_failed);
    }

    #[test]
    fn what_ends_itself_has_an_unknown_balance() {
        let mut end = frame(1, "selfdestruct", "", 0);
        let found = moves(std::slice::from_ref(&end)).expect("receivers");
        assert_eq!(found.uncertain, BTreeSet::from([Address::repeat_byte(1)]));
        assert_eq!(found.coins.len(), 1);
        end.to_address = None;
        assert_eq!(moves(&[end]), None);
    }
}
