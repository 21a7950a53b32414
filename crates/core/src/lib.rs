//! Types that every program of Trawl shares: chain values, table rows, SQL statements, the connection to ClickHouse.
//!
//! Floors, each using only those below it:
//!
//! - floor 0, [`primitives`]: hashes, ranges of blocks, positions, filters; [`calendar`]: days and periods;
//!   [`served_chain`]: for which chain a task works;
//! - floor 1, [`schema`] and [`statement`]: the tables as Rust sees them, SQL with typed parameters; [`newest`] and
//!   [`readable`]: the newest blocks in memory, and where readable blocks are;
//! - floor 2, [`store`]: the only code that talks to ClickHouse;
//! - above them, [`flags`]: command-line flags of the API and ingest.

pub mod calendar;
pub mod flags;
pub mod newest;
pub mod primitives;
pub mod readable;
pub mod schema;
pub mod served_chain;
pub mod statement;
pub mod store;

/// An error with its causes, in one line.
#[must_use]
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
