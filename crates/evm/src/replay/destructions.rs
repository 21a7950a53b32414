//! Destructions of contracts that name themselves as the one to give to.
//!
//! Since EIP-6780 these change nothing, so the EVM notifies no tracer of them; geth and Parity report them all the
//! same.

use std::collections::BTreeMap;

use revm::Inspector;
use revm::bytecode::opcode;
use revm::context_interface::{ContextTr, JournalTr};
use revm::interpreter::interpreter_types::{InputsTr, Jumps};
use revm::interpreter::{CallInputs, CallOutcome, CreateInputs, CreateOutcome, Interpreter};
use revm_inspectors::tracing::types::CallTraceNode;

use trawl_core::primitives::{Address, U256};

/// By the frame that it ended, in the order of beginning: the contract, and what it holds.
#[derive(Debug, Default)]
pub(super) struct Destructions {
    of_frames: BTreeMap<usize, (Address, U256)>,
    frames: usize,
    /// The frame that runs, after those around it.
    running: Vec<usize>,
}

impl Destructions {
    /// Adds them to the frames of a tracer, which has the others.
    pub fn write_into(self, nodes: &mut [CallTraceNode]) {
        for (frame, (contract, balance)) in self.of_frames {
            let Some(CallTraceNode { trace, .. }) = nodes.get_mut(frame) else { continue };
            if trace.is_selfdestruct() && trace.selfdestruct_refund_target.is_none() {
                trace.selfdestruct_address = Some(contract);
                trace.selfdestruct_refund_target = Some(contract);
                trace.selfdestruct_transferred_value = Some(balance);
            }
        }
    }

    fn enter(&mut self) {
        self.running.push(self.frames);
        self.frames += 1;
    }
}

impl<C: ContextTr> Inspector<C> for Destructions {
    fn step(&mut self, interpreter: &mut Interpreter, context: &mut C) {
        if interpreter.bytecode.opcode() != opcode::SELFDESTRUCT {
            return;
        }
        let contract = interpreter.input.target_address();
        let names_itself =
            interpreter.stack.data().last().is_some_and(|word| *word == U256::from_be_bytes(contract.into_word().0));
        // The account whose code runs was loaded before, so this reads nothing.
        if names_itself
            && let Some(frame) = self.running.last()
            && let Ok(account) = context.journal_mut().load_account(contract)
        {
            self.of_frames.insert(*frame, (contract, account.data.info.balance));
        }
    }

    fn call(&mut self, _: &mut C, _: &mut CallInputs) -> Option<CallOutcome> {
        self.enter();
        None
    }

    fn call_end(&mut self, _: &mut C, _: &CallInputs, _: &mut CallOutcome) {
        self.running.pop();
    }

    fn create(&mut self, _: &mut C, _: &mut CreateInputs) -> Option<CreateOutcome> {
        self.enter();
        None
    }

    fn create_end(&mut self, _: &mut C, _: &CreateInputs, _: &mut CreateOutcome) {
        self.running.pop();
    }
}
