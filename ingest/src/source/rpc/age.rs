//! Whether blocks are history, or at the head of the chain.

/// Whether blocks can still be replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockAge {
    /// They are part of history.
    Final,
    /// They are at the head of the chain: one that a node does not know is not waited for.
    New,
}
