//! The input of `handleOps` and `handleAggregatedOps`.
//!
//! Only the requested operation is copied from the input: the operations of a bundle may all point to the same bytes.

use alloy_sol_types::abi::decode_params;
use alloy_sol_types::{SolType, sol, sol_data};

use super::entry_point::EntryPointVersion;
use crate::primitives::{Address, B256, Bytes, U256};

sol! {
    struct UserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        uint256 callGasLimit;
        uint256 verificationGasLimit;
        uint256 preVerificationGas;
        uint256 maxFeePerGas;
        uint256 maxPriorityFeePerGas;
        bytes paymasterAndData;
        bytes signature;
    }

    struct PackedUserOperation {
        address sender;
        uint256 nonce;
        bytes initCode;
        bytes callData;
        bytes32 accountGasLimits;
        uint256 preVerificationGas;
        bytes32 gasFees;
        bytes paymasterAndData;
        bytes signature;
    }
}

/// Operations, and who is paid for the bundle.
type Ops<Op> = (sol_data::Array<Op>, sol_data::Address);
/// The same by aggregator, with its signature.
type AggregatedOps<Op> =
    (sol_data::Array<(sol_data::Array<Op>, sol_data::Address, sol_data::Bytes)>, sol_data::Address);

/// An operation as its bundler sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmittedOperation {
    /// The wallet that acts, a contract.
    pub sender: Address,
    /// Key and sequence of the wallet.
    pub nonce: U256,
    /// A factory and its input, where the wallet is made first.
    pub init_code: Bytes,
    /// The call of the wallet.
    pub call_data: Bytes,
    /// Gas of the call.
    pub call_gas_limit: U256,
    /// Gas of the checks before it.
    pub verification_gas_limit: U256,
    /// Gas that is paid beyond what runs.
    pub pre_verification_gas: U256,
    /// Wei for a unit of gas, at most.
    pub max_fee_per_gas: U256,
    /// Wei for a unit of gas above the base fee, at most.
    pub max_priority_fee_per_gas: U256,
    /// A paymaster and its input, where one pays.
    pub paymaster_and_data: Bytes,
    /// What the wallet checks.
    pub signature: Bytes,
    /// The aggregator of its signature.
    pub aggregation: Option<Aggregation>,
}

/// An aggregator of signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregation {
    /// The contract that checks the signature of all.
    pub aggregator: Address,
    /// The signature of all.
    pub signature: Bytes,
}

impl SubmittedOperation {
    /// The factory that makes the wallet. A delegation (EIP-7702) has a mark instead.
    #[must_use]
    pub fn factory(&self) -> Option<Address> {
        const DELEGATION: [u8; 20] = alloy_primitives::hex!("7702000000000000000000000000000000000000");
        first_address(&self.init_code).filter(|address| *address != DELEGATION)
    }

    /// The paymaster, if the wallet does not pay.
    #[must_use]
    pub fn paymaster(&self) -> Option<Address> {
        first_address(&self.paymaster_and_data)
    }

    /// All gas that it may be charged for; of version 0.6 a paymaster may take as much as two more checks.
    #[must_use]
    pub fn gas(&self, version: EntryPointVersion) -> U256 {
        let own = self.call_gas_limit.saturating_add(self.pre_verification_gas);
        let checks = match (version, self.paymaster()) {
            (EntryPointVersion::V06, Some(_)) => self.verification_gas_limit.saturating_mul(U256::from(3)),
            (EntryPointVersion::V06, None) => self.verification_gas_limit,
            _ => {
                let [first, second] = self.paymaster_and_data.get(20..52).map_or([U256::ZERO; 2], halves);
                self.verification_gas_limit.saturating_add(first).saturating_add(second)
            }
        };
        own.saturating_add(checks)
    }

    /// `verificationGasLimit` and `callGasLimit` as later versions have them, in one word.
    #[must_use]
    pub fn account_gas_limits(&self) -> B256 {
        packed(self.verification_gas_limit, self.call_gas_limit)
    }

    /// `maxPriorityFeePerGas` and `maxFeePerGas`, in one word.
    #[must_use]
    pub fn gas_fees(&self) -> B256 {
        packed(self.max_priority_fee_per_gas, self.max_fee_per_gas)
    }
}

impl From<UserOperation> for SubmittedOperation {
    fn from(op: UserOperation) -> Self {
        Self {
            sender: op.sender,
            nonce: op.nonce,
            init_code: op.initCode,
            call_data: op.callData,
            call_gas_limit: op.callGasLimit,
            verification_gas_limit: op.verificationGasLimit,
            pre_verification_gas: op.preVerificationGas,
            max_fee_per_gas: op.maxFeePerGas,
            max_priority_fee_per_gas: op.maxPriorityFeePerGas,
            paymaster_and_data: op.paymasterAndData,
            signature: op.signature,
            aggregation: None,
        }
    }
}

impl From<PackedUserOperation> for SubmittedOperation {
    fn from(op: PackedUserOperation) -> Self {
        let [verification_gas_limit, call_gas_limit] = halves(op.accountGasLimits.as_slice());
        let [max_priority_fee_per_gas, max_fee_per_gas] = halves(op.gasFees.as_slice());
        Self {
            sender: op.sender,
            nonce: op.nonce,
            init_code: op.initCode,
            call_data: op.callData,
            call_gas_limit,
            verification_gas_limit,
            pre_verification_gas: op.preVerificationGas,
            max_fee_per_gas,
            max_priority_fee_per_gas,
            paymaster_and_data: op.paymasterAndData,
            signature: op.signature,
            aggregation: None,
        }
    }
}

fn first_address(data: &[u8]) -> Option<Address> {
    data.get(..20).map(Address::from_slice)
}

/// The two numbers of 128 bits in 32 bytes.
fn halves(word: &[u8]) -> [U256; 2] {
    let (high, low) = word.split_at(16);
    [U256::from_be_slice(high), U256::from_be_slice(low)]
}

fn packed(high: U256, low: U256) -> B256 {
    B256::from((high << 128) | (low & U256::from(u128::MAX)))
}

/// `handleOps` and `handleAggregatedOps` of a version.
fn selectors(version: EntryPointVersion) -> [[u8; 4]; 2] {
    match version {
        EntryPointVersion::V06 => [alloy_primitives::hex!("1fad948c"), alloy_primitives::hex!("4b1d7cf5")],
        _ => [alloy_primitives::hex!("765e827f"), alloy_primitives::hex!("dbed18e0")],
    }
}

/// Whether an input of an EntryPoint is a bundle.
#[must_use]
pub fn is_bundle(version: EntryPointVersion, input: &[u8]) -> bool {
    input.get(..4).is_some_and(|selector| selectors(version).iter().any(|known| known == selector))
}

/// The operation at a position of a bundle, from 0; `None` if the input is no bundle or has none there.
#[must_use]
pub fn submitted(version: EntryPointVersion, input: &[u8], index: u32) -> Option<SubmittedOperation> {
    match version {
        EntryPointVersion::V06 => of_bundle::<UserOperation>(version, input, index),
        _ => of_bundle::<PackedUserOperation>(version, input, index),
    }
}

/// Who is paid for a bundle: its bundler, to the API family.
#[must_use]
pub fn beneficiary(version: EntryPointVersion, input: &[u8]) -> Option<Address> {
    // The second parameter of both functions, in the head of the input.
    let word = is_bundle(version, input).then(|| input.get(4 + 32..4 + 64)).flatten()?;
    word[..12].iter().all(|byte| *byte == 0).then(|| Address::from_slice(&word[12..]))
}

/// Target and input of a wallet's call: the first and the third parameter of functions that begin
/// `(address, uint256, bytes`.
#[must_use]
pub fn executed_call(parameters: &[u8]) -> Option<(Address, Bytes)> {
    type Parameters = (sol_data::Address, sol_data::Uint<256>, sol_data::Bytes);
    let (target, _, input) = <Parameters as SolType>::abi_decode_params(parameters).ok()?;
    Some((target, input))
}

fn of_bundle<Op>(version: EntryPointVersion, input: &[u8], index: u32) -> Option<SubmittedOperation>
where
    Op: SolType<RustType = Op> + Into<SubmittedOperation>,
{
    let [plain, aggregated] = selectors(version);
    let (selector, parameters) = input.split_first_chunk::<4>()?;
    let mut index = usize::try_from(index).ok()?;
    if *selector == plain {
        let (ops, _) = decode_params::<<Ops<Op> as SolType>::Token<'_>>(parameters).ok()?;
        return ops.0.into_iter().nth(index).map(|op| Op::detokenize(op).into());
    }
    if *selector != aggregated {
        return None;
    }
    let (groups, _) = decode_params::<<AggregatedOps<Op> as SolType>::Token<'_>>(parameters).ok()?;
    for (ops, aggregator, signature) in groups.0 {
        let count = ops.0.len();
        if let Some(op) = ops.0.into_iter().nth(index) {
            let aggregation = Aggregation {
                aggregator: sol_data::Address::detokenize(aggregator),
                signature: sol_data::Bytes::detokenize(signature),
            };
            return Some(SubmittedOperation { aggregation: Some(aggregation), ..Op::detokenize(op).into() });
        }
        index -= count;
    }
    None
}

#[cfg(test)]
mod tests {
    use alloy_primitives::keccak256;
    use proptest::prelude::*;

    use super::*;

    const V06: &str = "(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)";
    const PACKED: &str = "(address,uint256,bytes,bytes,bytes32,uint256,bytes32,bytes,bytes)";

    fn operation(sender: u8, paymaster_and_data: Vec<u8>) -> PackedUserOperation {
        PackedUserOperation {
            sender: Address::repeat_byte(sender),
            nonce: U256::from(sender),
            initCode: Bytes::from(vec![0x77; 24]),
            callData: Bytes::from(vec![sender]),
            accountGasLimits: packed(U256::from(600), U256::from(200)),
            preVerificationGas: U256::from(50),
            gasFees: packed(U256::from(1), U256::from(3)),
            paymasterAndData: paymaster_and_data.into(),
            signature: Bytes::new(),
        }
    }

    #[test]
    fn selectors_are_those_of_the_signatures() {
        for (version, op) in [(EntryPointVersion::V06, V06), (EntryPointVersion::V09, PACKED)] {
            let texts = [
                format!("handleOps({op}[],address)"),
                format!("handleAggregatedOps(({op}[],address,bytes)[],address)"),
            ];
            assert_eq!(selectors(version).map(Vec::from), texts.map(|text| keccak256(text)[..4].to_vec()));
        }
    }

    #[test]
    fn aggregated_operations_are_counted_through() {
        type Bundle = AggregatedOps<PackedUserOperation>;
        let limits = [vec![9; 20], packed(U256::from(100), U256::from(30)).to_vec()].concat();
        let groups = vec![
            (vec![operation(1, Vec::new()), operation(2, limits)], Address::repeat_byte(7), Bytes::from_static(b"a")),
            (Vec::new(), Address::repeat_byte(8), Bytes::new()),
            (vec![operation(3, Vec::new())], Address::repeat_byte(8), Bytes::from_static(b"b")),
        ];
        let paid = Address::repeat_byte(0xbe);
        let input = [&selectors(EntryPointVersion::V08)[1][..], &Bundle::abi_encode_params(&(groups, paid))].concat();
        let version = EntryPointVersion::V08;
        assert_eq!(beneficiary(version, &input), Some(paid));
        let at = |index| submitted(version, &input, index);
        let second = at(1).expect("an operation");
        assert_eq!((second.sender, second.paymaster()), (Address::repeat_byte(2), Some(Address::repeat_byte(9))));
        assert_eq!(second.gas(version), U256::from(600 + 200 + 50 + 100 + 30));
        assert_eq!((second.max_fee_per_gas, second.factory()), (U256::from(3), Some(Address::repeat_byte(0x77))));
        let third = at(2).expect("an operation");
        assert_eq!(third.aggregation.map(|found| found.signature), Some(Bytes::from_static(b"b")));
        assert_eq!(at(3), None);
        assert_eq!(submitted(EntryPointVersion::V06, &input, 0), None);
    }

    #[test]
    fn operations_that_share_their_bytes_are_not_copied() {
        // 2,000 operations at one offset, whose call is 100 kB: only the requested one is read.
        let op = [PackedUserOperation { callData: vec![1; 100_000].into(), ..operation(1, Vec::new()) }];
        let one = Ops::<PackedUserOperation>::abi_encode_params(&(op.to_vec(), Address::ZERO));
        let count = 2_000;
        let mut input = selectors(EntryPointVersion::V07)[0].to_vec();
        input.extend(&one[..64]);
        input.extend(U256::from(count).to_be_bytes::<32>());
        (0..count).for_each(|_| input.extend(U256::from(count * 32).to_be_bytes::<32>()));
        input.extend(&one[128..]);
        let last = submitted(EntryPointVersion::V07, &input, count - 1).expect("an operation");
        assert_eq!(last.call_data.len(), 100_000);
    }

    proptest! {
        #[test]
        fn any_input_is_read_or_none(mut input in prop::collection::vec(any::<u8>(), 4..600), selector in 0_usize..4) {
            for version in [EntryPointVersion::V06, EntryPointVersion::V07] {
                input[..4].copy_from_slice(&selectors(version)[selector % 2]);
                let _ = (submitted(version, &input, 0), beneficiary(version, &input));
            }
        }
    }
}
