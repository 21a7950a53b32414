//! A transaction in sentences (docs/reference/http-contract.md#summaries): rules over its effects. A rule states only
//! facts that are certain.
//!
//! Templates and variables are those of this API family. `{native}` is the chain's own coin and needs no variable. A
//! rule needs proof in logs, transfers and call frames, and gives no sentence without.

mod amounts;
mod assets;
mod bridges;
mod calls;
mod coins;
mod collectibles;
mod effects;
mod routers;
mod rules;
mod sentence;
mod swaps;
mod transfers;
mod vaults;

pub use calls::failure;
pub use effects::{CoinMove, Log, TransactionEffects, Transfer};
pub use rules::{call_alone, shown, summaries};
pub use sentence::{Summary, write_summaries};

#[cfg(test)]
mod tests;
