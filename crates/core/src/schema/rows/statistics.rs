//! `token_balances`, `token_statistics` and the tables they are made with.

use crate::primitives::{Address, Timestamp, U256};
use crate::schema::columns::table;

table! {
    /// The balance of a holder, derived from transfers.
    pub struct TokenBalanceRow / TokenBalanceView / TokenBalanceBuilder in "token_balances" {
        /// The token contract.
        token_address: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Holder; the zero address stands for the supply, minted and not burnt.
        holder: Address,
        /// Height of the last change.
        block_number: u64,
        /// Smallest units, tokens of an ERC-721 contract, units over all ids of an ERC-1155 contract.
        balance: U256,
    }
}

table! {
    /// Number of holders and supply of a token, derived from transfers.
    pub struct TokenStatisticsRow / TokenStatisticsView / TokenStatisticsBuilder in "token_statistics" {
        /// The token contract.
        token_address: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Height of the last change, or from which on transfers no longer determine the values.
        block_number: u64,
        /// Addresses with a balance, where transfers determine them.
        holders_count: Option<u64>,
        /// Minted and not burnt, in the smallest unit; not of ERC-1155.
        total_supply: Option<U256>,
    }
}

table! {
    /// Effect of the current step on a balance.
    pub struct TokenBalanceChangeRow / TokenBalanceChangeView / TokenBalanceChangeBuilder in "token_balance_changes" {
        /// The token contract.
        token_address: Address,
        /// `ERC-20`, `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Holder of the balance; the zero address stands for what was minted and not burnt.
        holder: Address,
        /// Height of the change.
        block_number: u64,
        /// Balance below this height.
        balance_before: U256,
        /// Balance from this height on.
        balance: U256,
        /// 0 if transfers do not determine the balance.
        is_told: u8,
        /// Holders of the token before the step.
        holders_before: u64,
        /// Supply of the token before the step.
        supply_before: U256,
    }
}

table! {
    /// The balance of a holder of one id of a token, derived from transfers; under the zero address, how much there is
    /// of the id.
    pub struct TokenIdBalanceRow / TokenIdBalanceView / TokenIdBalanceBuilder in "token_id_balances" {
        /// Holder; the zero address stands for the id itself.
        holder: Address,
        /// The token contract.
        token_address: Address,
        /// `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Id of the token in its contract.
        token_id: U256,
        /// Height of the last change.
        block_number: u64,
        /// Units of the id.
        balance: U256,
        /// Owner of an id of an ERC-721 contract, in the row of the zero address; zero in others.
        owner: Address,
    }
}

table! {
    /// Effect of the current step on the balance of an id.
    pub struct TokenIdChangeRow / TokenIdChangeView / TokenIdChangeBuilder in "token_id_changes" {
        /// Holder of the balance; the zero address stands for what was minted and not burnt.
        holder: Address,
        /// The token contract.
        token_address: Address,
        /// `ERC-721` or `ERC-1155`.
        token_type: String,
        /// Id of the token in its contract.
        token_id: U256,
        /// Height of the change.
        block_number: u64,
        /// Balance from this height on.
        balance: U256,
        /// 0 if transfers do not determine the balance.
        is_told: u8,
    }
}

table! {
    /// A stage of a step of token statistics.
    pub struct TokenStepRow / TokenStepView / TokenStepBuilder in "token_steps" {
        /// First block of the step.
        first_block: u64,
        /// Last block of the step, inclusive.
        last_block: u64,
        /// `known`: its changes are computed; `done`: they are applied.
        stage: String,
        /// Token transfers in the step.
        transfers: u64,
        /// The run of trawl-ingest that wrote it.
        run: String,
        /// Time of the write.
        written_at: Timestamp,
    }
}
