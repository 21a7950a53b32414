//! A database and the right to write to it, which most of what a run does needs together.

use trawl_core::store::{Reader, Writer};

use super::lease::LeaseGuard;

/// A database to which a run may write.
#[derive(Clone)]
pub struct LeasedDatabase {
    /// Reads the database that is leased.
    pub reader: Reader,
    /// Writes to it on behalf of the run.
    pub writer: Writer,
    /// Proves before each write that the run still has the lease.
    pub guard: LeaseGuard,
}
