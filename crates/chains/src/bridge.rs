//! Logs by which bridges say what came from L1 and what left for it.

use alloy_primitives::{Address, B256, U256};

use crate::bridge::messages::{MessageLog, Word};

pub(crate) mod deposits;
pub(crate) mod l1_origin;
pub(crate) mod messages;

/// A log of a bridge.
#[derive(Debug, Clone, Copy)]
pub struct BridgeEvent {
    /// The contract of the chain that writes it.
    pub contract: Address,
    /// Its topic 0.
    pub event: B256,
    /// Which way it goes.
    pub way: BridgeWay,
    /// The token; `None` for the chain's coin alone.
    pub token: Option<Word>,
    /// Who sent it.
    pub from: Word,
    /// Who receives it.
    pub to: Word,
    /// Of the smallest units.
    pub amount: Word,
}

/// Which way something goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BridgeWay {
    /// From L1 to this chain: a deposit.
    Arrives,
    /// From this chain to L1: a withdrawal.
    Leaves,
}

/// What a bridge brought or took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BridgeTransfer {
    /// Which way it went.
    pub way: BridgeWay,
    /// The token; `None` for the chain's coin.
    pub token: Option<Address>,
    /// Who sent it.
    pub from: Address,
    /// Who receives it.
    pub to: Address,
    /// How much, in the smallest units.
    pub amount: U256,
}

impl BridgeEvent {
    /// What a log of `contract` says, if it is such a log.
    #[must_use]
    pub fn read(&self, contract: &Address, log: MessageLog<'_>) -> Option<BridgeTransfer> {
        if *contract != self.contract || log.topics.first() != Some(&self.event) {
            return None;
        }
        let account = |word: Word| Some(Address::from_word(log.word(word)?));
        let token = match self.token {
            Some(word) => Some(account(word)?).filter(|token| *token != COIN),
            None => None,
        };
        let (from, to, amount) = (account(self.from)?, account(self.to)?, log.number(self.amount)?);
        Some(BridgeTransfer { way: self.way, token, from, to, amount })
    }
}

/// The address that stands for the coin in logs of OP stack bridges (`LEGACY_ERC20_ETH`,
/// <https://specs.optimism.io/protocol/predeploys.html>).
const COIN: Address = alloy_primitives::address!("deaddeaddeaddeaddeaddeaddeaddeaddead0000");
