//! The end mark of a scan, which confirms that the answer is complete, and names its blocks and its head.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::cursor::Cursor;
use super::layout::Layout;
use crate::app::App;
use crate::error::Problem;
use crate::read::page_source::PageSource;
use trawl_core::primitives::{B256, BlockNumber, BlockRange, Position};
use trawl_core::store::{Batch, Head};

/// The trailer with the end mark.
pub(super) const END: HeaderName = HeaderName::from_static("x-trawl-end");

/// The end mark of a complete answer.
#[derive(Debug, Clone)]
pub(super) struct End {
    from_block: Option<BlockNumber>,
    to_block: Option<BlockNumber>,
    head_block: Option<BlockNumber>,
    head_hash: Option<B256>,
    /// Ranges of blocks in the requested range that are not indexed (`--gaps serve`).
    missing: Vec<(BlockNumber, BlockNumber)>,
    rows: u64,
    first: Option<BlockNumber>,
    last: Option<BlockNumber>,
    /// The cursor after the last row, as text.
    cursor: Option<String>,
}

impl End {
    /// The mark of an answer about `range`, without any rows so far; `missing` are the ranges that are not indexed.
    ///
    /// # Errors
    ///
    /// When the head block cannot be read.
    pub async fn new(
        app: &App,
        head: &Arc<Head>,
        range: Option<BlockRange>,
        missing: &[BlockRange],
    ) -> Result<Self, Problem> {
        let head_block = head.number();
        let head_hash = match head_block {
            Some(number) => app.block_at(number, head).await?.map(|batch| B256::from(batch.view().hash.bytes(0))),
            None => None,
        };
        Ok(Self {
            from_block: range.map(|range| range.first()),
            to_block: range.map(|range| range.last()),
            head_block,
            head_hash,
            missing: missing.iter().map(|range| (range.first(), range.last())).collect(),
            rows: 0,
            first: None,
            last: None,
            cursor: None,
        })
    }

    /// Counts the rows of a batch, which is not empty.
    pub fn count<P: PageSource, L: Layout<Row = P::Row>>(
        &mut self,
        batch: &Batch<P::Row>,
        layout: &L,
        fingerprint: u64,
    ) {
        let (view, last) = (batch.view(), batch.len() - 1);
        let position = P::position(&view, last);
        self.rows += batch.len() as u64;
        self.first.get_or_insert(P::position(&view, 0).block_number());
        self.last = Some(position.block_number());
        self.cursor = Some(Cursor::of(position, layout.block_hash(&view, last), fingerprint).to_string());
    }

    /// The mark in one short line, for the trailers: without the ranges that are not indexed, which may be many.
    pub fn trailers(&self) -> HeaderMap {
        let mut mark = self.json();
        if let Some(members) = mark.as_object_mut() {
            members.remove("missing");
        }
        let value = HeaderValue::from_str(&mark.to_string());
        value.into_iter().map(|value| (END, value)).collect()
    }

    /// The mark as JSON: the number of rows, their blocks, the head, and the cursor.
    pub fn json(&self) -> Value {
        let quantity = |number: Option<BlockNumber>| number.map(|number| format!("{number:#x}"));
        let range = |(first, last): &(BlockNumber, BlockNumber)| json!({"fromBlock": format!("{first:#x}"), "toBlock": format!("{last:#x}")});
        json!({
            "complete": self.missing.is_empty(),
            "count": self.rows,
            "fromBlock": quantity(self.from_block),
            "toBlock": quantity(self.to_block),
            "firstBlock": quantity(self.first),
            "lastBlock": quantity(self.last),
            "headBlock": quantity(self.head_block),
            "headHash": self.head_hash,
            "missing": self.missing.iter().map(range).collect::<Vec<_>>(),
            "cursor": self.cursor,
        })
    }
}
