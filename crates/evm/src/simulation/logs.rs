//! Logs of a call, optionally with logs of transfers of ether.

use std::collections::BTreeSet;

use alloy_primitives::{Log, LogData, address, b256};
use revm::Inspector;
use revm::bytecode::opcode;
use revm::context_interface::{ContextTr, JournalTr};
use revm::interpreter::interpreter_types::Jumps;
use revm::interpreter::{
    CallInputs, CallOutcome, CallScheme, CallValue, CreateInputs, CreateOutcome, Interpreter, InterpreterResult,
};

use super::outcome::SimulatedLog;
use trawl_core::primitives::{Address, B256, U256};

/// The address that logs of transfers have.
const ETHER: Address = address!("eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee");
/// `Transfer(address,address,uint256)`, as tokens of ERC-20 emit it.
const TRANSFER: B256 = b256!("ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef");

/// Collects the logs of a call.
#[derive(Debug, Default)]
pub(super) struct LogCollector {
    logs_transfers: bool,
    /// The index of the next log in its block.
    next: u64,
    /// Logs by frame, from the outermost on.
    frames: Vec<Vec<SimulatedLog>>,
    /// Heights whose hash the code read.
    pub hashes_read: BTreeSet<u64>,
}

impl LogCollector {
    /// Collects logs, of which the first has the index `next`.
    pub fn new(logs_transfers: bool, next: u64) -> Self {
        Self { logs_transfers, next, ..Self::default() }
    }

    /// The logs of a call that succeeded, and the index of the next one.
    pub fn finish(mut self) -> (Vec<SimulatedLog>, u64) {
        (self.frames.pop().unwrap_or_default(), self.next)
    }

    fn add(&mut self, log: Log) {
        let index = self.next;
        self.next += 1;
        if let Some(frame) = self.frames.last_mut() {
            frame.push(SimulatedLog { log, index });
        }
    }

    fn transfer(&mut self, from: Address, to: Address, value: U256) {
        if self.logs_transfers && !value.is_zero() {
            let data = LogData::new_unchecked(
                vec![TRANSFER, from.into_word(), to.into_word()],
                value.to_be_bytes_vec().into(),
            );
            self.add(Log { address: ETHER, data });
        }
    }

    /// The logs of a frame that succeeded are those of the frame around it.
    fn leave(&mut self, result: &InterpreterResult) {
        if self.frames.len() < 2 {
            if !result.is_ok() {
                self.frames.clear();
            }
            return;
        }
        let logs = self.frames.pop().unwrap_or_default();
        if let Some(around) = self.frames.last_mut().filter(|_| result.is_ok()) {
            around.extend(logs);
        }
    }
}

impl<C: ContextTr> Inspector<C> for LogCollector {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut C) {
        if interpreter.bytecode.opcode() == opcode::BLOCKHASH
            && let Some(number) = interpreter.stack.data().last().and_then(|number| u64::try_from(*number).ok())
        {
            self.hashes_read.insert(number);
        }
    }

    fn log(&mut self, _: &mut C, log: Log) {
        self.add(log);
    }

    fn call(&mut self, _: &mut C, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.frames.push(Vec::new());
        if let CallValue::Transfer(value) = inputs.value {
            let to = match inputs.scheme {
                CallScheme::CallCode => inputs.bytecode_address,
                _ => inputs.target_address,
            };
            self.transfer(inputs.caller, to, value);
        }
        None
    }

    fn call_end(&mut self, _: &mut C, _: &CallInputs, outcome: &mut CallOutcome) {
        self.leave(&outcome.result);
    }

    fn create(&mut self, context: &mut C, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.frames.push(Vec::new());
        // An account that cannot be read ends the run anyway.
        if let Ok(caller) = context.journal_mut().load_account(inputs.caller()) {
            let created = inputs.created_address(caller.data.info.nonce);
            self.transfer(inputs.caller(), created, inputs.value());
        }
        None
    }

    fn create_end(&mut self, _: &mut C, _: &CreateInputs, outcome: &mut CreateOutcome) {
        self.leave(&outcome.result);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        self.transfer(contract, target, value);
    }
}
