//! The rows of packed blocks by table.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use trawl_core::primitives::B256;
use trawl_core::schema::packed::{HotRowsRow, unpack};
use trawl_core::schema::{BlockRow, Column, Columns};

use super::error::FollowError;
use crate::write::batch::{TableBatch, names_of, with_generation};

/// The rows of one table, by its first name.
type Tables = Vec<(String, RecordBatch)>;

/// The tables of one block.
fn tables(block: &HotRowsRow) -> Result<Tables, FollowError> {
    let failed = |source| FollowError::Packed { number: block.block_number, source: Box::new(source) };
    unpack(&block.rows).map_err(failed)
}

/// The rows of blocks as batches for the settled tables.
pub(super) fn settled_rows(blocks: &[HotRowsRow]) -> Result<Vec<TableBatch>, FollowError> {
    let tables = joined(blocks, |_, rows| rows)?;
    let known = |(table, rows): (String, RecordBatch)| match names_of(&table) {
        Some(tables) => Ok(TableBatch { tables, rows }),
        None => Err(FollowError::UnknownTable(table)),
    };
    tables.into_iter().map(known).collect()
}

/// The rows of blocks by table, with the generation of each block in front.
pub(super) fn hot_rows(blocks: &[HotRowsRow]) -> Result<Tables, FollowError> {
    joined(blocks, |block, rows| with_generation(&rows, block.generation))
}

/// One batch a table.
fn joined(blocks: &[HotRowsRow], of: impl Fn(&HotRowsRow, RecordBatch) -> RecordBatch) -> Result<Tables, FollowError> {
    let mut parts: BTreeMap<String, Vec<RecordBatch>> = BTreeMap::new();
    for block in blocks {
        for (table, rows) in tables(block)? {
            parts.entry(table).or_default().push(of(block, rows));
        }
    }
    let join = |(table, parts): (String, Vec<RecordBatch>)| {
        let rows = concat_batches(&parts[0].schema(), &parts)?;
        Ok((table, rows))
    };
    Ok(parts.into_iter().map(join).collect::<Result<_, ArrowError>>()?)
}

/// The block itself.
pub(super) fn header(block: &HotRowsRow) -> Result<Option<BlockRow>, FollowError> {
    let tables = tables(block)?;
    let rows = tables.iter().find(|(table, _)| table == "blocks").map(|(_, rows)| rows);
    Ok(rows.and_then(|rows| {
        let view = BlockRow::view(rows).ok()?;
        (rows.num_rows() == 1).then(|| BlockRow::row(&view, 0))
    }))
}

/// What stays of a block that is orphaned: its row, and its withdrawals under its hash.
pub(super) fn remains(block: &HotRowsRow) -> Result<Tables, FollowError> {
    let Some(header) = header(block)? else { return Ok(Vec::new()) };
    let remaining = tables(block)?.into_iter().filter_map(|(table, rows)| match table.as_str() {
        "blocks" => Some(("reorged_blocks".into(), rows)),
        "withdrawals" => Some(("reorged_withdrawals".into(), with_block_hash(&rows, header.hash))),
        _ => None,
    });
    Ok(remaining.collect())
}

fn with_block_hash(rows: &RecordBatch, hash: B256) -> RecordBatch {
    let mut builder = <B256 as Column>::Builder::default();
    (0..rows.num_rows()).for_each(|_| B256::append(&mut builder, hash));
    let field = Arc::new(Field::new("block_hash", B256::arrow_type(), B256::is_nullable()));
    let fields: Vec<_> = std::iter::once(field).chain(rows.schema().fields().iter().cloned()).collect();
    let columns: Vec<ArrayRef> = std::iter::once(B256::finish(builder)).chain(rows.columns().iter().cloned()).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).expect("one more column of the same length")
}
