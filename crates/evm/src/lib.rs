//! Floor 2: calls on the state of a block, with the rules of its fork. Pure: what a run does not know of the state it
//! names, and the caller fetches it and runs again.

mod access;
mod block;
mod call;
mod estimate;
mod memory;
mod outcome;
mod overrides;
mod rules;
mod world;

pub use access::{AccessList, access_list};
pub use block::BlockContext;
pub use call::{Call, Fees, Limits, Step, execute};
pub use estimate::{Estimate, estimate};
pub use memory::{Account, Fact, Key, Point, StateCache, Value, bytecode};
pub use outcome::Failure;
pub use overrides::{AccountOverride, BlockOverrides, Storage};
pub use rules::{Rules, RulesError, Schedule};
pub use world::World;
