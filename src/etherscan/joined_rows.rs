//! Rows that are found by their positions, some at a time.

use std::collections::BTreeSet;

use super::rows::{ListBody, Parts};
use crate::app::App;
use crate::error::Problem;
use crate::http::body::StreamError;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Rows};

/// Rows that one statement reads.
const ROWS_OF_PART: usize = 500;

/// A kind of rows, in an order.
pub(crate) trait JoinedRows: Send + Sync + 'static {
    /// Where a row is.
    type Key: Copy + Ord + Send + Sync + 'static;
    /// Columns that the statement returns.
    type Row: Columns + Send + Sync + 'static;

    /// The rows at some positions, each of them and no other.
    fn statement(&self, positions: &BTreeSet<Self::Key>) -> Statement<Self::Row>;
    /// Writes the rows of a batch as items of the list.
    fn write(
        &self,
        batch: &Batch<Self::Row>,
        list: &mut ListBody,
    ) -> impl Future<Output = Result<(), StreamError>> + Send;
}

/// The rows at some positions in parts.
pub(crate) struct LookedUpParts<K: JoinedRows> {
    app: App,
    kind: K,
    /// The positions of the parts after the one that is read.
    rest: std::vec::IntoIter<K::Key>,
    rows: Rows<K::Row>,
    /// Rows of the part that were not written yet.
    due: usize,
}

impl<K: JoinedRows> LookedUpParts<K> {
    /// Begins the first part, so that a failure is known before an answer begins; `None` without positions, which are
    /// in the order of the rows.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub async fn open(app: &App, kind: K, positions: Vec<K::Key>) -> Result<Option<Self>, Problem> {
        let mut rest = positions.into_iter();
        let part: BTreeSet<K::Key> = rest.by_ref().take(ROWS_OF_PART).collect();
        if part.is_empty() {
            return Ok(None);
        }
        let rows = app.reader().stream(&kind.statement(&part)).await?;
        Ok(Some(Self { app: app.clone(), kind, rest, rows, due: part.len() }))
    }
}

impl<K: JoinedRows> Parts for LookedUpParts<K> {
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, StreamError> {
        while let Some(batch) = self.rows.next().await.map_err(Problem::from)? {
            self.due = self.due.saturating_sub(batch.len());
            self.kind.write(&batch, list).await?;
        }
        // Rows of blocks that left the chain while the list was read: an answer without them would look whole.
        if self.due > 0 {
            return Err(Problem::Reorganised.into());
        }
        let part: BTreeSet<K::Key> = self.rest.by_ref().take(ROWS_OF_PART).collect();
        if part.is_empty() {
            return Ok(false);
        }
        self.rows = self.app.reader().stream(&self.kind.statement(&part)).await.map_err(Problem::from)?;
        self.due = part.len();
        Ok(true)
    }
}
