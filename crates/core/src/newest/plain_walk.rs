//! Reads of chains that grow, lose blocks to other branches and settle, against a plain walk over all blocks.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, FixedSizeBinaryArray, RecordBatch, UInt64Array};
use arrow::datatypes::UInt64Type;
use proptest::prelude::*;

use super::{Merge, NewestBlock, NewestBlocks, NewestRead, NewestSpan, OrderColumn, Predicate};
use crate::primitives::{Address, B256, BlockRange};

/// Numbers that follow from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn has_one_in(&mut self, count: u64) -> bool {
        self.below(count) == 0
    }
}

const POSITION: [&str; 2] = ["block_number", "row"];
const TABLES: [&str; 4] = ["transactions", "logs", "token_transfers_by_direction", "storage_history"];

/// One of a few addresses, of which some are in most blocks and some in none.
fn address(random: &mut Random) -> Address {
    let one = random.below(30);
    Address::with_last_byte(u8::try_from(random.below(one + 1)).expect("small"))
}

fn hash(number: u64, generation: u64) -> B256 {
    alloy_primitives::keccak256([number.to_be_bytes(), generation.to_be_bytes()].concat())
}

fn fixed<'v>(size: i32, values: impl Iterator<Item = Option<&'v [u8]>>) -> ArrayRef {
    Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(values, size).expect("of one size"))
}

fn rows(number: u64, columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    let count = columns[0].1.len() as u64;
    let positions =
        [vec![number; count as usize], (0..count).collect()].map(|values| Arc::new(UInt64Array::from(values)));
    let positions = POSITION.into_iter().zip(positions).map(|(name, values)| (name, values as ArrayRef, false));
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, values)| (name, values, true)).chain(positions),
    )
    .expect("of one length")
}

/// A column of addresses; of some columns, one without a value here and there.
fn addresses(column: &str, random: &mut Random, count: u64) -> ArrayRef {
    let is_null = |random: &mut Random| column == "to_address" && random.has_one_in(3);
    let all: Vec<Option<Address>> = (0..count).map(|_| (!is_null(random)).then(|| address(random))).collect();
    fixed(20, all.iter().map(|address| address.as_ref().map(|address| address.as_slice())))
}

fn topics(random: &mut Random, count: u64) -> ArrayRef {
    let all: Vec<B256> = (0..count).map(|_| address(random).into_word()).collect();
    fixed(32, all.iter().map(|topic| Some(topic.as_slice())))
}

/// The rows of a block in one table.
fn table(name: &str, number: u64, random: &mut Random) -> RecordBatch {
    let count = 1 + random.below(3);
    let columns = match name {
        "transactions" => vec!["from_address", "to_address", "contract_address"],
        "token_transfers_by_direction" => vec!["address", "token_address", "from_address"],
        _ => vec!["address"],
    };
    let mut columns: Vec<_> = columns.into_iter().map(|column| (column, addresses(column, random, count))).collect();
    match name {
        "logs" => columns.extend(["topic0", "topic1"].map(|column| (column, topics(random, count)))),
        "storage_history" => columns.push(("slot", topics(random, count))),
        "token_transfers_by_direction" => {
            let sides = (0..count).map(|_| if random.has_one_in(2) { "from" } else { "to" });
            columns.push(("direction", Arc::new(BinaryArray::from_iter_values(sides))));
        }
        _ => {}
    }
    rows(number, columns)
}

fn block(number: u64, parent: B256, generation: u64, random: &mut Random) -> NewestBlock {
    let own = hash(number, generation);
    let header = [("hash", own), ("parent_hash", parent)];
    let header: Vec<_> =
        header.iter().map(|(name, hash)| (*name, fixed(32, [Some(hash.as_slice())].into_iter()))).collect();
    let mut tables = vec![("blocks".to_owned(), rows(number, header))];
    for name in TABLES {
        if !random.has_one_in(3) {
            tables.push((name.to_owned(), table(name, number, random)));
        }
    }
    NewestBlock::new(number, generation, tables).expect("columns of known types")
}

/// A chain, and what a reader has of it.
struct Chain {
    blocks: BTreeMap<u64, Arc<NewestBlock>>,
    next: u64,
    generation: u64,
    view: Arc<NewestBlocks>,
    recent: Arc<NewestBlocks>,
    random: Random,
}

impl Chain {
    fn of(first: u64, seed: u64) -> Self {
        let random = Random(seed);
        Self {
            blocks: BTreeMap::new(),
            next: first,
            generation: 1,
            view: Arc::default(),
            recent: Arc::default(),
            random,
        }
    }

    fn append(&mut self) {
        let parent = self.next.checked_sub(1).and_then(|parent| self.blocks.get(&parent));
        let parent = parent.map_or(B256::ZERO, |parent| parent.hash);
        let block = block(self.next, parent, self.generation, &mut self.random);
        self.blocks.insert(self.next, Arc::new(block));
        self.next += 1;
    }

    /// Grows, moves to another branch, which may be shorter, settles, or gets a hole; then the view is refreshed.
    fn step(&mut self, kind: u8, count: u64) {
        match kind {
            0 | 1 => (0..count).for_each(|_| self.append()),
            2 => {
                let lowest = self.blocks.first_key_value().map_or(self.next, |(lowest, _)| *lowest);
                self.next = self.next.saturating_sub(count).max(lowest);
                self.blocks.split_off(&self.next);
                self.generation += 1;
                (0..self.random.below(count + 3)).for_each(|_| self.append());
            }
            3 => (0..count).for_each(|_| drop(self.blocks.pop_first())),
            _ => {
                let height = self.next.saturating_sub(count);
                self.blocks.remove(&height);
            }
        }
        let view = NewestBlocks::new(self.blocks.clone(), 0, &self.view);
        self.recent = Arc::new(view.below(&self.view, &self.recent, 40_000));
        self.view = Arc::new(view);
    }
}

/// Some heights of a view.
fn some_heights(blocks: &Arc<NewestBlocks>, random: &mut Random) -> NewestSpan {
    let Some(run) = blocks.run() else { return NewestSpan::default() };
    let is_whole = random.has_one_in(3);
    let (from, count) = (run.first() + random.below(run.count()), 1 + random.below(run.count()));
    let mut there = super::blocks::ranges(blocks.range(run));
    if !is_whole {
        let holes = |range: &BlockRange| range.first() % 4 != 1;
        there = there.iter().filter_map(|range| range.intersection(BlockRange::new(from, from + count)?)).collect();
        let singles = there.iter().flat_map(|range| range.first()..=range.last()).map(BlockRange::single);
        there = if random.has_one_in(2) { singles.filter(holes).collect() } else { there };
    }
    NewestSpan::new(blocks, there)
}

fn condition(table: &str, random: &mut Random) -> Predicate {
    let some: Vec<Address> = (0..=random.below(3)).map(|_| address(random)).collect();
    let topic = address(random).into_word();
    match (table, random.below(6)) {
        ("transactions", 0..4) => Predicate::among_any(vec!["from_address", "to_address", "contract_address"], &some),
        ("logs", 0) => Predicate::among("topic1", &[topic]),
        ("storage_history", 0) => {
            Predicate::AllOf(vec![Predicate::among("address", &some), Predicate::among("slot", &[topic])])
        }
        ("token_transfers_by_direction", 0) => Predicate::is("direction", "from"),
        ("token_transfers_by_direction", 1) => Predicate::least_of(vec!["token_address", "address"], &some),
        ("token_transfers_by_direction", 2) => {
            Predicate::AnyOf(vec![Predicate::among("address", &some[..1]), Predicate::among("token_address", &some)])
        }
        // The index does not know of senders.
        ("token_transfers_by_direction", 3) => Predicate::among_any(vec!["token_address", "from_address"], &some),
        (_, 4) => Predicate::AnyOf(vec![Predicate::among("address", &some), Predicate::equals("row", 1)]),
        (_, 5) => Predicate::AtLeast { column: "row", number: 1 },
        _ => Predicate::among("address", &some),
    }
}

/// The positions of the rows of a read.
fn positions(read: NewestRead) -> Vec<(u64, u64)> {
    let mut rows = read.rows(&POSITION);
    let mut positions = Vec::new();
    while let Some(batch) = rows.next_batch().expect("columns of the table") {
        let [blocks, rows] = [0, 1].map(|column| batch.column(column).as_primitive::<UInt64Type>().values().to_vec());
        positions.extend(blocks.into_iter().zip(rows));
    }
    positions
}

/// The same by a look into every block.
fn positions_of_all(read: &NewestRead) -> Vec<(u64, u64)> {
    let mut blocks: Vec<&NewestBlock> = read.blocks.iter().collect();
    if read.merge == Merge::Before {
        blocks.reverse();
    }
    let rows = blocks.into_iter().filter_map(|block| Some((block.number, block.table(read.table)?)));
    let rows = rows.flat_map(|(number, table)| read.select(table).into_iter().map(move |row| (number, row.into())));
    rows.take(usize::try_from(read.limit).expect("few")).collect()
}

fn read(blocks: NewestSpan, table: &'static str, random: &mut Random) -> NewestRead {
    let tests = (0..random.below(3)).map(|_| condition(table, random)).collect();
    let order = vec![OrderColumn { name: "row".into(), is_descending: false }];
    let merge = [Merge::Before, Merge::After, Merge::Sorted][random.below(3) as usize];
    let limit = if random.has_one_in(3) { 1 + random.below(20) } else { 1_000_000 };
    NewestRead { blocks, table, tests, order, merge, limit, instead: None }
}

fn is_read_as_by_a_walk(blocks: &Arc<NewestBlocks>, random: &mut Random) -> Result<(), TestCaseError> {
    for table in TABLES {
        let read = read(some_heights(blocks, random), table, random);
        prop_assert_eq!(positions(read.clone()), positions_of_all(&read), "{:?}", read);
    }
    let (span, account, slot) = (some_heights(blocks, random), address(random), address(random).into_word());
    let values: [(&str, &[u8]); 2] = [("address", account.as_slice()), ("slot", slot.as_slice())];
    for values in [&values[..], &values[..1]] {
        let newest = span.find_newest("storage_history", values).map(|(block, row)| (block, row.number("row")));
        let by_walk = span.iter().rev().find_map(|block| Some((block.number, block.find("storage_history", values)?)));
        prop_assert_eq!(newest, by_walk.map(|(block, row)| (block, row.number("row"))));
        let all = span.find_all("storage_history", values).len();
        let by_walk: usize = span.iter().map(|block| block.find_all("storage_history", values).len()).sum();
        prop_assert_eq!(all, by_walk);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn an_index_leaves_out_no_row(
        steps in prop::collection::vec((0u8..5, 1u64..70), 1..14),
        first in 0u64..150,
        seed in any::<u64>(),
    ) {
        let (mut chain, mut random) = (Chain::of(first, seed), Random(seed ^ 1));
        for (kind, count) in steps {
            let before = Arc::clone(&chain.view);
            chain.step(kind, count);
            // Somebody may still read the view before.
            for blocks in [&chain.view, &chain.recent, &before] {
                is_read_as_by_a_walk(blocks, &mut random)?;
            }
        }
    }
}

#[test]
fn a_block_more_shares_the_index_of_those_below() {
    let mut chain = Chain::of(10, 7);
    for count in 1..300 {
        let before = Arc::clone(&chain.view);
        chain.step(0, 1);
        assert_eq!(chain.view.len(), count);
        assert_eq!(chain.view.index().not_of(before.index()), 1, "{count} blocks");
    }
    let before = Arc::clone(&chain.view);
    chain.step(3, 100);
    assert_eq!((chain.view.len(), chain.view.index().not_of(before.index())), (199, 0), "blocks settled");
    assert_eq!((chain.recent.lowest().is_some(), chain.recent.index().not_of(before.index())), (true, 0));
}

#[test]
fn rows_of_a_block_come_in_several_batches() {
    let one = Address::with_last_byte(1);
    let logs = |number| {
        let own = fixed(32, [Some(hash(number, 1).as_slice())].into_iter());
        let address = fixed(20, std::iter::repeat_n(Some(one.as_slice()), 6_000));
        let header = rows(number, vec![("hash", Arc::clone(&own)), ("parent_hash", own)]);
        let tables = vec![("blocks".to_owned(), header), ("logs".to_owned(), rows(number, vec![("address", address)]))];
        Arc::new(NewestBlock::new(number, 1, tables).expect("columns of known types"))
    };
    let blocks = (60..70).map(|number| (number, logs(number))).collect();
    let blocks = Arc::new(NewestBlocks::new(blocks, 0, &NewestBlocks::default()));
    for (merge, limit) in [(Merge::Before, 1_000_000), (Merge::After, 1_000_000), (Merge::After, 13_000)] {
        let blocks = NewestSpan::new(&blocks, blocks.run().into_iter().collect());
        let tests = vec![Predicate::among("address", &[one])];
        let order = vec![OrderColumn { name: "row".into(), is_descending: true }];
        let read = NewestRead { blocks, table: "logs", tests, order, merge, limit, instead: None };
        let found = positions(read.clone());
        assert!(found == positions_of_all(&read) && found.len() as u64 == limit.min(60_000), "{merge:?} {limit}");
    }
}
