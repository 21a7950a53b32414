//! A block in the pieces that a node gave: each is the JSON of one answer, and none is copied or scanned again to make
//! one text of them.

use serde_json::value::RawValue;

use super::json::Line;

/// A part that comes from a request of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The answer of `trace_block`.
    ParityTraces,
    /// The answer of `callTracer`.
    Traces,
    /// State differences, transaction by transaction.
    TransactionStateDiffs,
    /// Slots of the request contracts, before and after the block.
    QueueSlots,
}

/// The pieces of a block.
#[derive(Debug, Clone)]
pub struct BlockParts {
    block: Box<RawValue>,
    receipts: Box<RawValue>,
    uncle_headers: Box<RawValue>,
    others: Vec<(Part, Box<RawValue>)>,
}

impl BlockParts {
    /// A block with its receipts and the list of its uncles' headers.
    #[must_use]
    pub fn new(block: Box<RawValue>, receipts: Box<RawValue>, uncle_headers: Box<RawValue>) -> Self {
        Self { block, receipts, uncle_headers, others: Vec::new() }
    }

    /// The same with one part more.
    #[must_use]
    pub fn with(mut self, part: Part, value: Box<RawValue>) -> Self {
        self.others.push((part, value));
        self
    }

    /// Bytes of all pieces.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let others = self.others.iter().map(|(_, value)| value);
        let all = [&self.block, &self.receipts, &self.uncle_headers].into_iter().chain(others);
        all.map(|piece| piece.get().len()).sum()
    }

    /// The pieces as the decoder reads them.
    pub(super) fn line(&self) -> Line<'_> {
        let part = |sought| self.others.iter().find(|(part, _)| *part == sought).map(|(_, value)| &**value);
        Line {
            block: &self.block,
            receipts: Some(&self.receipts),
            uncle_headers: Some(&self.uncle_headers),
            total_difficulty: None,
            state_diff: None,
            tx_state_diffs: part(Part::TransactionStateDiffs),
            system_diff: None,
            queue_slots: part(Part::QueueSlots),
            traces: part(Part::Traces),
            parity_traces: part(Part::ParityTraces),
            parity_rewards: None,
        }
    }
}
