//! Floor 1: the newest blocks in memory, which another branch may still replace.
//!
//! The rows of a block are stored column by column: bytes as codes in a sorted list of the values that the block has,
//! which is small and is the index within the block; an index over the blocks says in which of them a request has to
//! look. A [`NewestRead`] is the part of a statement that concerns these blocks; its rows are record batches with the
//! columns that the engine would send. Blocks never change and are shared between views.

mod block;
mod blocks;
mod column;
mod index;
mod layout;
mod lookup;
mod memory_table;
#[cfg(test)]
mod plain_walk;
mod predicate;
mod read;
#[cfg(test)]
mod size;
mod span;
mod table;

pub use block::{NewestBlock, NewestRow};
pub use blocks::NewestBlocks;
pub use predicate::Predicate;
pub use read::{Merge, NewestRead, NewestRows, OrderColumn};
pub use span::NewestSpan;
