//! Values that frames show, where the frames above them are not among those that were read.

use std::collections::{BTreeMap, HashMap};

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::readable::Span;
use trawl_core::schema::{Column, InternalTransactionView};
use trawl_json::transactions::raw_trace::CallValues;
use trawl_query::transactions::positions::{MAX_FRAMES, TransactionPositions, ValuedFrame, valued_frames};

/// Most transactions of one statement.
const MAX_TRANSACTIONS: usize = 256;

/// The path to a frame: its block, the position of its transaction, and which child at each depth.
type Path = (BlockNumber, u32, Vec<u32>);

/// The values of the frames of a scan of `blocks`, in order of execution.
pub(crate) struct FrameValues {
    app: App,
    blocks: Span,
    values: CallValues,
}

impl FrameValues {
    pub fn new(app: &App, blocks: &Span) -> Self {
        Self { app: app.clone(), blocks: blocks.clone(), values: CallValues::default() }
    }

    /// The values of the next frames of the scan; `None` of a delegated call in a transaction of more frames than are
    /// read.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn next(
        &mut self,
        frames: &InternalTransactionView<'_>,
        rows: usize,
    ) -> Result<Vec<Option<U256>>, Problem> {
        let mut values: Vec<Option<U256>> = (0..rows).map(|row| self.values.next(frames, row)).collect();
        let mut unknown: BTreeMap<(BlockNumber, u32), Vec<usize>> = BTreeMap::new();
        for row in (0..rows).filter(|row| values[*row].is_none()) {
            unknown.entry((frames.block_number[row], frames.transaction_index[row])).or_default().push(row);
        }
        let transactions: Vec<(BlockNumber, u32)> = unknown.keys().copied().collect();
        let mut chunks: Vec<&[(BlockNumber, u32)]> = transactions.chunks(MAX_TRANSACTIONS).collect();
        while let Some(chunk) = chunks.pop() {
            let Some(known) = self.at(chunk.iter().copied().collect()).await? else {
                // Fewer of them have fewer frames.
                let (first, second) = chunk.split_at(chunk.len() / 2);
                chunks.extend([first, second].into_iter().filter(|half| !first.is_empty() && !half.is_empty()));
                continue;
            };
            for transaction in chunk {
                for row in &unknown[transaction] {
                    let path = Vec::<u32>::own(Vec::<u32>::get(&frames.trace_address, *row));
                    values[*row] = above(&known, (transaction.0, transaction.1, path));
                }
            }
        }
        Ok(values)
    }

    /// The frames of the transactions at `positions` that have a value; those without one share it. `None` if they are
    /// more than one statement reads.
    async fn at(&self, positions: TransactionPositions) -> Result<Option<HashMap<Path, Option<U256>>>, Problem> {
        let frames = self.app.reader().rows(&valued_frames(&positions, &self.blocks)).await?;
        if frames.len() as u64 >= MAX_FRAMES {
            return Ok(None);
        }
        let of_frame = |frame: ValuedFrame| {
            let value = (frame.call_type != "delegatecall").then_some(frame.value);
            ((frame.block_number, frame.transaction_index, frame.trace_address), value)
        };
        Ok(Some(frames.into_iter().map(of_frame).collect()))
    }
}

/// The value of the nearest frame above a path that does not share it; frames that are not known have none.
fn above(known: &HashMap<Path, Option<U256>>, (block, transaction, mut path): Path) -> Option<U256> {
    while path.pop().is_some() {
        let frame = (block, transaction, path);
        match known.get(&frame) {
            Some(None) => path = frame.2,
            Some(Some(value)) => return Some(*value),
            None => return Some(U256::ZERO),
        }
    }
    // An outermost frame shares no value.
    None
}
