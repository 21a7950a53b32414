//! The EVM rules of the chain that is served.

use crate::app::App;
use crate::error::Problem;
use trawl_core::store::Head;
use trawl_evm::{BlockContext, Rules, Schedule};

/// Whether the EVM rules at a block are known, and Ethereum's: who gets fees is then what Ethereum says.
pub(crate) fn has_ethereums_rules(app: &App, head: &Head, block: &BlockContext) -> bool {
    rules(app, head, block).is_ok_and(|rules| rules.chain.is_none())
}

/// The EVM rules at a block.
pub(crate) fn rules(app: &App, head: &Head, block: &BlockContext) -> Result<Rules, Problem> {
    schedule(app, head)?.at(block).map_err(Problem::RulesUnknown)
}

/// The forks of the chain: those of a public chain, else those of the genesis file.
pub(crate) fn schedule(app: &App, head: &Head) -> Result<Schedule, Problem> {
    let chain_id = app.chain_id(head).ok_or(Problem::RulesUnknown(trawl_evm::RulesError::UnknownChain(0)))?;
    let of_genesis = || match &head.configuration {
        Some(configuration) => Schedule::of_genesis(chain_id, configuration),
        None => Err(trawl_evm::RulesError::UnknownChain(chain_id)),
    };
    Schedule::of_chain(chain_id).map_or_else(of_genesis, Ok).map_err(Problem::RulesUnknown)
}
