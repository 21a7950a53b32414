//! Plans for the balance, nonce and code of accounts.

use super::{ACCOUNTS, StateBlocks, bind_blocks, history};
use trawl_core::primitives::{Address, B256, BlockNumber, U256};
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Parameter, Statement};

columns! {
    /// A change of an account: balance, credits, nonce or code. An account that never changed has none.
    pub struct AccountPart / AccountPartView {
        /// `balance`, `credits` (wei to add to it), `nonce` or `code`.
        part: String,
        /// Account that has this balance, nonce or code.
        address: Address,
        /// The block of the first change that was read for it.
        first: u64,
        /// The block of the change.
        since: u64,
        /// Balance, credits or nonce.
        number: U256,
        /// Hash of the code.
        code_hash: B256,
        /// Rows of the history that were read for it.
        rows_read: u64,
    }
}

/// The lowest blocks whose changes are read, of accounts whose histories are long: 0 for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct AccountsSince {
    /// Of the histories of balances and credits.
    pub balance: BlockNumber,
    /// Of the histories of nonces.
    pub nonce: BlockNumber,
}

/// Changes of the balance, nonce and code of accounts that count after a block of `blocks`: for each of these parts the
/// last one up to the first block, and the last one in each block above. Credits are summed up likewise: of those up to
/// the first block, the ones below the last balance do not count ([`credits`]).
#[must_use]
pub fn accounts(addresses: &[Address], blocks: &StateBlocks, since: AccountsSince) -> Statement<AccountPart> {
    let history =
        |table: &str, column: &str, since: &str| history(table, &["address", column], ACCOUNTS, since, &blocks.history);
    let balances = history("balance_history", "balance", "{since_balance:UInt64}");
    let credits = history("balance_credits", "amount", "{since_balance:UInt64}");
    let nonces = history("nonce_history", "nonce", "{since_nonce:UInt64}");
    let codes = history("code_history", "code_hash", "0");
    // One aggregation of all parts takes 0.6 of the time of one for each.
    let sql = format!(
        "SELECT part, address, min(block_number) AS first, max(block_number) AS since,
    if(part = 'credits', sum(amount), argMax(amount, block_number)) AS number,
    argMax(hash, block_number) AS code_hash, count() AS rows_read
FROM
(
    SELECT 'balance' AS part, address, block_number, balance AS amount, toFixedString('', 32) AS hash
    FROM {balances}
    UNION ALL
    SELECT 'credits', address, block_number, amount, toFixedString('', 32)
    FROM {credits}
    UNION ALL
    SELECT 'nonce', address, block_number, toUInt256(nonce), toFixedString('', 32)
    FROM {nonces}
    UNION ALL
    SELECT 'code', address, block_number, toUInt256(0), code_hash
    FROM {codes}
)
GROUP BY part, address, greatest(block_number, {{first:UInt64}})"
    );
    let statement = Statement::page(sql)
        .with("addresses", addresses)
        .with("since_balance", since.balance)
        .with("since_nonce", since.nonce);
    bind_blocks(statement, blocks)
}

/// Credits of accounts up to the first block of `blocks`, of each from a block on: those that come on top of the
/// balance that it had then.
#[must_use]
pub fn credits(accounts: &[(Address, BlockNumber)], blocks: &StateBlocks) -> Statement<AccountPart> {
    let (addresses, since): (Vec<Address>, Vec<BlockNumber>) = accounts.iter().copied().unzip();
    let credits = history("balance_credits", &["address", "amount"], ACCOUNTS, "{lowest:UInt64}", &blocks.history);
    let sql = format!(
        "SELECT 'credits' AS part, address, min(block_number) AS first, max(block_number) AS since,
    sum(amount) AS number, toFixedString('', 32) AS code_hash, count() AS rows_read
FROM {credits}
WHERE block_number >= transform(address, {{addresses:Array(FixedString(20))}}, {{since:Array(UInt64)}}, toUInt64(0))
  AND block_number <= {{first:UInt64}}
GROUP BY address"
    );
    let lowest = since.iter().copied().min().unwrap_or(0);
    let statement = Statement::page(sql)
        .with("addresses", addresses.as_slice())
        .with("since", Parameter::Numbers(since))
        .with("lowest", lowest);
    bind_blocks(statement, blocks)
}
