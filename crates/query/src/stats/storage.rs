//! Statements for what ClickHouse stores, and on what.

use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// What a table takes.
    pub struct TableParts / TablePartsView {
        /// Name of the table.
        table: String,
        /// Rows, including those that are deleted and not yet merged away.
        rows: u64,
        /// Bytes of its active parts.
        bytes_on_disk: u64,
        /// How many active parts it has.
        parts: u64,
    }
}

columns! {
    /// A disk of the server.
    pub struct DiskSpace / DiskSpaceView {
        /// Its name in the configuration.
        name: String,
        /// Free bytes that no part being written has reserved.
        free_bytes: u64,
        /// Bytes of the file system.
        total_bytes: u64,
    }
}

columns! {
    /// The server itself.
    pub struct ServerFacts / ServerFactsView {
        /// Version of ClickHouse.
        version: String,
        /// Seconds since it was started.
        uptime_seconds: u64,
    }
}

columns! {
    /// Memory of the server.
    pub struct ServerMemory / ServerMemoryView {
        /// Bytes that it has allocated.
        allocated_bytes: u64,
    }
}

/// Each table with rows, the largest first; of one server or one shard of many.
#[must_use]
pub fn tables() -> Statement<TableParts> {
    Statement::page(include_str!("../../../../sql/queries/table_parts.sql"))
}

/// The disks of the server that is asked. Needs the right to read `system.disks`.
#[must_use]
pub fn disks() -> Statement<DiskSpace> {
    Statement::page(include_str!("../../../../sql/queries/local_disks.sql"))
}

/// Version and uptime of the server that is asked.
#[must_use]
pub fn server() -> Statement<ServerFacts> {
    Statement::page("SELECT version() AS version, toUInt64(uptime()) AS uptime_seconds")
}

/// Memory of the server that is asked. Needs the right to read `system.metrics`.
#[must_use]
pub fn memory() -> Statement<ServerMemory> {
    Statement::page(include_str!("../../../../sql/queries/server_memory.sql"))
}
