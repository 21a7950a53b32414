//! Plans for the slots of accounts.

use super::{ACCOUNTS, StateBlocks, bind, bind_blocks, history};
use trawl_core::primitives::{Address, B256, BlockNumber};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::{Statement, Workload};

columns! {
    /// A change of a slot, or a destruction of its account.
    pub struct SlotChange / SlotChangeView {
        /// Account whose storage has the slot.
        address: Address,
        /// The slot; none for a destruction of the account or of its former storage.
        slot: Option<B256>,
        /// Height of the block.
        since: u64,
        /// Value after the block; zero where it was cleared.
        value: B256,
        /// Rows of the history that were read for it.
        rows_read: u64,
    }
}

/// Changes of slots that count after a block of `blocks`: for each slot the last one up to the first block, and those
/// in each block above; likewise the destructions of the accounts, before which no value counts. Changes of slots below
/// block `since` are not read. Slots of one account take half the time of as many slots of several.
#[must_use]
pub fn slots(slots: &[(Address, B256)], blocks: &StateBlocks, since: BlockNumber) -> Statement<SlotChange> {
    let hashes: Vec<B256> = slots.iter().map(|(_, slot)| *slot).collect();
    let mut addresses: Vec<Address> = slots.iter().map(|(address, _)| *address).collect();
    let is_one_account = addresses.iter().all(|address| *address == addresses[0]);
    let condition = if is_one_account { SLOTS_OF_ONE } else { SLOTS_OF_SEVERAL };
    let columns = ["address", "slot", "value"];
    let changes = history("storage_history", &columns, condition, "{since:UInt64}", &blocks.history);
    let ends = history("account_destructions", &["address"], ACCOUNTS, "0", &blocks.history);
    let sql = format!(
        "SELECT address, slot, max(block_number) AS since, argMax(word, block_number) AS value, count() AS rows_read
FROM
(
    SELECT address, toNullable(slot) AS slot, block_number, value AS word
    FROM {changes}
    UNION ALL
    SELECT address, NULL, block_number, toFixedString('', 32)
    FROM {ends}
)
GROUP BY address, slot, greatest(block_number, {{first:UInt64}})"
    );
    if is_one_account {
        addresses.truncate(1);
    }
    let statement = Statement::page(sql)
        .with("addresses", addresses.as_slice())
        .with("slots", hashes.as_slice())
        .with("since", since);
    bind_blocks(statement, blocks)
}

/// The last change of each slot of an account in the blocks of `state`, which begin at genesis, and its last
/// destruction: of all changes of slots, or of any `limit` of them, which `rows_read` tells.
#[must_use]
pub fn of_account(account: Address, state: &Span, limit: u64) -> Statement<SlotChange> {
    let changes = history("storage_history", &["address", "slot", "value"], OF_ONE, "0", state);
    let ends = history("account_destructions", &["address"], OF_ONE, "0", state);
    let sql = format!(
        "SELECT address, slot, max(block_number) AS since, argMax(word, block_number) AS value, count() AS rows_read
FROM
(
    SELECT address, toNullable(slot) AS slot, block_number, value AS word
    FROM (SELECT address, slot, block_number, value FROM {changes} LIMIT {{limit:UInt64}})
    UNION ALL
    SELECT address, NULL, block_number, toFixedString('', 32)
    FROM {ends}
)
GROUP BY address, slot"
    );
    let statement = Statement::page(sql).on_behalf_of(Workload::Call).with("addresses", [account].as_slice());
    bind(statement.with("limit", limit), state)
}

const OF_ONE: &str = "address = {addresses:Array(FixedString(20))}[1]";

const SLOTS_OF_ONE: &str = "address = {addresses:Array(FixedString(20))}[1]
      AND slot IN {slots:Array(FixedString(32))}";

const SLOTS_OF_SEVERAL: &str = "(address, slot) IN (
          SELECT pair.1, pair.2
          FROM (SELECT arrayJoin(arrayZip({addresses:Array(FixedString(20))}, {slots:Array(FixedString(32))})) AS pair))";

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::{BlockRange, HotRange};

    fn state() -> StateBlocks {
        let range = |first, last| BlockRange::new(first, last).expect("ordered");
        let history = Span {
            settled: vec![range(0, 9)],
            hot: vec![HotRange { blocks: range(10, 11), generation: 3 }],
            ..Span::default()
        };
        StateBlocks { history, first: 11 }
    }

    #[test]
    fn slots_of_one_account_are_one_range() {
        let slots = slots(&[(Address::ZERO, B256::ZERO), (Address::ZERO, B256::with_last_byte(1))], &state(), 0);
        insta::assert_snapshot!(slots.sql, @r"
        SELECT address, slot, max(block_number) AS since, argMax(word, block_number) AS value, count() AS rows_read
        FROM
        (
            SELECT address, toNullable(slot) AS slot, block_number, value AS word
            FROM (
            SELECT address, slot, value, block_number
            FROM storage_history
            WHERE address = {addresses:Array(FixedString(20))}[1]
              AND slot IN {slots:Array(FixedString(32))}
              AND block_number BETWEEN {since:UInt64} AND {last:UInt64}
            UNION ALL
            SELECT address, slot, value, block_number
            FROM hot_storage_history
            WHERE address = {addresses:Array(FixedString(20))}[1]
              AND slot IN {slots:Array(FixedString(32))}
              AND block_number BETWEEN {hot_first:UInt64} AND {hot_last:UInt64}
              AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
        )
            UNION ALL
            SELECT address, NULL, block_number, toFixedString('', 32)
            FROM (
            SELECT address, block_number
            FROM account_destructions
            WHERE address IN {addresses:Array(FixedString(20))}
              AND block_number BETWEEN 0 AND {last:UInt64}
            UNION ALL
            SELECT address, block_number
            FROM hot_account_destructions
            WHERE address IN {addresses:Array(FixedString(20))}
              AND block_number BETWEEN {hot_first:UInt64} AND {hot_last:UInt64}
              AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
        )
        )
        GROUP BY address, slot, greatest(block_number, {first:UInt64})
        ");
        let names: Vec<&str> = slots.parameters.iter().map(|(name, _)| name.as_ref()).collect();
        assert_eq!(names, ["addresses", "slots", "since", "first", "last", "hot_first", "hot_last", "generations"]);
    }

    #[test]
    fn all_slots_of_an_account_are_read_up_to_a_number_of_changes() {
        let all = of_account(Address::ZERO, &state().history, 100);
        assert!(all.sql.contains("FROM storage_history\n    WHERE address = {addresses:Array(FixedString(20))}[1]"));
        assert!(all.sql.contains("FROM hot_storage_history\n") && all.sql.contains("FROM account_destructions\n"));
        assert_eq!(all.sql.matches("LIMIT {limit:UInt64}").count(), 1, "{}", all.sql);
        let names: Vec<&str> = all.parameters.iter().map(|(name, _)| name.as_ref()).collect();
        assert_eq!(names, ["addresses", "limit", "last", "hot_first", "hot_last", "generations"]);
    }

    #[test]
    fn slots_of_several_accounts_are_pairs() {
        let settled = StateBlocks { history: state().history.within(BlockRange::single(9)), first: 9 };
        let slots = slots(&[(Address::ZERO, B256::ZERO), (Address::repeat_byte(1), B256::ZERO)], &settled, 0);
        assert!(slots.sql.contains("(address, slot) IN") && !slots.sql.contains("hot_"), "{}", slots.sql);
    }
}
