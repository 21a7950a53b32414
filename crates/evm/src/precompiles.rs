//! The precompiles of a block: Ethereum's of its fork, and where the chain differs.

use std::sync::{Mutex, PoisonError};

use revm::context_interface::{Cfg, ContextTr};
use revm::handler::{EthPrecompiles, PrecompileProvider, precompile_output_to_interpreter_result};
use revm::interpreter::{CallInputs, InterpreterResult};
use revm::precompile::{
    Precompile, PrecompileError, PrecompileHalt, PrecompileId, PrecompileOutput, PrecompileResult, Precompiles, modexp,
    secp256r1, u64_to_address,
};
use revm::primitives::hardfork::SpecId;
use revm::primitives::{Address, AddressSet};
use trawl_chains::{ForeignCode, PrecompileRule};

use super::Rules;

/// The precompiles of a block.
#[derive(Debug, Clone)]
pub(crate) struct ChainPrecompiles {
    known: EthPrecompiles,
    rules: &'static [PrecompileRule],
    foreign: Option<ForeignCode>,
    chain_id: u64,
}

impl ChainPrecompiles {
    /// Those of blocks with some rules.
    pub fn of(rules: &Rules) -> Self {
        let mut known = EthPrecompiles::new(rules.fork);
        let own = rules.chain.map_or(&[][..], |chain| chain.precompiles);
        if !own.is_empty() {
            known.precompiles = of_chain(rules.fork, own);
        }
        let foreign = rules.chain.and_then(|chain| chain.foreign_code);
        Self { known, rules: own, foreign, chain_id: rules.chain_id }
    }

    /// Whether one is at an address.
    pub fn contains(&self, address: &Address) -> bool {
        self.known.contains(address)
    }

    /// Whether an input exceeds the limit of the precompile at an address.
    fn is_too_long(&self, inputs: &CallInputs) -> bool {
        self.rules.iter().any(|rule| match *rule {
            PrecompileRule::LongestInput { address, bytes } => {
                inputs.bytecode_address == u64_to_address(address.into()) && inputs.input.len() > bytes
            }
            _ => false,
        })
    }

    /// Why a call cannot run here: it is of a precompile that only the chain has, or of code that is not the EVM's.
    fn refusal(&self, inputs: &CallInputs) -> Option<String> {
        let (called, chain) = (inputs.bytecode_address, self.chain_id);
        let own = self.rules.iter().find_map(|rule| match *rule {
            PrecompileRule::Own { address, name } if address == called => Some(name),
            _ => None,
        });
        if let Some(name) = own {
            return Some(format!("{called} is {name}, a precompile of chain {chain} that is not implemented here"));
        }
        let code = inputs.known_bytecode.1.original_byte_slice();
        let foreign = self.foreign.filter(|foreign| code.starts_with(foreign.prefix))?;
        Some(format!("the code of {called} is {}, which is not the EVM's", foreign.name))
    }
}

/// The sets that were built so far: no more than there are forks with rules of their own.
static SETS: Mutex<Vec<(SpecId, &[PrecompileRule], &Precompiles)>> = Mutex::new(Vec::new());

/// Those of a fork of Ethereum with the differences of a chain.
fn of_chain(fork: SpecId, rules: &'static [PrecompileRule]) -> &'static Precompiles {
    let mut sets = SETS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, _, found)) = sets.iter().find(|(of, by, _)| *of == fork && *by == rules) {
        return found;
    }
    let made: &'static Precompiles = Box::leak(Box::new(made(fork, rules)));
    sets.push((fork, rules, made));
    made
}

fn made(fork: SpecId, rules: &[PrecompileRule]) -> Precompiles {
    let mut absent = Precompiles::default();
    let mut own = Vec::new();
    for rule in rules {
        match *rule {
            PrecompileRule::P256Verify => own.push(secp256r1::P256VERIFY),
            PrecompileRule::OsakaPowers => own.push(modexp::OSAKA),
            PrecompileRule::Own { address, name } => own.push(placeholder(address, name)),
            PrecompileRule::Absent { address } => {
                absent.extend([placeholder(u64_to_address(address.into()), "absent")]);
            }
            PrecompileRule::LongestInput { .. } => {}
        }
    }
    let mut all = EthPrecompiles::new(fork).precompiles.difference(&absent);
    all.extend(own);
    all
}

/// A precompile that never runs: calls of it are refused before. Its address is warm, as on the chain.
fn placeholder(address: Address, name: &'static str) -> Precompile {
    fn refuse(_: &[u8], _: u64, _: u64) -> PrecompileResult {
        Err(PrecompileError::Fatal("a precompile that is not implemented here".into()))
    }
    Precompile::new(PrecompileId::Custom(name.into()), address, refuse)
}

impl<C: ContextTr<Cfg: Cfg<Spec = SpecId>>> PrecompileProvider<C> for ChainPrecompiles {
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: SpecId) -> bool {
        <EthPrecompiles as PrecompileProvider<C>>::set_spec(&mut self.known, spec)
    }

    fn run(&mut self, context: &mut C, inputs: &CallInputs) -> Result<Option<InterpreterResult>, String> {
        if let Some(refusal) = self.refusal(inputs) {
            return Err(refusal);
        }
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
