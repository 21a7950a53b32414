//! Values that frames show, where the frames above them are not among those that were read.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{BlockNumber, U256};
use trawl_core::readable::Span;
use trawl_core::schema::{Column, InternalTransactionView};
use trawl_json::raw_trace::ShownValues;
use trawl_query::places::{Places, ValuedFrame, valued_frames};

/// Most transactions of one statement.
const MAX_PLACES: usize = 2_048;

/// The path to a frame: its block, the position of its transaction, and which child at each depth.
type Path = (BlockNumber, u32, Vec<u32>);

/// The values of the frames of a scan of `blocks`, in order of execution.
pub(crate) struct FrameValues {
    app: App,
    blocks: Span,
    shown: ShownValues,
}

impl FrameValues {
    pub fn new(app: &App, blocks: &Span) -> Self {
        Self { app: app.clone(), blocks: blocks.clone(), shown: ShownValues::default() }
    }

    /// The values of the next frames of the scan.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn next(
        &mut self,
        frames: &InternalTransactionView<'_>,
        rows: usize,
    ) -> Result<Vec<Option<U256>>, Problem> {
        let mut values: Vec<Option<U256>> = (0..rows).map(|row| self.shown.next(frames, row)).collect();
        let unknown: Vec<usize> = (0..rows).filter(|row| values[*row].is_none()).collect();
        for rows in unknown.chunks(MAX_PLACES) {
            let place = |row: &usize| (frames.block_number[*row], frames.transaction_index[*row]);
            let known = self.at(&rows.iter().map(place).collect()).await?;
            for row in rows {
                let (block, transaction) = place(row);
                let path = Vec::<u32>::own(Vec::<u32>::get(&frames.trace_address, *row));
                values[*row] = above(&known, (block, transaction, path));
            }
        }
        Ok(values)
    }

    /// The frames at `places` that have a value; those without one share it.
    async fn at(&self, places: &Places) -> Result<HashMap<Path, Option<U256>>, Problem> {
        let frames = self.app.reader().rows(&valued_frames(places, &self.blocks)).await?;
        let of_frame = |frame: ValuedFrame| {
            let value = (frame.call_type != "delegatecall").then_some(frame.value);
            ((frame.block_number, frame.transaction_index, frame.trace_address), value)
        };
        Ok(frames.into_iter().map(of_frame).collect())
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
