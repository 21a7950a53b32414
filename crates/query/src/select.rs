//! Builds a SELECT, one condition a line: over a table, over its hot table, or over both; and the same read of blocks
//! in memory.

use std::borrow::Cow;

use trawl_core::newest::{NewestRead, Predicate};
use trawl_core::primitives::{Address, BlockNumber, BlockRange, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::Columns;
use trawl_core::schema::hot::{GENERATION, hot_name};
use trawl_core::statement::{AddressPage, Parameter, Statement};

mod in_memory;
mod sets;

use in_memory::{columns_of, in_memory, merge};
pub(super) use sets::SetCondition;

/// The condition on the address where a table is ordered by it.
const ADDRESS_CONDITION: &str = "address = toFixedString(unhex({address:String}), 20)";

/// Tables ordered by address and block number, of which clients get pages of whole rows.
const ADDRESS_TABLES: [&str; 2] = ["logs", "token_transfers"];

/// A SELECT under construction.
#[derive(Debug, Default)]
pub(super) struct Select {
    conditions: Vec<Condition>,
    /// Alternatives, each a range of the key of its own; none means no such condition.
    branches: Vec<String>,
    parameters: Vec<(Cow<'static, str>, Parameter)>,
    span: Span,
    /// The conditions and the alternatives on rows in memory.
    tests: Vec<Predicate>,
    alternatives: Vec<Predicate>,
    instead: Option<(&'static str, &'static str)>,
    /// Columns of which each combination is read once from a table.
    once: Option<&'static str>,
}

#[derive(Debug)]
enum Condition {
    Text(String),
    /// Of rows of settled blocks only.
    Settled(String),
    /// Of the newest rows only.
    Newest(String),
    /// The blocks of the span, by the column of the block number.
    Blocks(&'static str),
}

/// Which of the two tables a branch reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Settled,
    Hot,
}

impl Select {
    /// Adds a condition, as text and as a test of rows in memory. Its placeholders get their values from
    /// [`Select::with`].
    pub fn condition(mut self, text: impl Into<String>, test: Predicate) -> Self {
        self.conditions.push(Condition::Text(text.into()));
        self.tests.push(test);
        self
    }

    /// Adds a condition for rows of settled blocks alone: the newest are few and need no lookup in another table.
    pub fn settled_condition(mut self, text: impl Into<String>) -> Self {
        self.conditions.push(Condition::Settled(text.into()));
        self
    }

    /// Adds a condition for the newest rows alone: in place of the lookup that finds those of settled blocks.
    pub fn newest_condition(mut self, text: impl Into<String>, test: Predicate) -> Self {
        self.conditions.push(Condition::Newest(text.into()));
        self.tests.push(test);
        self
    }

    /// Adds an alternative: rows that satisfy any of them match. Each is read as an ordered range of its own, cut at
    /// the limit and merged, so that the sort has few rows however many match.
    pub fn branch(mut self, text: impl Into<String>, test: Predicate) -> Self {
        self.branches.push(text.into());
        self.alternatives.push(test);
        self
    }

    /// In memory, `column` takes the values of `other` where that has one; the SELECT states so in its columns.
    pub fn instead(mut self, column: &'static str, other: &'static str) -> Self {
        self.instead = Some((column, other));
        self
    }

    /// Of rows of a table with the same values in `columns`, one is read; rows in memory are not deduplicated.
    pub fn once(mut self, columns: &'static str) -> Self {
        self.once = Some(columns);
        self
    }

    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<Parameter>) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Keeps `column` inside `span`. Called once; without it only settled blocks are read, all of them.
    pub fn blocks(mut self, column: &'static str, span: &Span) -> Self {
        self.conditions.push(Condition::Blocks(column));
        self.span = span.clone();
        self
    }

    /// The page of `R` rows that `order` puts first.
    pub fn page<R: Columns>(self, table: &str, order: &str, limit: u64) -> Statement<R> {
        self.page_of(&R::select_list(), table, order, limit)
    }

    /// [`Select::page`] for a table with other column names: `columns` are the expressions of the SELECT.
    pub fn page_of<R: Columns>(mut self, columns: &str, table: &str, order: &str, limit: u64) -> Statement<R> {
        let newest = self.newest(table, order, limit);
        let parts = self.parts(table);
        let address_page = self.address_page(columns, table, order, &parts).map(Box::new);
        let once = self.once.map_or_else(String::new, |columns| format!("\nLIMIT 1 BY {columns}"));
        let page = |columns: &str, from: &str, conditions: &[String]| {
            let filter =
                if conditions.is_empty() { String::new() } else { format!("\nWHERE {}", conditions.join("\n  AND ")) };
            format!("SELECT {columns}\nFROM {from}{filter}\nORDER BY {order}{once}\nLIMIT {{limit:UInt64}}")
        };
        let sql = match parts.as_slice() {
            [(table, conditions)] => page(columns, table, conditions),
            several => {
                let part = |(table, conditions): &(String, Vec<String>)| page(columns, table, conditions);
                let pages: Vec<String> = several.iter().map(part).collect();
                page(&R::select_list(), &format!("(\n({})\n)", pages.join(")\nUNION ALL\n(")), &[])
            }
        };
        let mut statement = Statement::page(sql).with("limit", limit);
        statement.is_one_range = parts.len() == 1;
        statement.is_in_tables = self.blocks_column().is_none() || self.span.is_in_tables();
        statement.is_settled = self.blocks_column().is_some() && self.span.hot.is_empty();
        statement.newest = newest;
        statement.address_page = address_page;
        self.bind_blocks();
        self.parameters.into_iter().fold(statement, |statement, (name, value)| statement.with(name, value))
    }

    /// The read of a table as a page of one address, if it is one.
    fn address_page(
        &self,
        columns: &str,
        table: &str,
        order: &str,
        parts: &[(String, Vec<String>)],
    ) -> Option<AddressPage> {
        let [(_, conditions)] = parts else { return None };
        let table = ADDRESS_TABLES.into_iter().find(|name| *name == table)?;
        let is_range = self.span.hot.is_empty() && self.branches.is_empty() && self.once.is_none();
        let is_by_block = order.starts_with("block_number") && self.blocks_column() == Some("block_number");
        if !is_range || !is_by_block || !columns.split(", ").any(|column| column == "address") {
            return None;
        }
        let is_of_address = matches!(self.conditions.first(), Some(Condition::Text(text)) if text == ADDRESS_CONDITION);
        let address = self.parameters.iter().find_map(|(name, value)| match value {
            Parameter::Text(digits) if is_of_address && name == "address" => digits.parse().ok(),
            _ => None,
        })?;
        let settled = &self.span.settled;
        let blocks = BlockRange::new(settled.first()?.first(), settled.last()?.last())?;
        (!is_one_block(settled)).then(|| AddressPage {
            columns: columns.to_owned(),
            table,
            conditions: conditions.clone(),
            order: order.to_owned(),
            address,
            blocks,
        })
    }

    /// A statement of another text with the values so far.
    pub fn statement<R>(mut self, sql: String) -> Statement<R> {
        self.bind_blocks();
        self.parameters.into_iter().fold(Statement::page(sql), |statement, (name, value)| statement.with(name, value))
    }

    fn blocks_column(&self) -> Option<&'static str> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::Blocks(column) => Some(*column),
            Condition::Text(_) | Condition::Settled(_) | Condition::Newest(_) => None,
        })
    }

    /// The read of the blocks in memory.
    fn newest(&self, table: &str, order: &str, limit: u64) -> Option<NewestRead> {
        if self.span.newest.is_empty() {
            return None;
        }
        let order = columns_of(order);
        let (table, rows_of_table) = in_memory(table);
        let any = (!self.alternatives.is_empty()).then(|| Predicate::AnyOf(self.alternatives.clone()));
        Some(NewestRead {
            blocks: self.span.newest.clone(),
            table,
            tests: any.into_iter().chain(self.tests.iter().cloned()).chain(rows_of_table).collect(),
            merge: merge(&self.span, self.blocks_column(), &order),
            order,
            limit,
            instead: self.instead,
        })
    }

    /// The tables to read, each with its conditions.
    fn parts(&self, table: &str) -> Vec<(String, Vec<String>)> {
        let mut parts = Vec::new();
        if self.span.hot.is_empty() || !self.span.settled.is_empty() {
            let shared = self.conditions(Side::Settled);
            if self.branches.is_empty() {
                parts.push((table.to_owned(), shared));
            } else {
                let branch = |first: &String| [first.clone()].into_iter().chain(shared.iter().cloned()).collect();
                parts.extend(self.branches.iter().map(|first| (table.to_owned(), branch(first))));
            }
        }
        if !self.span.hot.is_empty() {
            let any = (!self.branches.is_empty()).then(|| format!("({})", self.branches.join(" OR ")));
            let conditions = any.into_iter().chain(self.conditions(Side::Hot)).collect();
            parts.push((hot_name(table), conditions));
        }
        parts
    }

    fn conditions(&self, side: Side) -> Vec<String> {
        let of = |condition: &Condition| match (condition, side) {
            (Condition::Text(text), _)
            | (Condition::Settled(text), Side::Settled)
            | (Condition::Newest(text), Side::Hot) => vec![text.clone()],
            (Condition::Settled(_), Side::Hot) | (Condition::Newest(_), Side::Settled) => Vec::new(),
            (Condition::Blocks(column), Side::Settled) => settled_blocks(column, &self.span.settled),
            (Condition::Blocks(column), Side::Hot) => hot_blocks(column),
        };
        self.conditions.iter().flat_map(of).collect()
    }

    /// The values for the placeholders of the block conditions.
    fn bind_blocks(&mut self) {
        if !self.conditions.iter().any(|condition| matches!(condition, Condition::Blocks(_))) {
            return;
        }
        let mut bind = |name: &'static str, value: Parameter| self.parameters.push((name.into(), value));
        let (settled, hot) = (&self.span.settled, &self.span.hot);
        if hot.is_empty() || !settled.is_empty() {
            // An empty interval, for which the key reads nothing.
            bind("first", settled.first().map_or(1, |range| range.first()).into());
            if !is_one_block(settled) {
                bind("last", settled.last().map_or(0, |range| range.last()).into());
            }
        }
        if settled.len() > 1 {
            bind("ranges", settled.as_slice().into());
        }
        if let (Some(lowest), Some(highest)) = (hot.first(), hot.last()) {
            bind("hot_first", lowest.blocks.first().into());
            bind("hot_last", highest.blocks.last().into());
            bind("generations", hot.as_slice().into());
        }
    }
}

/// A select of the rows of an address, on one side or any, which are one range of a table.
pub(super) fn participant(address: &Address, direction: Option<Direction>) -> Select {
    let select = Select::default()
        .condition("address = toFixedString(unhex({address:String}), 20)", Predicate::among("address", &[address]))
        .with("address", address);
    match direction {
        Some(direction) => select
            .condition("direction = {direction:String}", Predicate::is("direction", direction.as_str()))
            .with("direction", direction.as_str()),
        None => select,
    }
}

/// Keeps the rows of a table by side whose recipient, or created contract, is this one.
pub(super) fn to_recipient(select: Select, columns: &[&'static str], recipient: &Address) -> Select {
    let is: Vec<String> =
        columns.iter().map(|column| format!("{column} = toFixedString(unhex({{recipient:String}}), 20)")).collect();
    let text = if is.len() == 1 { is.concat() } else { format!("({})", is.join(" OR ")) };
    select.condition(text, Predicate::among_any(columns.to_vec(), &[recipient])).with("recipient", recipient)
}

/// The part of `blocks` at or below `last`: a plain bound is what the key uses; a tuple alone reads from the end.
pub(super) fn up_to(blocks: &Span, last: BlockNumber) -> Span {
    BlockRange::new(0, last).map_or_else(Span::default, |range| blocks.within(range))
}

/// The bounds of all `ranges` use the key; where there are gaps, rows inside a gap are not committed yet (a batch in
/// progress) and are filtered out one by one.
///
/// One block is an equality, so that the order within it is the order of the key.
pub(super) fn settled_blocks(column: &str, ranges: &[BlockRange]) -> Vec<String> {
    if is_one_block(ranges) {
        return vec![format!("{column} = {{first:UInt64}}")];
    }
    let mut conditions = vec![format!("{column} BETWEEN {{first:UInt64}} AND {{last:UInt64}}")];
    if ranges.len() > 1 {
        conditions.push(format!(
            "arrayExists(range -> {column} BETWEEN range.1 AND range.2, {{ranges:Array(Tuple(UInt64, UInt64))}})"
        ));
    }
    conditions
}

fn is_one_block(ranges: &[BlockRange]) -> bool {
    matches!(ranges, [range] if range.count() == 1)
}

/// Rows of other branches lie between those of the selected one, so each range has its generation.
pub(super) fn hot_blocks(column: &str) -> Vec<String> {
    vec![
        format!("{column} BETWEEN {{hot_first:UInt64}} AND {{hot_last:UInt64}}"),
        format!(
            "arrayExists(range -> {column} BETWEEN range.1 AND range.2 AND {GENERATION} = range.3, {{generations:Array(Tuple(UInt64, UInt64, UInt64))}})"
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::HotRange;
    use trawl_core::schema::WithdrawalRow;

    fn range(first: u64, last: u64) -> BlockRange {
        BlockRange::new(first, last).expect("ordered")
    }

    fn hot(first: u64, last: u64, generation: u64) -> HotRange {
        HotRange { blocks: range(first, last), generation }
    }

    fn statement(span: &Span) -> Statement<WithdrawalRow> {
        Select::default().blocks("block_number", span).page("withdrawals_by_block", "withdrawal_index DESC", 5)
    }

    #[test]
    fn new_and_settled_blocks_are_read_apart_and_merged() {
        let span = Span { settled: vec![range(0, 9)], hot: vec![hot(10, 11, 1), hot(12, 12, 2)], ..Span::default() };
        let statement = statement(&span);
        insta::assert_snapshot!(statement.sql, @r"
        SELECT address, withdrawal_index, block_number, block_timestamp, validator_index, amount
        FROM (
        (SELECT address, withdrawal_index, block_number, block_timestamp, validator_index, amount
        FROM withdrawals_by_block
        WHERE block_number BETWEEN {first:UInt64} AND {last:UInt64}
        ORDER BY withdrawal_index DESC
        LIMIT {limit:UInt64})
        UNION ALL
        (SELECT address, withdrawal_index, block_number, block_timestamp, validator_index, amount
        FROM hot_withdrawals
        WHERE block_number BETWEEN {hot_first:UInt64} AND {hot_last:UInt64}
          AND arrayExists(range -> block_number BETWEEN range.1 AND range.2 AND generation = range.3, {generations:Array(Tuple(UInt64, UInt64, UInt64))})
        ORDER BY withdrawal_index DESC
        LIMIT {limit:UInt64})
        )
        ORDER BY withdrawal_index DESC
        LIMIT {limit:UInt64}
        ");
        let names: Vec<&str> = statement.parameters.iter().map(|(name, _)| name.as_ref()).collect();
        assert_eq!(names, ["limit", "first", "last", "hot_first", "hot_last", "generations"]);
    }

    #[test]
    fn only_the_table_that_has_rows_is_read() {
        let settled = statement(&Span { settled: vec![range(0, 9)], hot: Vec::new(), ..Span::default() }).sql;
        assert!(settled.contains("FROM withdrawals_by_block") && !settled.contains("hot_"), "{settled}");
        let newest = statement(&Span { settled: Vec::new(), hot: vec![hot(10, 11, 1)], ..Span::default() }).sql;
        assert!(newest.contains("FROM hot_withdrawals") && !newest.contains("{first:"), "{newest}");
        let nothing = statement(&Span::default());
        assert!(
            nothing.parameters.contains(&("first".into(), 1.into()))
                && nothing.parameters.contains(&("last".into(), 0.into()))
        );
    }
}
