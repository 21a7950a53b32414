//! Adds what the block itself changes to what its transactions change, and records whether that is all of it.

use std::collections::BTreeMap;

use alloy_eips::{eip2935, eip4788};
use trawl_chains::Family;
use trawl_core::primitives::{Address, B256, U256};

use super::genesis::Genesis;
use super::schedule::Schedule;
use crate::block::state_diff::{Credit, CreditReason, Scope, StateDiff};
use crate::block::{Block, GWEI, Header};
use crate::verify::VerifyError;

/// What is known of a chain beyond its blocks.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    genesis: Option<Genesis>,
    schedule: Option<Schedule>,
}

impl Rules {
    /// The rules a genesis file states, or else those of a public chain; without either, nothing is added to what a
    /// source gives.
    #[must_use]
    pub fn new(genesis: Option<Genesis>, chain_id: Option<u64>) -> Self {
        let stated = genesis.as_ref().and_then(Genesis::schedule);
        let schedule = chain_id.and_then(Schedule::of_chain).or(stated);
        Self { genesis, schedule }
    }

    /// Completes the state of `block`, if its chain credits accounts as Ethereum does. Block 0 gets the allocation of
    /// the genesis, if its state root is that of the block.
    pub fn complete(&self, block: &mut Block, family: &Family) -> Result<(), VerifyError> {
        if block.header.number == 0 {
            if let Some(genesis) = &self.genesis {
                block.state = Some(genesis.state_of(&block.header)?);
            }
            return Ok(());
        }
        // On other chains accounts get fees that the differences of transactions may leave out.
        let Some(mut state) = block.state.take_if(|_| family.credits_as_ethereum()) else { return Ok(()) };
        if state.scope == Scope::TransactionsAndSystem {
            state.scope = Scope::Block;
        }
        if let Some(schedule) = self.schedule.as_ref().filter(|_| state.scope < Scope::Block) {
            let credits = schedule.credits(block);
            let knows_accounts = credits.is_some() && schedule.irregular != Some(block.header.number);
            let knows_system = schedule.write_system_contracts(&block.header, &mut state)
                // Only the state shows how long the queues of the request contracts are.
                && (block.header.requests_hash.is_none() || state.scope == Scope::TransactionsAndQueues);
            state.credits = credits.unwrap_or_default();
            state.scope = match (knows_accounts, knows_system) {
                (true, true) => Scope::Block,
                (true, false) => Scope::AllButSystem,
                (false, _) => state.scope,
            };
        }
        block.state = Some(state);
        Ok(())
    }
}

impl Schedule {
    /// All the block adds to balances; `None` if the source left out what it follows from.
    fn credits(&self, block: &Block) -> Option<Vec<Credit>> {
        let mut sums: BTreeMap<(Address, CreditReason), U256> = BTreeMap::new();
        let mut add = |address, reason, amount: U256| {
            let sum = sums.entry((address, reason)).or_default();
            *sum = sum.wrapping_add(amount);
        };
        for withdrawal in block.withdrawals.as_ref()? {
            let amount = U256::from(withdrawal.amount_gwei) * U256::from(GWEI);
            add(withdrawal.address, CreditReason::Withdrawal, amount);
        }
        let base = self.rewards.base(block.header.number, block.header.difficulty);
        if !base.is_zero() {
            let uncles = block.uncles.as_ref()?;
            let for_uncles = base / U256::from(32) * U256::from(uncles.len());
            add(block.header.miner, CreditReason::BlockReward, base + for_uncles);
            for uncle in uncles {
                add(uncle.miner, CreditReason::UncleReward, uncle_reward(base, block.header.number, uncle.number)?);
            }
        }
        let credits = sums.into_iter().filter(|(_, amount)| !amount.is_zero());
        Some(credits.map(|((address, reason), amount)| Credit { address, reason, amount }).collect())
    }

    /// Writes what the system stores before the first transaction; false if it is not known whether it does.
    fn write_system_contracts(&self, header: &Header, state: &mut StateDiff) -> bool {
        let mut write = |address: Address, slot: u64, value: B256| {
            let storage = &mut state.accounts.entry(address).or_default().storage;
            storage.entry(U256::from(slot).into()).or_insert(value);
        };
        let mut is_known = true;
        if let Some(root) = header.parent_beacon_block_root {
            is_known &= self.beacon_roots;
            if self.beacon_roots {
                let slot = header.timestamp % RING;
                write(eip4788::BEACON_ROOTS_ADDRESS, slot, U256::from(header.timestamp).into());
                write(eip4788::BEACON_ROOTS_ADDRESS, slot + RING, root);
            }
        }
        // EIP-2935 came with the fork that brought requests.
        if header.requests_hash.is_some() {
            is_known &= self.block_hashes;
            if self.block_hashes {
                write(eip2935::HISTORY_STORAGE_ADDRESS, header.number.saturating_sub(1) % RING, header.parent_hash);
            }
        }
        is_known
    }
}

/// Length of the ring buffers of EIP-4788 and EIP-2935.
const RING: u64 = 8191;

/// What an uncle earns its miner: an eighth less for each block of distance. `None` if it is no uncle of that block.
fn uncle_reward(base: U256, number: u64, uncle: u64) -> Option<U256> {
    let distance = number.checked_sub(uncle).filter(|distance| (1..8).contains(distance))?;
    Some(base * U256::from(8 - distance) / U256::from(8))
}
