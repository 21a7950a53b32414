//! The steps of a run, as geth tells them without a tracer. They are written while the code runs, so that they take no
//! more memory than their text.

use std::collections::BTreeMap;
use std::io::Write as _;

use alloy_primitives::hex;
use alloy_primitives::map::HashMap;
use revm::Inspector;
use revm::bytecode::opcode::{self, OpCode};
use revm::context::result::ExecutionResult;
use revm::interpreter::interpreter_types::{Jumps, LoopControl, ReturnData};
use revm::interpreter::{
    CallInputs, CallOutcome, CreateInputs, CreateOutcome, InstructionResult, Interpreter, InterpreterResult,
};

use super::StepOptions;
use super::run::Trace;
use crate::Failure;
use trawl_core::primitives::{Address, U256};

/// Most bytes of text.
const MAX_TEXT: usize = 32 << 20;

/// The steps of a run.
pub(super) struct StepLog {
    options: StepOptions,
    text: Vec<u8>,
    count: u64,
    is_too_long: bool,
    /// Refunds of the calls around the one that runs, the outermost first.
    refunds: Vec<i64>,
    /// Refunds of the one that runs.
    refunded: i64,
    /// By contract, the slots that were read or written.
    storage: HashMap<Address, BTreeMap<U256, U256>>,
    step: Option<Step>,
}

/// A step that has begun.
struct Step {
    pc: usize,
    opcode: u8,
    gas: u64,
    refund: i64,
    slot: Option<Slot>,
    /// Stack, return data and memory, as text.
    before: Vec<u8>,
}

/// A slot that a step reads or writes.
struct Slot {
    contract: Address,
    key: U256,
    /// What is written.
    value: Option<U256>,
}

impl StepLog {
    pub fn new(options: StepOptions) -> Self {
        Self {
            options,
            text: Vec::new(),
            count: 0,
            is_too_long: false,
            refunds: Vec::new(),
            refunded: 0,
            storage: HashMap::default(),
            step: None,
        }
    }

    /// The steps with the outcome of the run.
    pub fn into_json(self, result: &ExecutionResult) -> Trace {
        if self.is_too_long {
            let text = format!("the steps have more than {} MiB of text", MAX_TEXT >> 20);
            return Err(Failure::Invalid(text));
        }
        let output = result.output().map_or(&[][..], |output| output);
        let (gas, has_failed) = (result.tx_gas_used(), !result.is_success());
        let output = hex::encode_prefixed(output);
        let mut json = format!("{{\"gas\":{gas},\"failed\":{has_failed},\"returnValue\":\"{output}\",\"structLogs\":[");
        json.reserve_exact(self.text.len() + 2);
        let mut json = json.into_bytes();
        json.extend_from_slice(&self.text);
        json.extend_from_slice(b"]}");
        Ok(json)
    }

    fn is_over(&self) -> bool {
        self.is_too_long || self.options.limit.is_some_and(|limit| limit > 0 && self.count >= limit)
    }

    fn begin(&mut self, interpreter: &Interpreter) {
        let opcode = interpreter.bytecode.opcode();
        let stack = interpreter.stack.data();
        let from_top = |index: usize| stack.len().checked_sub(index + 1).map(|position| stack[position]);
        let slot = |value| {
            let key = from_top(0).filter(|_| self.options.is_storage_enabled())?;
            Some(Slot { contract: interpreter.input.target_address, key, value })
        };
        self.refunded = interpreter.gas.refunded();
        let step = Step {
            pc: interpreter.bytecode.pc(),
            opcode,
            gas: interpreter.gas.remaining(),
            refund: self.refunds.iter().sum::<i64>() + self.refunded,
            slot: match opcode {
                opcode::SLOAD => slot(None),
                opcode::SSTORE => from_top(1).and_then(|value| slot(Some(value))),
                _ => None,
            },
            before: self.before(interpreter),
        };
        self.step = (!self.is_too_long).then_some(step);
    }

    /// Stack, return data and memory of a step; nothing if they are too long.
    fn before(&mut self, interpreter: &Interpreter) -> Vec<u8> {
        let stack = interpreter.stack.data().as_slice();
        let stack = self.options.is_stack_enabled().then_some(stack);
        let returned = interpreter.return_data.buffer();
        let returned: &[u8] = if self.options.is_return_data_enabled() { returned } else { &[] };
        let memory = interpreter.memory.context_memory();
        let memory: &[u8] = if self.options.is_memory_enabled() { &memory } else { &[] };
        let length = stack.map_or(0, <[U256]>::len) * 69 + returned.len() * 2 + memory.len().div_ceil(32) * 69;
        self.is_too_long = self.text.len() + length > MAX_TEXT;
        let mut text = Vec::new();
        if self.is_too_long {
            return text;
        }
        if let Some(stack) = stack {
            text.extend_from_slice(b",\"stack\":");
            list(&mut text, stack, |text, item| put(text, format_args!("\"{item:#x}\"")));
        }
        if !returned.is_empty() {
            put(&mut text, format_args!(",\"returnData\":\"{}\"", hex::encode_prefixed(returned)));
        }
        if !memory.is_empty() {
            text.extend_from_slice(b",\"memory\":");
            let words: Vec<&[u8]> = memory.chunks(32).collect();
            list(&mut text, &words, |text, word| put(text, format_args!("\"0x{:0<64}\"", hex::encode(word))));
        }
        text
    }

    fn end(&mut self, interpreter: &mut Interpreter) {
        let Some(step) = self.step.take() else { return };
        let cost = step.gas.saturating_sub(interpreter.gas.remaining());
        self.refunded = interpreter.gas.refunded();
        if self.count > 0 {
            self.text.push(b',');
        }
        self.count += 1;
        let (pc, gas, depth) = (step.pc, step.gas, self.refunds.len());
        put(&mut self.text, format_args!("{{\"pc\":{pc},\"op\":\""));
        match OpCode::new(step.opcode) {
            Some(known) => self.text.extend_from_slice(known.as_str().as_bytes()),
            None => put(&mut self.text, format_args!("opcode {:#x} not defined", step.opcode)),
        }
        put(&mut self.text, format_args!("\",\"gas\":{gas},\"gasCost\":{cost},\"depth\":{depth}"));
        let result = interpreter.bytecode.action().as_ref().and_then(|action| action.instruction_result());
        let error = result.and_then(error);
        if let Some(error) = error {
            put(&mut self.text, format_args!(",\"error\":\"{error}\""));
        }
        self.text.extend_from_slice(&step.before);
        if let Some(slot) = step.slot.filter(|_| error.is_none()) {
            self.slot(slot, interpreter.stack.data().last());
        }
        if step.refund > 0 {
            put(&mut self.text, format_args!(",\"refund\":{}", step.refund));
        }
        self.text.push(b'}');
    }

    /// The slots of a contract that were read or written, this one included.
    fn slot(&mut self, slot: Slot, read: Option<&U256>) {
        let Some(value) = slot.value.or(read.copied()) else { return };
        let slots = self.storage.entry(slot.contract).or_default();
        slots.insert(slot.key, value);
        if self.text.len() + slots.len() * 138 > MAX_TEXT {
            self.is_too_long = true;
            return;
        }
        self.text.extend_from_slice(b",\"storage\":{");
        for (position, (key, value)) in slots.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            put(&mut self.text, format_args!("{comma}\"0x{key:064x}\":\"0x{value:064x}\""));
        }
        self.text.push(b'}');
    }

    fn enter(&mut self) {
        self.refunds.push(std::mem::take(&mut self.refunded));
    }

    /// A call that succeeded gives its refunds to the one around it.
    fn leave(&mut self, result: &InterpreterResult) {
        let around = self.refunds.pop().unwrap_or_default();
        let given = if result.is_ok() { result.gas.refunded() } else { 0 };
        self.refunded = around + given;
    }
}

fn put(text: &mut Vec<u8>, what: std::fmt::Arguments<'_>) {
    // Memory takes all that is written to it.
    text.write_fmt(what).unwrap_or_default();
}

fn list<T>(text: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    text.push(b'[');
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            text.push(b',');
        }
        write(text, item);
    }
    text.push(b']');
}

/// What geth says of a step that could not begin; it says nothing of one that failed later.
fn error(result: InstructionResult) -> Option<&'static str> {
    match result {
        InstructionResult::OutOfGas
        | InstructionResult::MemoryOOG
        | InstructionResult::MemoryLimitOOG
        | InstructionResult::InvalidOperandOOG
        | InstructionResult::ReentrancySentryOOG => Some("out of gas"),
        InstructionResult::StackUnderflow => Some("stack underflow"),
        InstructionResult::StackOverflow => Some("stack limit reached 1024 (1024)"),
        _ => None,
    }
}

impl<C> Inspector<C> for StepLog {
    fn step(&mut self, interpreter: &mut Interpreter, _: &mut C) {
        if !self.is_over() {
            self.begin(interpreter);
        }
    }

    fn step_end(&mut self, interpreter: &mut Interpreter, _: &mut C) {
        self.end(interpreter);
    }

    fn call(&mut self, _: &mut C, _: &mut CallInputs) -> Option<CallOutcome> {
        self.enter();
        None
    }

    fn call_end(&mut self, _: &mut C, _: &CallInputs, outcome: &mut CallOutcome) {
        self.leave(&outcome.result);
    }

    fn create(&mut self, _: &mut C, _: &mut CreateInputs) -> Option<CreateOutcome> {
        self.enter();
        None
    }

    fn create_end(&mut self, _: &mut C, _: &CreateInputs, outcome: &mut CreateOutcome) {
        self.leave(&outcome.result);
    }
}
