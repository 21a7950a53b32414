//! `internal_transactions` and its orders by participant.

use crate::primitives::{Address, B256, Bytes, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// A call frame of a transaction, or a reward of a block.
    pub struct InternalTransactionRow / InternalTransactionView / InternalTransactionBuilder in "internal_transactions" {
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block; [`u32::MAX`] for rewards.
        transaction_index: u32,
        /// Position in the transaction, in order of execution; 0 is the transaction itself.
        frame_index: u32,
        /// Hash of its transaction; zero for rewards.
        transaction_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// Path from the outermost call: which child at each depth.
        trace_address: Vec<u32>,
        /// `call`, `create`, `selfdestruct` or `reward`.
        frame_type: String,
        /// `call`, `callcode`, `delegatecall`, `staticcall`; `create`, `create2`; `block`, `uncle`; or empty.
        call_type: String,
        /// Caller, creator or the contract that destroys itself; zero for a reward.
        from_address: Address,
        /// Callee or beneficiary; none for a creation.
        to_address: Option<Address>,
        /// Contract a creation made.
        created_contract: Option<Address>,
        /// Wei moved, unless `is_undone`; 0 for `delegatecall` and `staticcall`.
        value: U256,
        /// Gas the call was given; of the outermost frame the gas limit of the transaction.
        gas_limit: u64,
        /// Error message of the node; empty if the call succeeded.
        error: String,
        /// Gas the call used; of the outermost frame that of the receipt; none if the source does not report it.
        gas_used: Option<u64>,
        /// Call data; init code of a creation.
        input: Bytes,
        /// Return data; code of a creation.
        output: Bytes,
        /// Calls made directly by it.
        subtraces: u32,
        /// Outermost frames of `trace_block`: gas left after the intrinsic cost.
        execution_gas_limit: Option<u64>,
        /// Outermost frames of `trace_block`: gas used without the intrinsic cost, before refunds.
        execution_gas_used: Option<u64>,
        /// 1 if it failed or was undone by a frame around it that failed, else 0.
        is_undone: u8,
    }
}

table! {
    /// A call frame as one of its participants sees it.
    pub struct AddressInternalTransactionRow / AddressInternalTransactionView / AddressInternalTransactionBuilder in "internal_transactions_by_address" {
        /// Caller, callee, creator, created contract or beneficiary: the frame has a row for each of them.
        address: Address,
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Position in the transaction, in order of execution.
        frame_index: u32,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// `call`, `create` or `selfdestruct`.
        frame_type: String,
        /// `call`, `callcode`, `delegatecall`, `staticcall`; `create`, `create2`; or empty.
        call_type: String,
        /// Caller, creator or the contract that destroys itself.
        from_address: Address,
        /// Callee or beneficiary; none for a creation.
        to_address: Option<Address>,
        /// Contract a creation made.
        created_contract: Option<Address>,
        /// Wei moved, unless `is_undone`; 0 for `delegatecall` and `staticcall`.
        value: U256,
        /// Gas the call was given; of an outermost creation without the intrinsic cost if the source reports it so.
        gas_limit: u64,
        /// Error message of the node; empty if the call succeeded.
        error: String,
        /// 1 if it failed or was undone by a frame around it that failed, else 0.
        is_undone: u8,
    }
}

table! {
    /// A call frame as seen from one of its sides.
    pub struct DirectedInternalTransactionRow / DirectedInternalTransactionView / DirectedInternalTransactionBuilder in "internal_transactions_by_direction" {
        /// Caller, callee, creator, created contract or beneficiary: the frame has a row for each of them.
        address: Address,
        /// `from` or `to`: the side the address is on.
        direction: String,
        /// Height of its block.
        block_number: u64,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Position in the transaction, in order of execution.
        frame_index: u32,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// `call`, `create` or `selfdestruct`.
        frame_type: String,
        /// `call`, `callcode`, `delegatecall`, `staticcall`; `create`, `create2`; or empty.
        call_type: String,
        /// Caller, creator or the contract that destroys itself.
        from_address: Address,
        /// Callee or beneficiary; none for a creation.
        to_address: Option<Address>,
        /// Contract a creation made.
        created_contract: Option<Address>,
        /// Wei moved, unless `is_undone`; 0 for `delegatecall` and `staticcall`.
        value: U256,
        /// Gas the call was given; of an outermost creation without the intrinsic cost if the source reports it so.
        gas_limit: u64,
        /// Error message of the node; empty if the call succeeded.
        error: String,
        /// 1 if it failed or was undone by a frame around it that failed, else 0.
        is_undone: u8,
    }
}
