//! Reads of settled blocks, from memory if the same rows were read a short time ago.

use std::sync::Arc;

use crate::app::App;
use crate::cache::settled_rows::{Key, SharedRows};
use crate::error::Problem;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::{Batch, Head};

impl App {
    /// All rows of a statement whose result is small, or more. Those of settled blocks come from memory if they are
    /// there. Behind the newest rows of a list come as many of settled blocks as the list may have in all, whatever the
    /// newest leave of the limit: so a new block does not make another statement of the read of settled blocks.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn rows_of<R: Columns + 'static>(
        &self,
        head: &Head,
        statement: &Statement<R>,
    ) -> Result<SharedRows<R>, Problem> {
        let read = async |statement: &Statement<R>| Ok(self.reader().all(statement).await?);
        let Some(cache) = self.settled_rows().filter(|_| statement.is_settled && statement.is_in_tables) else {
            return read(statement).await.map(Arc::new);
        };
        if statement.newest.is_none() {
            return cache.get_or_read(Key::new(head, statement), read(statement)).await;
        }
        let Some((newest, settled)) = statement.newest_first() else { return read(statement).await.map(Arc::new) };
        let mut rows = read(&newest).await?;
        let found: u64 = rows.iter().map(|batch| batch.len() as u64).sum();
        if newest.newest.is_some_and(|newest| found < newest.limit) {
            let older = cache.get_or_read(Key::new(head, &settled), read(&settled)).await?;
            rows.extend(older.iter().cloned());
        }
        Ok(Arc::new(rows))
    }

    /// All rows of a statement whose rows belong to no block, from memory if they were read under the same
    /// `generation`, a number under which they stay the same.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn rows_under<R: Columns + 'static>(
        &self,
        generation: u64,
        statement: &Statement<R>,
    ) -> Result<SharedRows<R>, Problem> {
        let read = async { Ok(self.reader().all(statement).await?) };
        match self.settled_rows() {
            Some(cache) => cache.get_or_read(Key::under(generation, statement), read).await,
            None => read.await.map(Arc::new),
        }
    }

    /// The same rows as values of their own.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn values_of<R: Columns + 'static>(
        &self,
        head: &Head,
        statement: &Statement<R>,
    ) -> Result<Vec<R>, Problem> {
        Ok(self.rows_of(head, statement).await?.iter().flat_map(Batch::rows).collect())
    }

    /// What `find` finds in the rows of an earlier lookup by this statement.
    pub(crate) async fn found_before<R: Columns + 'static, T>(
        &self,
        head: &Head,
        statement: &Statement<R>,
        find: impl FnOnce(&[Batch<R>]) -> Option<T>,
    ) -> Option<T> {
        let rows = self.settled_rows()?.get(Key::new(head, statement)).await?;
        find(&rows)
    }

    /// What `find` finds in the rows of a lookup. They are cached for [`App::found_before`] if it finds something: what
    /// was not found may come with the next commit.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn find<R: Columns + 'static, T>(
        &self,
        head: &Head,
        statement: &Statement<R>,
        find: impl FnOnce(&[Batch<R>]) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let rows = Arc::new(self.reader().all(statement).await?);
        let found = find(&rows);
        if let Some(cache) = self.settled_rows().filter(|_| found.is_some()) {
            cache.keep(Key::new(head, statement), &rows).await;
        }
        Ok(found)
    }
}
