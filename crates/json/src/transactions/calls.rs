//! The calls of a transaction for readers (docs/reference/http-contract.md#calls).

use std::collections::BTreeSet;

use crate::addresses::address::Addresses;
use crate::tokens::transfers::Tokens;
use crate::vocabulary::Vocabulary;
use crate::{JsonWriter, Object};
use trawl_core::primitives::Address;
use trawl_core::schema::{Column, InternalTransactionView};

/// Longest data that is read, in bytes.
const MAX_DATA: usize = 16 << 10;

/// What is known of those who take part.
pub struct Names<'n> {
    /// What they are called.
    pub addresses: &'n Addresses,
    /// Those that are tokens.
    pub tokens: &'n Tokens,
    /// Functions that they have.
    pub vocabulary: &'n Vocabulary,
    /// Whether the outermost call certainly ran no code.
    pub is_plain_transfer: bool,
}

impl Names<'_> {
    /// Writes the addresses, and those that are tokens.
    pub fn write(&self, answer: &mut Object<'_>, shown: &BTreeSet<Address>) {
        answer.key("addresses").array(|items| {
            shown.iter().for_each(|address| self.addresses.write(items.item(), address));
        });
        answer.key("tokens").array(|items| {
            let tokens = shown.iter().filter(|address| self.tokens.metadata.contains_key(*address));
            tokens.for_each(|address| self.tokens.write(items.item(), address, ""));
        });
    }
}

/// The method, parameters and results of a frame.
pub fn write_decoded_frame(
    writer: &mut JsonWriter,
    frames: &InternalTransactionView<'_>,
    row: usize,
    names: &Names<'_>,
) {
    let is_outermost = frames.trace_address.items::<u32>(row).next().is_none();
    let is_plain = if is_outermost { names.is_plain_transfer } else { ran_nothing(frames, row) };
    let is_call = String::get(&frames.frame_type, row) == "call" && !is_plain;
    let contract = Option::<Address>::get(&frames.to_address, row).filter(|_| is_call);
    let (block, input, output) = (frames.block_number[row], frames.input.value(row), frames.output.value(row));
    let has_succeeded = String::get(&frames.error, row).is_empty();
    let read = contract.filter(|_| input.len() <= MAX_DATA && output.len() <= MAX_DATA);
    let decoded = read.and_then(|contract| names.vocabulary.decoded_input(&contract, block, input));
    let returned = read.filter(|_| has_succeeded);
    let returned = returned.and_then(|contract| names.vocabulary.decoded_output(&contract, block, input, output));
    let method = contract.and_then(|contract| names.vocabulary.method(Some(&contract), block, input));
    writer.object(|frame| {
        frame.key("method").option(method.as_deref(), JsonWriter::string);
        frame.key("input").option(decoded, JsonWriter::raw);
        frame.key("output").option(returned, JsonWriter::raw);
    });
}

/// Whether no code read the data of an inner call: it used no gas, called nothing and returned nothing
/// (docs/reference/http-contract.md#plain-transfers).
fn ran_nothing(frames: &InternalTransactionView<'_>, row: usize) -> bool {
    let is_quiet = String::get(&frames.error, row).is_empty() && frames.output.value(row).is_empty();
    is_quiet && frames.subtraces[row] == 0 && Option::<u64>::get(&frames.gas_used, row) == Some(0)
}
