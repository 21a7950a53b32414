//! What rules were tried on.

/// What a rule was tried on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// Real blocks: one that does not fit is refused.
    Blocks,
    /// The code of a client, or made-up transactions: one that does not fit is named, as the rule may be what is wrong.
    Code,
}
