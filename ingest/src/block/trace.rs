//! Call frames in one shape, whichever method of a node they come from. No JSON, no rows.
//!
//! `callTracer` gives a tree, `trace_block` a flat list with paths. Both become flat lists in order of execution
//! (pre-order), with these facts put alike; the rest differs because the nodes report different things:
//!
//! | fact | here | `callTracer` | `trace_block` |
//! |---|---|---|---|
//! | receiver of a creation | none; the contract is in `created_contract`, none if it failed | `to` | `result.address` |
//! | value of delegatecall and staticcall | 0, nothing moves | the caller's, or absent | the caller's, or 0 |
//! | gas of a selfdestruct | 0 | 0 or absent | absent |
//! | gas used by a failure that did not revert | `None` if absent | given | absent with `result` |
//! | gas of the outermost frame | as given, see [`RootGas`] | mostly the transaction's | without the intrinsic cost |
//! | callee of a callcode | as given | whose code it is | the same; the caller from old Parity |
//! | error | as given | `execution reverted`, `out of gas` … | `Reverted`, `Out of gas` … |
//! | rewards | `None` if absent | never | given |
//!
//! Callees that are precompiles are frames where the node reports them. Old nodes report of a selfdestruct only that it
//! was one: then the contract is known from its caller, and there is no receiver and no value.

use trawl_core::primitives::{Address, B256, Bytes, U256};

/// Deepest path of a frame. The EVM stops at 1024 calls below the outermost one; some nodes also report the call that
/// was refused for it, and of what would have been below.
pub const DEEPEST_PATH: usize = 1026;

/// What was traced of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Traces {
    /// What the gas of outermost frames means.
    pub root_gas: RootGas,
    /// One per transaction, in order, if the source is right, which verification checks.
    pub transactions: Vec<TransactionTrace>,
    /// Rewards of the block; `None` if the source does not have them.
    pub rewards: Option<Vec<Reward>>,
}

/// What a source gives as the gas of a transaction's outermost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RootGas {
    /// What the frame got and used: without the intrinsic cost, before refunds (`trace_block`).
    OfExecution,
    /// Not known from the method alone (`callTracer`): the transaction's own figures from today's nodes, without the
    /// intrinsic cost from old ones; anvil gives the gas used in the block so far.
    OfNode,
}

/// The frames of one transaction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransactionTrace {
    /// Hash of the transaction, if the source repeats it.
    pub transaction_hash: Option<B256>,
    /// Hash of the block, if the source repeats it.
    pub block_hash: Option<B256>,
    /// In order of execution; the first is the outermost.
    pub frames: Vec<Frame>,
}

impl TransactionTrace {
    /// The frames that lasted: those in or below a failed one did not happen.
    pub fn lasting(&self) -> impl Iterator<Item = &Frame> {
        self.undone().filter(|(_, is_undone)| !is_undone).map(|(frame, _)| frame)
    }

    /// All frames, and whether each failed or lies below one that did, so that what it did was undone.
    pub fn undone(&self) -> impl Iterator<Item = (&Frame, bool)> {
        let mut failed_depth = usize::MAX;
        self.frames.iter().map(move |frame| {
            let depth = frame.trace_address.len();
            if depth <= failed_depth {
                // Out of the failed frame again, or into another one.
                failed_depth = if frame.error.is_some() { depth } else { usize::MAX };
            }
            (frame, failed_depth != usize::MAX)
        })
    }
}

/// A call, a creation, or a contract that destroys itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Which child at each depth; empty for the outermost.
    pub trace_address: Vec<u32>,
    /// Call, creation or destruction, and which kind of it.
    pub kind: FrameKind,
    /// Caller, creator, or the contract that destroys itself.
    pub from: Address,
    /// Callee, or receiver of what a destroyed contract held.
    pub to: Option<Address>,
    /// The contract a creation made; none if it failed.
    pub created_contract: Option<Address>,
    /// Wei moved; what `delegatecall` and `staticcall` show is not moved.
    pub value: U256,
    /// Gas it was given.
    pub gas_limit: u64,
    /// Gas it used; `None` if the source does not have it.
    pub gas_used: Option<u64>,
    /// Call data, or init code.
    pub input: Bytes,
    /// What it returned, code of a creation, or the reason of a revert.
    pub output: Bytes,
    /// The node's text of its failure.
    pub error: Option<String>,
    /// Frames directly below it.
    pub subtraces: u32,
}

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameKind {
    /// A message call, or a plain transfer.
    Call,
    /// The callee's code on the caller's storage.
    Callcode,
    /// The same with the caller's sender and value.
    Delegatecall,
    /// A call that may change nothing.
    Staticcall,
    /// A creation; the address follows from creator and nonce.
    Create,
    /// A creation; the address follows from creator, salt and init code.
    Create2,
    /// A creation of which the source does not give the kind (nodes from before EIP-1014).
    SomeCreate,
    /// The contract gives away what it holds, and is gone where EIP-6780 lets it.
    Selfdestruct,
}

impl FrameKind {
    /// `call`, `create` or `selfdestruct`.
    #[must_use]
    pub fn frame_type(self) -> &'static str {
        match self {
            Self::Call | Self::Callcode | Self::Delegatecall | Self::Staticcall => "call",
            Self::Create | Self::Create2 | Self::SomeCreate => "create",
            Self::Selfdestruct => "selfdestruct",
        }
    }

    /// Which kind of call or creation; empty where there is only one, or none is given.
    #[must_use]
    pub fn call_type(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Callcode => "callcode",
            Self::Delegatecall => "delegatecall",
            Self::Staticcall => "staticcall",
            Self::Create => "create",
            Self::Create2 => "create2",
            Self::SomeCreate | Self::Selfdestruct => "",
        }
    }

    /// Whether it makes a contract.
    #[must_use]
    pub fn is_create(self) -> bool {
        matches!(self, Self::Create | Self::Create2 | Self::SomeCreate)
    }

    /// Whether it hands on a value: delegatecall and staticcall show one at most, and move nothing.
    #[must_use]
    pub fn moves_value(self) -> bool {
        !matches!(self, Self::Delegatecall | Self::Staticcall)
    }
}

/// What a block pays for being made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reward {
    /// Who gets it.
    pub author: Address,
    /// `block`, `uncle`, or a chain's own kind.
    pub reward_type: String,
    /// Amount in wei.
    pub value: U256,
    /// Hash of the block, if the source repeats it.
    pub block_hash: Option<B256>,
}
