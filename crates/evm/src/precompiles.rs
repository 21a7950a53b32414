//! The precompiles of a block: Ethereum's of its fork, and where the chain differs.

use std::sync::OnceLock;

use revm::context_interface::{Cfg, ContextTr};
use revm::handler::{EthPrecompiles, PrecompileProvider, precompile_output_to_interpreter_result};
use revm::interpreter::{CallInputs, InterpreterResult};
use revm::precompile::{PrecompileHalt, PrecompileOutput, Precompiles, secp256r1, u64_to_address};
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Address, AddressSet};
use trawl_chains::PrecompileRule;

use super::Rules;

/// The precompiles of a block.
#[derive(Debug, Clone)]
pub(crate) struct ChainPrecompiles {
    known: EthPrecompiles,
    rules: &'static [PrecompileRule],
}

impl ChainPrecompiles {
    /// Those of blocks with some rules.
    pub fn of(rules: &Rules) -> Self {
        let mut known = EthPrecompiles::new(rules.fork);
        let own = rules.chain.map_or(&[][..], |chain| chain.precompiles);
        if own.contains(&PrecompileRule::P256Verify) {
            known.precompiles = with_p256(rules.fork);
        }
        Self { known, rules: own }
    }

    /// Whether one is at an address.
    pub fn contains(&self, address: &Address) -> bool {
        self.known.contains(address)
    }

    /// Whether an input is longer than the precompile at an address takes.
    fn is_too_long(&self, inputs: &CallInputs) -> bool {
        self.rules.iter().any(|rule| match *rule {
            PrecompileRule::LongestInput { address, bytes } => {
                inputs.bytecode_address == u64_to_address(address.into()) && inputs.input.len() > bytes
            }
            PrecompileRule::P256Verify => false,
        })
    }
}

/// The precompiles of a fork, and the one of RIP-7212.
fn with_p256(fork: SpecId) -> &'static Precompiles {
    static CANCUN: OnceLock<Precompiles> = OnceLock::new();
    static PRAGUE: OnceLock<Precompiles> = OnceLock::new();
    let (found, fork) = if fork >= SpecId::PRAGUE { (&PRAGUE, SpecId::PRAGUE) } else { (&CANCUN, SpecId::CANCUN) };
    found.get_or_init(|| {
        let mut precompiles = EthPrecompiles::new(fork).precompiles.clone();
        precompiles.extend([secp256r1::P256VERIFY]);
        precompiles
    })
}

impl<C: ContextTr<Cfg: Cfg<Spec = SpecId>>> PrecompileProvider<C> for ChainPrecompiles {
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: SpecId) -> bool {
        <EthPrecompiles as PrecompileProvider<C>>::set_spec(&mut self.known, spec)
    }

    fn run(&mut self, context: &mut C, inputs: &CallInputs) -> Result<Option<InterpreterResult>, String> {
        if !self.is_too_long(inputs) {
            return self.known.run(context, inputs);
        }
        let halted = PrecompileOutput::halt(PrecompileHalt::Other("input is too long".into()), inputs.reservoir);
        Ok(Some(precompile_output_to_interpreter_result(halted, inputs.gas_limit)))
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.known.warm_addresses()
    }
}
