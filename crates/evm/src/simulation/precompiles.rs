//! Precompiles at other addresses than their own, or at none.

use std::collections::BTreeMap;

use revm::context_interface::{Cfg, ContextTr};
use revm::handler::{EthPrecompiles, PrecompileProvider};
use revm::interpreter::{CallInputs, InterpreterResult};
use revm::primitives::AddressSet;
use revm::primitives::hardfork::SpecId;

use super::plan::BlockPlan;
use super::refusal::Refusal;
use trawl_core::primitives::Address;

/// The precompiles of a fork as the overrides of a block leave them.
#[derive(Debug, Clone)]
pub(super) struct MovedPrecompiles {
    known: EthPrecompiles,
    /// By address, the precompile that is found there; none where one is not found any more.
    moves: BTreeMap<Address, Option<Address>>,
}

impl MovedPrecompiles {
    /// Those of a block. An override of a precompile takes it away, or moves it.
    ///
    /// # Errors
    ///
    /// When what is moved is none, or is moved to an account with an override.
    pub fn of(plan: &BlockPlan, fork: SpecId) -> Result<Self, Refusal> {
        let known = EthPrecompiles::new(fork);
        let mut moves = BTreeMap::new();
        for (from, to) in &plan.moves {
            if !known.contains(from) {
                return Err(Refusal::NoPrecompile(*from));
            }
            if plan.accounts.contains_key(to) || plan.moves.contains_key(to) {
                return Err(Refusal::Overridden(*to));
            }
            moves.insert(*to, Some(*from));
        }
        let overridden = plan.accounts.keys().chain(plan.moves.keys());
        for address in overridden.filter(|address| known.contains(address)) {
            moves.insert(*address, None);
        }
        Ok(Self { known, moves })
    }
}

impl<C: ContextTr<Cfg: Cfg<Spec = SpecId>>> PrecompileProvider<C> for MovedPrecompiles {
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: SpecId) -> bool {
        <EthPrecompiles as PrecompileProvider<C>>::set_spec(&mut self.known, spec)
    }

    fn run(&mut self, context: &mut C, inputs: &CallInputs) -> Result<Option<InterpreterResult>, String> {
        match self.moves.get(&inputs.bytecode_address) {
            None => self.known.run(context, inputs),
            Some(None) => Ok(None),
            Some(Some(precompile)) => {
                self.known.run(context, &CallInputs { bytecode_address: *precompile, ..inputs.clone() })
            }
        }
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.known.warm_addresses()
    }
}
