//! `token_transfers` and its orders, and `tokens`.

use crate::primitives::{Address, B256, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// A token transfer as one of its participants sees it.
    pub struct TokenTransferRow / TokenTransferView / TokenTransferBuilder in "token_transfers" "token_transfers_by_token" {
        /// Sender or recipient.
        address: Address,
        /// Height of its block.
        block_number: u64,
        /// Position of its log in the block.
        log_index: u32,
        /// Position in an ERC-1155 batch; 0 otherwise.
        batch_index: u32,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Hash of its block.
        block_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Contract that emitted the log.
        token_address: Address,
        /// Sender; zero for a mint.
        from_address: Address,
        /// Recipient; zero for a burn.
        to_address: Address,
        /// Token of an ERC-721 or ERC-1155 transfer.
        token_id: Option<U256>,
        /// Amount in the smallest unit; 1 for ERC-721.
        value: U256,
    }
}

table! {
    /// A token transfer as seen from one of its sides.
    pub struct DirectedTokenTransferRow / DirectedTokenTransferView / DirectedTokenTransferBuilder in "token_transfers_by_direction" {
        /// Sender or recipient.
        address: Address,
        /// `from` or `to`: the side the address is on.
        direction: String,
        /// Height of its block.
        block_number: u64,
        /// Position of its log in the block.
        log_index: u32,
        /// Position in an ERC-1155 batch; 0 otherwise.
        batch_index: u32,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Hash of its block.
        block_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Contract that emitted the log.
        token_address: Address,
        /// Sender; zero for a mint.
        from_address: Address,
        /// Recipient; zero for a burn.
        to_address: Address,
        /// Token of an ERC-721 or ERC-1155 transfer.
        token_id: Option<U256>,
        /// Amount in the smallest unit; 1 for ERC-721.
        value: U256,
    }
}

table! {
    /// A token transfer.
    pub struct BlockTokenTransferRow / BlockTokenTransferView / BlockTokenTransferBuilder in "token_transfers_by_block" {
        /// Height of its block.
        block_number: u64,
        /// Position of its log in the block.
        log_index: u32,
        /// Position in an ERC-1155 batch; 0 otherwise.
        batch_index: u32,
        /// Position of its transaction in the block.
        transaction_index: u32,
        /// Hash of its transaction.
        transaction_hash: B256,
        /// Hash of its block.
        block_hash: B256,
        /// Timestamp of its block.
        block_timestamp: Timestamp,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Contract that emitted the log.
        token_address: Address,
        /// Sender; zero for a mint.
        from_address: Address,
        /// Recipient; zero for a burn.
        to_address: Address,
        /// Token of an ERC-721 or ERC-1155 transfer.
        token_id: Option<U256>,
        /// Amount in the smallest unit; 1 for ERC-721.
        value: U256,
    }
}

table! {
    /// Metadata of a token, as its contract returned it.
    pub struct TokenRow / TokenView / TokenBuilder in "tokens" {
        /// The token contract.
        address: Address,
        /// Height at which the contract was called.
        block_number: u64,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// What `name()` returned, cut to 1000 characters; none if the call gave none.
        name: Option<String>,
        /// What `symbol()` returned, cut to 1000 characters; none if the call gave none.
        symbol: Option<String>,
        /// What `decimals()` returned; none if the call gave none.
        decimals: Option<u8>,
        /// Supply in the smallest unit.
        total_supply: Option<U256>,
    }
}
