//! Plans for which addresses ran code of their own: they emitted a log, or began a call from inside a transaction
//! that was not undone: a contract whose creation was undone began calls too.

use crate::select::Select;
use trawl_core::newest::Predicate;
use trawl_core::primitives::{Address, Direction};
use trawl_core::readable::Span;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// An address that ran code.
    pub struct ExecutedCode / ExecutedCodeView {
        /// Emitter of a log, or caller.
        address: Address,
    }
}

/// Most rows that are read, in the order of the addresses: nothing is found behind them.
const MAX_ROWS: u64 = 1_000_000;

/// Which of `addresses` emitted a log in `logs`, or began a call from inside a transaction in `calls`: one read of each
/// table, in one statement where both are the same blocks. An address may come more than once; some may be missing if
/// together they have more rows than are looked at.
#[must_use]
pub fn ran_code(addresses: &[Address], logs: &Span, calls: &Span) -> Vec<Statement<ExecutedCode>> {
    let (emitters, callers) = (emitters(addresses, logs), callers(addresses, calls));
    match (logs.is_empty(), calls.is_empty()) {
        (true, true) => Vec::new(),
        (false, true) => vec![emitters],
        (true, false) => vec![callers],
        (false, false) if logs == calls && emitters.newest.is_none() && logs.hot.is_empty() => {
            vec![together(&emitters, callers)]
        }
        (false, false) => vec![emitters, callers],
    }
}

/// Which of `addresses` emitted a log in `blocks`.
fn emitters(addresses: &[Address], blocks: &Span) -> Statement<ExecutedCode> {
    once(among(addresses).blocks("block_number", blocks).page("logs", "address", MAX_ROWS))
}

/// Which of `addresses` began a call from inside a transaction in `blocks`.
fn callers(addresses: &[Address], blocks: &Span) -> Statement<ExecutedCode> {
    let inner = among(addresses)
        .condition("direction = {direction:String}", Predicate::is("direction", Direction::From.as_str()))
        .with("direction", Direction::From.as_str())
        .condition("frame_index > 0", Predicate::AtLeast { column: "frame_index", number: 1 })
        .condition("is_undone = 0", Predicate::equals("is_undone", 0))
        .blocks("block_number", blocks);
    once(inner.page("internal_transactions_by_direction", "address", MAX_ROWS))
}

/// Both reads as one; the second has all values of the first.
fn together(emitters: &Statement<ExecutedCode>, mut callers: Statement<ExecutedCode>) -> Statement<ExecutedCode> {
    callers.sql = format!("{}\nUNION ALL\n{}", emitters.sql, callers.sql).into();
    callers
}

fn among(addresses: &[Address]) -> Select {
    Select::default()
        .condition("address IN {addresses:Array(FixedString(20))}", Predicate::among("address", addresses))
        .with("addresses", addresses)
}

/// The rows that the tables have, each address once, so that few cross the wire.
fn once(mut statement: Statement<ExecutedCode>) -> Statement<ExecutedCode> {
    statement.sql = format!("SELECT DISTINCT address\nFROM (\n{}\n)\nORDER BY address", statement.sql).into();
    statement
}
