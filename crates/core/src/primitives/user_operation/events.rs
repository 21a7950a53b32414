//! Events of EntryPoints, which are the same in all versions.

use alloy_primitives::b256;
use alloy_sol_types::{SolType, sol_data};

use crate::primitives::{Address, B256, Bytes, U256};

/// `UserOperationEvent(bytes32 indexed, address indexed, address indexed, uint256, bool, uint256, uint256)`.
pub const OPERATION: B256 = b256!("49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f");
/// `BeforeExecution()`: a bundle begins.
pub const BEFORE_EXECUTION: B256 = b256!("bb47ee3e183a558b1a2ff0874b079f3fc5478b7454eacf2bfc5af2ff5878f972");
/// `UserOperationRevertReason(bytes32 indexed, address indexed, uint256, bytes)`.
pub const REVERTED: B256 = b256!("1c4fada7374c0a9ee8841fc38afe82932dc0f8e69012e927f061a8bae611a201");
/// `AccountDeployed(bytes32 indexed, address indexed, address, address)`.
pub const ACCOUNT_DEPLOYED: B256 = b256!("d51a9c61267aa6196961883ecf5ff2da6619c37dac0fa92122513fb32c032d2d");
/// `Deposited(address indexed, uint256)`.
pub const DEPOSITED: B256 = b256!("2da466a7b24304f47e87fa2e1e5a81b9831ce54fec19055ce277ca2f39ba42c4");

/// The event of an EntryPoint about an operation that it handled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationEvent {
    /// Hash of the operation, with chain and EntryPoint.
    pub hash: B256,
    /// The wallet that acts, a contract.
    pub sender: Address,
    /// Who paid for it; none if the wallet did.
    pub paymaster: Option<Address>,
    /// Key and sequence of the wallet.
    pub nonce: U256,
    /// Whether its call succeeded.
    pub is_success: bool,
    /// Wei that it cost.
    pub cost: U256,
    /// Gas that it was charged for.
    pub gas_used: U256,
}

impl OperationEvent {
    /// Reads the topics after the first, and the data; `None` if they are of no such event.
    #[must_use]
    pub fn read(topics: [&[u8; 32]; 3], data: &[u8]) -> Option<Self> {
        type Data = (sol_data::Uint<256>, sol_data::Bool, sol_data::Uint<256>, sol_data::Uint<256>);
        let (nonce, is_success, cost, gas_used) = <Data as SolType>::abi_decode_params(data).ok()?;
        let [hash, sender, paymaster] = topics.map(B256::from);
        let paymaster = Address::from_word(paymaster);
        let paymaster = (!paymaster.is_zero()).then_some(paymaster);
        Some(Self { hash, sender: Address::from_word(sender), paymaster, nonce, is_success, cost, gas_used })
    }

    /// Wei for a unit of gas.
    #[must_use]
    pub fn gas_price(&self) -> U256 {
        self.cost.checked_div(self.gas_used).unwrap_or_default()
    }
}

/// What the call of an operation reverted with, from the data of a [`REVERTED`] event.
#[must_use]
pub fn revert_reason(data: &[u8]) -> Option<Bytes> {
    <(sol_data::Uint<256>, sol_data::Bytes) as SolType>::abi_decode_params(data).ok().map(|(_, reason)| reason)
}

/// The factory that made a wallet, from the data of an [`ACCOUNT_DEPLOYED`] event.
#[must_use]
pub fn account_factory(data: &[u8]) -> Option<Address> {
    <(sol_data::Address, sol_data::Address) as SolType>::abi_decode_params(data).ok().map(|(factory, _)| factory)
}

/// A log of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmittedLog {
    /// Who emitted it.
    pub address: Address,
    /// Its first topic; zero without one.
    pub topic: B256,
    /// Position in the block.
    pub log_index: u32,
}

/// Which of the logs of a transaction are those of an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationLogs {
    /// Which bundle of the transaction it is in, from 0.
    pub bundle_index: u32,
    /// Which operation of the bundle it is, from 0.
    pub index: u32,
    /// How many bundles the EntryPoint was given in the transaction.
    pub bundles: u32,
    /// Its logs, as positions in the list; the last is the event of the EntryPoint.
    pub range: std::ops::Range<usize>,
}

impl OperationLogs {
    /// Those of the operation whose event is at `log_index`, among all logs of a transaction in order; `None` if no
    /// bundle of `entry_point` has such an event.
    #[must_use]
    pub fn find(logs: &[EmittedLog], entry_point: &Address, log_index: u32) -> Option<Self> {
        let of_point = |log: &EmittedLog, topic| log.address == *entry_point && log.topic == topic;
        let (mut bundles, mut index, mut first, mut found) = (0_u32, 0, 0, None);
        for (at, log) in logs.iter().enumerate() {
            if of_point(log, BEFORE_EXECUTION) {
                (bundles, index, first) = (bundles + 1, 0, at + 1);
            } else if of_point(log, OPERATION) {
                if log.log_index == log_index && bundles > 0 {
                    found = Some(Self { bundle_index: bundles - 1, index, bundles: 0, range: first..at + 1 });
                }
                (index, first) = (index + 1, at + 1);
            }
        }
        found.map(|found| Self { bundles, ..found })
    }

    /// The logs of the call itself: without those at the ends that the EntryPoint and the paymaster emitted. The
    /// positions in the list.
    #[must_use]
    pub fn of_call(
        &self,
        logs: &[EmittedLog],
        entry_point: &Address,
        paymaster: Option<&Address>,
    ) -> std::ops::Range<usize> {
        let is_of_handling = |log: &EmittedLog| log.address == *entry_point || Some(&log.address) == paymaster;
        let own = &logs[self.range.clone()];
        let end = own.iter().rposition(|log| !is_of_handling(log)).map_or(0, |last| last + 1);
        let start = own[..end].iter().position(|log| log.address != *entry_point).unwrap_or(end);
        self.range.start + start..self.range.start + end
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;

    use super::*;

    #[test]
    fn topics_are_hashes_of_signatures() {
        for (topic, signature) in [
            (OPERATION, "UserOperationEvent(bytes32,address,address,uint256,bool,uint256,uint256)"),
            (BEFORE_EXECUTION, "BeforeExecution()"),
            (REVERTED, "UserOperationRevertReason(bytes32,address,uint256,bytes)"),
            (ACCOUNT_DEPLOYED, "AccountDeployed(bytes32,address,address,address)"),
            (DEPOSITED, "Deposited(address,uint256)"),
        ] {
            assert_eq!(topic, keccak256(signature), "{signature}");
        }
    }

    #[test]
    fn logs_belong_to_their_bundle_and_operation() {
        let (point, paymaster, other) = (Address::repeat_byte(1), Address::repeat_byte(2), Address::repeat_byte(3));
        let log = |address: Address, topic: B256, log_index: u32| EmittedLog { address, topic, log_index };
        let logs = [
            log(point, ACCOUNT_DEPLOYED, 10),
            log(point, BEFORE_EXECUTION, 11),
            log(other, B256::ZERO, 12),
            // Of another contract, which is no EntryPoint.
            log(other, OPERATION, 13),
            log(paymaster, B256::ZERO, 14),
            log(point, OPERATION, 15),
            log(point, OPERATION, 16),
            log(point, BEFORE_EXECUTION, 17),
            log(point, REVERTED, 18),
            log(point, OPERATION, 19),
        ];
        let found = |at| OperationLogs::find(&logs, &point, at);
        let first = found(15).expect("an operation");
        assert_eq!((first.bundle_index, first.index, first.bundles, first.range.clone()), (0, 0, 2, 2..6));
        assert_eq!(first.of_call(&logs, &point, Some(&paymaster)), 2..4);
        let second = found(16).expect("an operation");
        assert_eq!((second.index, second.of_call(&logs, &point, None).len()), (1, 0));
        let last = found(19).expect("an operation");
        assert_eq!((last.bundle_index, last.index, last.range.clone()), (1, 0, 8..10));
        assert_eq!(last.of_call(&logs, &point, None).len(), 0);
        assert_eq!(found(13), None);
        assert_eq!(OperationLogs::find(&logs[5..6], &point, 15), None, "without a bundle");
    }

    #[test]
    fn data_of_other_events_is_none() {
        let word = [0_u8; 32];
        assert_eq!(OperationEvent::read([&word; 3], &[0; 127]), None);
        assert!(OperationEvent::read([&word; 3], &[0; 128]).is_some_and(|event| event.gas_price().is_zero()));
        assert_eq!(revert_reason(&[0xff; 64]), None);
        assert_eq!(account_factory(&[]), None);
    }
}
