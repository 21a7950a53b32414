//! Calls on the state of a block, with the rules of its fork. Pure: a run returns the keys of missing state, and the
//! caller fetches it and runs the call again.

mod access;
mod block;
mod cache;
mod call;
mod environment;
mod estimate;
mod fork_config;
mod handler;
mod instructions;
mod outcome;
mod overrides;
mod partial_state;
mod precompiles;
mod recent_blocks;
pub mod replay;
mod rules;
pub mod simulation;
mod value;

pub use access::{AccessList, access_list};
pub use block::BlockContext;
pub use cache::{Fact, Point, StateCache, WINDOW};
pub use call::{Call, CallContext, Fees, Limits, Step, execute};
pub use estimate::{Estimate, estimate};
pub use fork_config::{ForkConfig, ForkConfigs, Genesis};
pub use handler::Origin;
pub use outcome::{Failure, revert_reason};
pub use overrides::{AccountOverride, BlockOverrides, Storage};
pub use partial_state::PartialState;
pub use recent_blocks::{AccountChange, Change, NoNewerBlocks, RecentBlocks};
pub use rules::{Rules, RulesError, Schedule};
pub use value::{Account, Key, StateValue, bytecode};
