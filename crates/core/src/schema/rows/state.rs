//! State over time: one table per kind of value, and the contracts that appear.

use crate::primitives::{Address, B256, Bytes, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// A balance after the transactions of a block that changed it.
    pub struct BalanceRow / BalanceView / BalanceBuilder in "balance_history" {
        /// Account that has the balance.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Wei; credits of the same block come on top.
        balance: U256,
    }
}

table! {
    /// A nonce after a block that changed it.
    pub struct NonceRow / NonceView / NonceBuilder in "nonce_history" {
        /// Account or contract that has the nonce.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Nonce after the block.
        nonce: u64,
    }
}

table! {
    /// The code of an account after a block that changed it.
    pub struct CodeChangeRow / CodeChangeView / CodeChangeBuilder in "code_history" {
        /// Account whose code changed: a contract, or one that delegates (EIP-7702).
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Keccak-256 of the code.
        code_hash: B256,
    }
}

table! {
    /// The bytes of a code.
    pub struct CodeRow / CodeView / CodeBuilder in "codes" {
        /// Keccak-256 of the code.
        code_hash: B256,
        /// Height of the block.
        block_number: u64,
        /// Bytes of the deployed code.
        code: Bytes,
    }
}

table! {
    /// A slot after a block that changed it.
    pub struct StorageRow / StorageView / StorageBuilder in "storage_history" {
        /// Account whose storage has the slot.
        address: Address,
        /// Slot, a 256-bit big-endian number.
        slot: B256,
        /// Height of the block.
        block_number: u64,
        /// Its value; zero where it was cleared.
        value: B256,
    }
}

table! {
    /// A block after which an account, or its former storage, is gone.
    pub struct DestructionRow / DestructionView / DestructionBuilder in "account_destructions" {
        /// Account that was destroyed, or whose storage of before the block is gone.
        address: Address,
        /// Height of the block.
        block_number: u64,
    }
}

table! {
    /// Wei that a block adds to an account outside its transactions.
    pub struct CreditRow / CreditView / CreditBuilder in "balance_credits" {
        /// Account that receives the amount.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// `withdrawal`, `block reward` or `uncle reward`.
        reason: String,
        /// Amount in wei.
        amount: U256,
    }
}

table! {
    /// A creation of a contract.
    pub struct ContractRow / ContractView / ContractBuilder in "contracts" {
        /// Address of the created contract.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// Position of the transaction in the block.
        transaction_index: u32,
        /// Transaction that created it; zero for the genesis.
        transaction_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// The sender, or the contract that ran the creation.
        creator: Address,
        /// `create`, `create2`, `transaction` or `genesis`.
        creation_type: String,
        /// Keccak-256 of its code; none where the source had no traces.
        code_hash: Option<B256>,
        /// Bytes of its code; none where the source had no traces.
        code_size: Option<u32>,
    }
}

table! {
    /// The implementation of a proxy from a block on.
    pub struct ProxyRow / ProxyView / ProxyBuilder in "proxy_implementations" {
        /// The contract, or the account that delegates.
        address: Address,
        /// Height of the block.
        block_number: u64,
        /// `eip1167`, `eip1967`, `eip1822`, `eip1967_beacon` or `eip7702`.
        kind: String,
        /// The implementation; the beacon for a beacon proxy; zero after removal.
        implementation: Address,
    }
}
