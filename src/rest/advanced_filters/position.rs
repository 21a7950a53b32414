//! Positions in the list, and where each kind of rows continues below one.

use super::super::cursor::Cursor;
use crate::error::Problem;
use crate::http::query::{Kind, ParameterGroup, Query};
use trawl_core::primitives::{FramePosition, TransactionPosition, TransferPosition};
use trawl_json::Object;
use trawl_json::advanced_filters::MovementKey;

/// The cursor after a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MovementCursor(pub MovementKey);

/// The kind of a token transfer in a position.
pub(super) const TRANSFER: u8 = 2;
const FRAME: &str = "internal_transaction_index";
const LOG: &str = "token_transfer_index";
const BATCH: &str = "token_transfer_batch_index";

impl Cursor for MovementCursor {
    const PARAMETERS: ParameterGroup = &[
        ("block_number", Kind::Height),
        ("transaction_index", Kind::Height),
        (FRAME, Kind::Text),
        (LOG, Kind::Text),
        (BATCH, Kind::Text),
    ];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        query.require_all(&["block_number", "transaction_index"])?;
        let (frame, log, batch) = (position(query, FRAME)?, position(query, LOG)?, position(query, BATCH)?);
        let Some((block, transaction)) = query.height("block_number").zip(query.height("transaction_index")) else {
            return Ok(None);
        };
        let transaction = u32::try_from(transaction).unwrap_or(u32::MAX);
        Ok(Some(Self(match (frame, log) {
            (_, Some(log)) => (block, transaction, TRANSFER, log, batch.unwrap_or_default()),
            (Some(frame), None) => (block, transaction, 1, frame, 0),
            (None, None) => (block, transaction, 0, 0, 0),
        })))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        let (block, transaction, kind, index, batch) = self.0;
        let of_kind = |field_kind: u8, number: u32| (kind == field_kind).then_some(u64::from(number));
        next.key("block_number").number(block);
        next.key(FRAME).option(of_kind(1, index), |writer, number| writer.number(number));
        next.key("items_count").number(count);
        next.key(BATCH).option(of_kind(TRANSFER, batch), |writer, number| writer.number(number));
        next.key(LOG).option(of_kind(TRANSFER, index), |writer, number| writer.number(number));
        next.key("transaction_index").number(transaction.into());
    }
}

/// A position in decimal digits; clients write none as nothing or as `null`.
fn position(query: &Query, name: &str) -> Result<Option<u32>, Problem> {
    let Some(text) = query.text(name).filter(|text| !matches!(*text, "" | "null")) else { return Ok(None) };
    let wrong = |_| Problem::invalid_parameter(name, "Invalid integer. Got: string");
    text.parse().map(Some).map_err(wrong)
}

impl MovementCursor {
    /// Transactions below this position. In a transaction, its transfers come first and it itself last.
    pub fn transactions(self) -> TransactionPosition {
        let (block_number, transaction, kind, ..) = self.0;
        let transaction_index = u64::from(transaction) + u64::from(kind > 0);
        TransactionPosition { block_number, transaction_index }
    }

    /// Call frames below this position.
    pub fn frames(self) -> FramePosition {
        let (block_number, transaction, kind, index, _) = self.0;
        let (transaction_index, frame_index) = match kind {
            0 => (u64::from(transaction), 0),
            1 => (u64::from(transaction), u64::from(index)),
            _ => (u64::from(transaction) + 1, 0),
        };
        FramePosition { block_number, transaction_index, frame_index }
    }

    /// Token transfers below this position: of a position that is no transfer those of the whole block, of which the
    /// ones above are passed over.
    pub fn transfers(self) -> TransferPosition {
        let (block_number, _, kind, index, batch) = self.0;
        let (log_index, batch_index) =
            if kind == TRANSFER { (u64::from(index), u64::from(batch)) } else { (u64::MAX, u64::MAX) };
        TransferPosition { block_number, log_index, batch_index }
    }
}
