//! Where instructions differ from those of Ethereum's fork.

/// A difference of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionRule {
    /// The chain does not have an instruction of the fork.
    Undefined(u8),
    /// What an instruction returns on the chain is not known here: code that reaches it is refused.
    Refused(u8),
}
