//! `transactions` and `transactions_by_hash`.

use crate::primitives::{Address, B256, Bytes, Timestamp, U256};
use crate::schema::columns::table;
use crate::schema::lists::{AccessListItem, Authorization};

table! {
    /// A transaction and its outcome.
    pub struct TransactionRow / TransactionView / TransactionBuilder in "transactions" {
        /// Height of its block.
        block_number: u64,
        /// Position in the block, 0-based.
        transaction_index: u32,
        /// Transaction hash; raw bytes, show with hex().
        hash: B256,
        /// Hash of its block.
        block_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// EIP-2718 type: 0 legacy, 1 access list, 2 dynamic fee, 3 blob, 4 set code, others raw.
        transaction_type: u8,
        /// Sender, `from` of JSON-RPC.
        from_address: Address,
        /// Recipient; NULL for a contract creation.
        to_address: Option<Address>,
        /// Sender's count of transactions before this one.
        nonce: u64,
        /// Wei sent to the recipient or to the created contract.
        value: U256,
        /// Gas the transaction may use.
        gas_limit: u64,
        /// Wei: signed price of types 0 and 1, effective price of the others.
        gas_price: Option<U256>,
        /// Wei, EIP-1559; NULL for types 0 and 1.
        max_fee_per_gas: Option<U256>,
        /// Wei, EIP-1559; NULL for types 0 and 1.
        max_priority_fee_per_gas: Option<U256>,
        /// Wei, EIP-4844; NULL but for type 3.
        max_fee_per_blob_gas: Option<U256>,
        /// Call data or init code; raw bytes.
        input: Bytes,
        /// Chain it is signed for; NULL for legacy ones without replay protection (EIP-155).
        chain_id: Option<u64>,
        /// Accounts and slots announced ahead (EIP-2930); empty for type 0.
        access_list: Vec<AccessListItem>,
        /// Versioned hashes of its blobs (EIP-4844); empty but for type 3.
        blob_versioned_hashes: Vec<B256>,
        /// Delegations that accounts signed (EIP-7702); empty but for type 4.
        authorization_list: Vec<Authorization>,
        /// Signature: v of legacy transactions, parity of the others.
        v: U256,
        /// `r` of the signature on secp256k1.
        r: U256,
        /// `s` of the signature on secp256k1.
        s: U256,
        /// 1 if the source had the receipt; if 0, the columns below mean nothing.
        has_receipt: u8,
        /// 1 success, 0 failure; NULL before Byzantium (EIP-658).
        status: Option<u8>,
        /// State root after the transaction; NULL from Byzantium on.
        post_state_root: Option<B256>,
        /// Gas it used.
        gas_used: u64,
        /// Gas used in the block up to and with it.
        cumulative_gas_used: u64,
        /// Wei paid per gas.
        effective_gas_price: U256,
        /// Contract it created, successful or not; NULL for calls.
        contract_address: Option<Address>,
        /// EIP-4844; NULL but for type 3.
        blob_gas_used: Option<u64>,
        /// Wei per blob gas, EIP-4844; NULL but for type 3.
        blob_gas_price: Option<U256>,
        /// Logs it emitted.
        logs_count: u32,
        /// JSON as the source gave it, for types above 4 only.
        raw_transaction: Bytes,
        /// JSON as the source gave it without logs, for types above 4 only.
        raw_receipt: Bytes,
        /// Wei paid for data on L1 beside the gas; NULL where the chain has no such fee.
        l1_fee: Option<U256>,
        /// Wei that the operator of a rollup took beside the gas; NULL where the chain has no such fee.
        operator_fee: Option<U256>,
        /// JSON object of the fields of the transaction that no column has, for types 0 to 4; empty if there are none.
        extra_fields: Bytes,
        /// JSON object of the fields of the receipt that no column has, for types 0 to 4; empty if there are none.
        receipt_extra_fields: Bytes,
        /// Columns that the source did not have; their values here mean nothing.
        lacking: Vec<String>,
    }
}

table! {
    /// The position of a transaction by its hash.
    pub struct TransactionByHashRow / TransactionByHashView / TransactionByHashBuilder in "transactions_by_hash" {
        /// First eight bytes of the transaction hash, big-endian.
        hash_prefix: u64,
        /// Height of its block.
        block_number: u64,
        /// Position in the block, 0-based.
        transaction_index: u32,
    }
}
