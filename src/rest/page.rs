//! Pages: the first rows of a result, and whether there are more.

use axum::response::Response;

use crate::http::whole_body::json;
use trawl_core::schema::Columns;
use trawl_core::store::Batch;
use trawl_json::Object;
use trawl_json::list::write_page;

/// Batches cut to a page.
pub(super) struct Page<'b, R> {
    batches: &'b [Batch<R>],
    /// Rows on the page.
    pub count: u64,
    /// Whether there is a row after the page.
    pub more: bool,
}

impl<'b, R: Columns> Page<'b, R> {
    /// The first `size` rows of `batches`, which were read with a limit of `size + 1`.
    pub fn cut(batches: &'b [Batch<R>], size: u64) -> Self {
        let found: u64 = batches.iter().map(|batch| batch.len() as u64).sum();
        Self { batches, count: found.min(size), more: found > size }
    }

    /// The first `count` rows of the page.
    pub fn shortened(self, count: u64) -> Self {
        Self { count, ..self }
    }

    /// Visits the rows of the page in order.
    pub fn rows(&self, mut visit: impl FnMut(&Batch<R>, usize)) {
        for position in 0..self.count {
            if let Some((batch, row)) = self.at(position) {
                visit(batch, row);
            }
        }
    }

    /// A value of the last row of the page; `None` if the page is empty.
    pub fn last<T>(&self, read: impl FnOnce(&Batch<R>, usize) -> T) -> Option<T> {
        self.at(self.count.checked_sub(1)?).map(|(batch, row)| read(batch, row))
    }

    /// A value of the row after the page; `None` if there is none.
    pub fn after<T>(&self, read: impl FnOnce(&Batch<R>, usize) -> T) -> Option<T> {
        self.at(self.count).map(|(batch, row)| read(batch, row))
    }

    /// How many rows from the first on satisfy `keep`.
    pub fn count_while(&self, keep: impl Fn(&Batch<R>, usize) -> bool) -> u64 {
        (0..self.count).take_while(|position| self.at(*position).is_some_and(|(batch, row)| keep(batch, row))).count()
            as u64
    }

    /// The rows of the page in order.
    pub fn items(&self) -> Vec<(&'b Batch<R>, usize)> {
        (0..self.count).filter_map(|position| self.at(position)).collect()
    }

    fn at(&self, position: u64) -> Option<(&'b Batch<R>, usize)> {
        let mut row = usize::try_from(position).ok()?;
        for batch in self.batches {
            if row < batch.len() {
                return Some((batch, row));
            }
            row -= batch.len();
        }
        None
    }
}

/// The cursor of the last page of a list: none.
pub(super) const NO_CURSOR: Option<fn(&mut Object<'_>)> = None;

/// A list without items.
pub(super) fn empty_page() -> Response {
    json(write_page(|_| {}, NO_CURSOR))
}
