//! Blocks that are simulated on the state after a block, one after the other: `eth_simulateV1`.

mod accounts;
mod block;
mod body;
mod deposits;
mod execution;
mod gas;
mod header;
mod logs;
mod outcome;
mod plan;
mod precompiles;
mod refusal;
mod sequence;
mod state_proof;
mod system;
#[cfg(test)]
mod tests;
mod transaction;
mod whole_state;

pub use alloy_consensus::Header as SimulatedHeader;
pub use execution::Simulation;
pub use outcome::{CallOutcome, SimulatedBlock, SimulatedLog};
pub use plan::{BlockCall, BlockPlan, MAX_BLOCKS, Mode};
pub use refusal::Refusal;
pub use state_proof::{SlotProof, StateProof};
pub use transaction::Envelope;
pub use whole_state::WholeState;
