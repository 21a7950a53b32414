//! The instructions of a block: Ethereum's of its fork, and where the chain differs.

use revm::Database;
use revm::bytecode::opcode::OpCode;
use revm::context_interface::ContextTr;
use revm::context_interface::context::ContextError;
use revm::handler::MainnetContext;
use revm::handler::instructions::EthInstructions;
use revm::interpreter::interpreter::EthInterpreter;
use revm::interpreter::interpreter_types::{Jumps, LegacyBytecode};
use revm::interpreter::{Instruction, InstructionContext, InstructionResult};
use trawl_chains::InstructionRule;

use super::Rules;

type Instructions<D> = EthInstructions<EthInterpreter, MainnetContext<D>>;

/// Takes away what the chain does not have, and what is not known of it.
pub(crate) fn adapt<D: Database>(instructions: &mut Instructions<D>, rules: &Rules) {
    for rule in rules.chain.map_or(&[][..], |chain| chain.instructions) {
        match *rule {
            InstructionRule::Undefined(opcode) => {
                instructions.insert_instruction(opcode, Instruction::unknown(), 0);
            }
            InstructionRule::Refused(opcode) => {
                instructions.insert_instruction(opcode, Instruction::new(refuse), 0);
            }
        }
    }
}

/// Ends the run.
fn refuse<D: Database>(
    context: InstructionContext<'_, MainnetContext<D>, EthInterpreter>,
) -> Result<(), InstructionResult> {
    let code = &context.interpreter.bytecode;
    // The position is that after the instruction.
    let opcode = code.pc().checked_sub(1).and_then(|at| code.bytecode_slice().get(at).copied());
    let name = opcode.and_then(OpCode::new).map_or("unknown", |opcode| opcode.as_str());
    let chain = context.host.cfg().chain_id;
    let text = format!("the instruction {name}, which gives on chain {chain} what is not indexed here");
    *context.host.error() = Err(ContextError::Custom(text));
    Err(InstructionResult::FatalExternalError)
}
