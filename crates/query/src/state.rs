//! Plans for state after a block: many accounts or slots at a time, the last change at or below the block counts.

pub mod complete;

use super::select::hot_blocks;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, B256, BlockNumber, Bytes, U256};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::schema::hot::hot_name;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// A part of an account: balance, credits, nonce or code. An account that never changed has none.
    pub struct AccountPart / AccountPartView {
        /// `balance`, `credits` (wei to add to it), `nonce` or `code`.
        part: String,
        /// Account that has this balance, nonce or code.
        address: Address,
        /// The block of its last change.
        since: u64,
        /// Balance, credits or nonce.
        number: U256,
        /// Hash of the code.
        code_hash: B256,
    }
}

columns! {
    /// The last change of a slot, or the last destruction of its account.
    pub struct SlotChange / SlotChangeView {
        /// Account whose storage has the slot.
        address: Address,
        /// The slot; none for a destruction of the account or of its former storage.
        slot: Option<B256>,
        /// Height of the block.
        since: u64,
        /// Value after the block; zero where it was cleared.
        value: B256,
    }
}

columns! {
    /// The bytes of a code.
    pub struct CodeBytes / CodeBytesView {
        /// Keccak-256 of the code.
        code_hash: B256,
        /// Bytes of the deployed code.
        code: Bytes,
    }
}

columns! {
    /// The hash of a block.
    pub struct BlockHash / BlockHashView {
        /// Height of the block.
        block_number: u64,
        /// Keccak-256 of the header.
        hash: B256,
    }
}

const ACCOUNTS: &str = "address IN {addresses:Array(FixedString(20))}";

/// Balance, nonce and code hash of accounts after the blocks of `state`, which begin at genesis.
#[must_use]
pub fn accounts(addresses: &[Address], state: &Span) -> Statement<AccountPart> {
    let history = |table: &str, column: &str| history(table, &["address", column], ACCOUNTS, state);
    let (balances, credits) = (history("balance_history", "balance"), history("balance_credits", "amount"));
    let (nonces, codes) = (history("nonce_history", "nonce"), history("code_history", "code_hash"));
    let sql = format!(
        "WITH balances AS
(
    SELECT address, max(block_number) AS since, argMax(balance, block_number) AS balance
    FROM {balances}
    GROUP BY address
)
SELECT 'balance' AS part, address, since, balance AS number, toFixedString('', 32) AS code_hash
FROM balances
UNION ALL
SELECT 'credits', credits.address, max(credits.block_number), sum(credits.amount), toFixedString('', 32)
FROM {credits} AS credits
GLOBAL LEFT JOIN balances ON credits.address = balances.address
WHERE credits.block_number >= balances.since
GROUP BY credits.address
UNION ALL
SELECT 'nonce', address, max(block_number), toUInt256(argMax(nonce, block_number)), toFixedString('', 32)
FROM {nonces}
GROUP BY address
UNION ALL
SELECT 'code', address, max(block_number), toUInt256(0), argMax(code_hash, block_number)
FROM {codes}
GROUP BY address"
    );
    bind(Statement::page(sql).on_behalf_of(Workload::Call).with("addresses", addresses), state)
}

/// The last values of slots in the blocks of `state`, which begin at genesis, and the last destructions of the
/// accounts: older values do not count. Slots of one account take half the time of as many slots of several.
#[must_use]
pub fn slots(slots: &[(Address, B256)], state: &Span) -> Statement<SlotChange> {
    let hashes: Vec<B256> = slots.iter().map(|(_, slot)| *slot).collect();
    let mut addresses: Vec<Address> = slots.iter().map(|(address, _)| *address).collect();
    let is_one_account = addresses.iter().all(|address| *address == addresses[0]);
    let wanted = if is_one_account { SLOTS_OF_ONE } else { SLOTS_OF_SEVERAL };
    let changes = history("storage_history", &["address", "slot", "value"], wanted, state);
    let ends = history("account_destructions", &["address"], ACCOUNTS, state);
    let sql = format!(
        "SELECT address, toNullable(slot) AS slot, max(block_number) AS since, argMax(value, block_number) AS value
FROM {changes}
GROUP BY address, slot
UNION ALL
SELECT address, NULL, max(block_number), toFixedString('', 32)
FROM {ends}
GROUP BY address"
    );
    if is_one_account {
        addresses.truncate(1);
    }
    bind(
        Statement::page(sql)
            .on_behalf_of(Workload::Call)
            .with("addresses", addresses.as_slice())
            .with("slots", hashes.as_slice()),
        state,
    )
}

const SLOTS_OF_ONE: &str = "address = {addresses:Array(FixedString(20))}[1]
      AND slot IN {slots:Array(FixedString(32))}";

const SLOTS_OF_SEVERAL: &str = "(address, slot) IN (
          SELECT pair.1, pair.2
          FROM (SELECT arrayJoin(arrayZip({addresses:Array(FixedString(20))}, {slots:Array(FixedString(32))})) AS pair))";

/// Bytecodes by their hashes, from any settled block, and from any block of the hot tables if some of `blocks` are read
/// there.
#[must_use]
pub fn codes(hashes: &[B256], blocks: &Span) -> Statement<CodeBytes> {
    let settled = include_str!("../../../sql/queries/codes_by_hash.sql");
    let sql = if blocks.hot.is_empty() {
        settled.to_owned()
    } else {
        format!(
            "SELECT code_hash, code\nFROM (\n({settled})\nUNION ALL\n({})\n)\nLIMIT 1 BY code_hash",
            settled.replace("FROM codes", "FROM hot_codes")
        )
    };
    Statement::page(sql).on_behalf_of(Workload::Call).with("hashes", hashes)
}

/// Bytecodes by their hashes, from blocks in memory.
#[must_use]
pub fn newest_codes(hashes: &[B256], blocks: &Span) -> Statement<CodeBytes> {
    let newest = Span { newest: blocks.newest.clone(), ..Span::default() };
    let select = super::select::Select::default().blocks("block_number", &newest);
    select.condition("1", Predicate::among("code_hash", hashes)).page("codes", "code_hash", u64::MAX)
}

/// The hashes of the blocks of `span`, ascending.
#[must_use]
pub fn block_hashes(span: &Span) -> Statement<BlockHash> {
    super::select::Select::default()
        .blocks("block_number", span)
        .page("blocks", "block_number", 256)
        .on_behalf_of(Workload::Call)
}

/// The rows of a history that satisfy `wanted`, up to the last block of `state`, from both of its tables.
pub(super) fn history(table: &str, columns: &[&str], wanted: &str, state: &Span) -> String {
    let columns = columns.join(", ");
    let mut parts = Vec::new();
    if !state.settled.is_empty() {
        parts.push(format!(
            "    SELECT {columns}, block_number
    FROM {table}
    WHERE {wanted}
      AND block_number <= {{last:UInt64}}"
        ));
    }
    if !state.hot.is_empty() {
        parts.push(format!(
            "    SELECT {columns}, block_number
    FROM {}
    WHERE {wanted}
      AND {}",
            hot_name(table),
            hot_blocks("block_number").join("\n      AND ")
        ));
    }
    format!("(\n{}\n)", parts.join("\n    UNION ALL\n"))
}

/// Values for the bounds that [`history`] writes.
pub(super) fn bind<R>(mut statement: Statement<R>, state: &Span) -> Statement<R> {
    let last = |range: &trawl_core::primitives::BlockRange| -> BlockNumber { range.last() };
    if let Some(last) = state.settled.last().map(last) {
        statement = statement.with("last", last);
    }
    if let (Some(lowest), Some(highest)) = (state.hot.first(), state.hot.last()) {
        statement = statement
            .with("hot_first", lowest.blocks.first())
            .with("hot_last", highest.blocks.last())
            .with("generations", state.hot.as_slice());
    }
    statement
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::{BlockRange, HotRange};

    fn state() -> Span {
        let range = |first, last| BlockRange::new(first, last).expect("ordered");
        Span {
            settled: vec![range(0, 9)],
            hot: vec![HotRange { blocks: range(10, 11), generation: 3 }],
            ..Span::default()
        }
    }

    #[test]
    fn slots_of_one_account_are_one_range() {
        let slots = slots(&[(Address::ZERO, B256::ZERO), (Address::ZERO, B256::with_last_byte(1))], &state());
        insta::assert_snapshot!(slots.sql, @r"
        SELECT address, toNullable(slot) AS slot, max(block_number) AS since, argMax(value, block_number) AS value
        FROM (
            SELECT address, slot, value, block_number
            FROM storage_history
            WHERE address = {addresses:Array(FixedString(20))}[1]
              AND slot IN {slots:Array(FixedString(32))}
              AND block_number <= {last:UInt64}
            UNION ALL
            SELECT address, slot, value, block_number
            FROM hot_storage_history
            WHERE address = {addresses:Array(FixedString(20))}[1]
              AND slot IN {slots:Array(FixedString(32))}
              AND block_number BETWEEN {hot_first:UInt64} AND {hot_last:UInt64}
              AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
        )
        GROUP BY address, slot
        UNION ALL
        SELECT address, NULL, max(block_number), toFixedString('', 32)
        FROM (
            SELECT address, block_number
            FROM account_destructions
            WHERE address IN {addresses:Array(FixedString(20))}
              AND block_number <= {last:UInt64}
            UNION ALL
            SELECT address, block_number
            FROM hot_account_destructions
            WHERE address IN {addresses:Array(FixedString(20))}
              AND block_number BETWEEN {hot_first:UInt64} AND {hot_last:UInt64}
              AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
        )
        GROUP BY address
        ");
        let names: Vec<&str> = slots.parameters.iter().map(|(name, _)| name.as_ref()).collect();
        assert_eq!(names, ["addresses", "slots", "last", "hot_first", "hot_last", "generations"]);
    }

    #[test]
    fn slots_of_several_accounts_are_pairs() {
        let settled = state().within(BlockRange::single(9));
        let slots = slots(&[(Address::ZERO, B256::ZERO), (Address::repeat_byte(1), B256::ZERO)], &settled);
        assert!(slots.sql.contains("(address, slot) IN") && !slots.sql.contains("hot_"), "{}", slots.sql);
    }
}
