//! Rows of wide scans: the columns that every order of a kind of rows has.

use crate::primitives::{Address, B256, Bytes, Timestamp, U256};
use crate::schema::columns::columns;

columns! {
    /// A call frame: not that of a transaction as a whole, unless it is a creation.
    pub struct ScannedInternalTransaction / ScannedInternalTransactionView {
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

columns! {
    /// A call frame without what it returned.
    pub struct AccountFrame / AccountFrameView {
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
        /// Path from the outermost call: which child at each depth.
        trace_address: Vec<u32>,
        /// `call`, `create` or `selfdestruct`.
        frame_type: String,
        /// The flavour of a call or creation; empty for others.
        call_type: String,
        /// Caller, creator or the contract that destroys itself.
        from_address: Address,
        /// Callee or beneficiary; none for a creation.
        to_address: Option<Address>,
        /// Contract a creation made.
        created_contract: Option<Address>,
        /// Wei moved, unless `is_undone`; 0 for `delegatecall` and `staticcall`.
        value: U256,
        /// Gas it was given; of an outermost creation the gas limit of the transaction.
        gas_limit: u64,
        /// Gas it used; none where the source does not say.
        gas_used: Option<u64>,
        /// Of an outermost creation: gas left after the intrinsic cost.
        execution_gas_limit: Option<u64>,
        /// Of an outermost creation: gas used without the intrinsic cost.
        execution_gas_used: Option<u64>,
        /// Call data, or code that a creation runs.
        input: Bytes,
        /// Error message of the node; empty if it succeeded.
        error: String,
        /// 1 if it failed or was undone by a frame around it that failed, else 0.
        is_undone: u8,
    }
}

columns! {
    /// A transaction and its outcome, without the other signed fields.
    pub struct ScannedTransaction / ScannedTransactionView {
        /// Height of its block.
        block_number: u64,
        /// Position in the block.
        transaction_index: u32,
        /// Transaction hash: Keccak-256 of its encoding (EIP-2718).
        hash: B256,
        /// Hash of its block.
        block_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// EIP-2718 type: 0 legacy, 1 access list, 2 dynamic fee, 3 blob, 4 set code, others raw.
        transaction_type: u8,
        /// Sender, `from` of JSON-RPC.
        from_address: Address,
        /// Recipient; none for a creation.
        to_address: Option<Address>,
        /// Sender's count of transactions before this one.
        nonce: u64,
        /// Wei sent to the recipient or to the created contract.
        value: U256,
        /// Gas it may use.
        gas_limit: u64,
        /// Wei: signed price of types 0 and 1, effective price of the others.
        gas_price: Option<U256>,
        /// Wei per gas, EIP-1559; none for types 0 and 1.
        max_fee_per_gas: Option<U256>,
        /// Wei per gas, EIP-1559; none for types 0 and 1.
        max_priority_fee_per_gas: Option<U256>,
        /// Call data or init code.
        input: Bytes,
        /// 1 if the source had the receipt; if 0, the columns below mean nothing.
        has_receipt: u8,
        /// 1 success, 0 failure; none before Byzantium (EIP-658).
        status: Option<u8>,
        /// Gas it used.
        gas_used: u64,
        /// Wei paid per gas.
        effective_gas_price: U256,
        /// Wei paid for data on L1 beside the gas; none where the chain has no such fee.
        l1_fee: Option<U256>,
        /// Wei that the operator of a rollup took beside the gas; none where the chain has no such fee.
        operator_fee: Option<U256>,
        /// Contract it created, successful or not.
        contract_address: Option<Address>,
        /// Columns the source did not have.
        lacking: Vec<String>,
    }
}
