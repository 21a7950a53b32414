//! User operations of ERC-4337: who handles them, what bundles ask for, what the events of an EntryPoint say. Pure.
//!
//! <https://eips.ethereum.org/EIPS/eip-4337>. Anybody can emit such events and send such input: only those of
//! EntryPoints that the operator trusts count, and what does not decode is none.

mod bundle;
mod entry_point;
mod events;

pub use bundle::{Aggregation, SubmittedOperation, beneficiary, executed_call, is_bundle, submitted};
pub use entry_point::{EntryPoint, EntryPointVersion, EntryPoints};
pub use events::{
    ACCOUNT_DEPLOYED, BEFORE_EXECUTION, DEPOSITED, EmittedLog, OPERATION, OperationEvent, OperationLogs, REVERTED,
    account_factory, revert_reason,
};
