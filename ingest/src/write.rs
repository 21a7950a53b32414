//! Writes batches of rows: one run at a time holds the lease, and a killed run leaves nothing that readers see.

pub mod batch;
pub mod clock;
pub(crate) mod figures;
pub mod lease;
pub mod leased_database;
pub mod recover;
pub mod retry;
pub mod sink;
