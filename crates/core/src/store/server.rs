//! What a server says of itself: for those who look whether it is fit.

use super::{StoreError, Writer};

/// The version and the clock of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFacts {
    /// Such as `26.7.2.1`.
    pub version: String,
    /// Milliseconds since 1970, by its clock.
    pub clock_ms: i64,
}

/// The room on a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskRoom {
    /// Its name for ClickHouse.
    pub name: String,
    /// Bytes that are free.
    pub free_bytes: u64,
    /// All its bytes.
    pub total_bytes: u64,
}

impl Writer {
    /// The version and the clock of the server.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn server_facts(&self) -> Result<ServerFacts, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../sql/queries/server_facts.sql"));
        let (version, clock_ms) = query.fetch_one().await?;
        Ok(ServerFacts { version, clock_ms })
    }

    /// The disk with the least room.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn least_room(&self) -> Result<DiskRoom, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../sql/queries/room_on_disks.sql"));
        let (name, free_bytes, total_bytes) = query.fetch_one().await?;
        Ok(DiskRoom { name, free_bytes, total_bytes })
    }

    /// The table with the most parts, and how many; `None` while nothing is loaded.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn most_parts(&self) -> Result<Option<(String, u64)>, StoreError> {
        let query = self.address.server().query_raw(include_str!("../../../../sql/queries/most_parts.sql"));
        Ok(query.param("database", self.address.database.as_str()).fetch_optional().await?)
    }

    /// Inserts no row, which only those may do who may insert.
    ///
    /// # Errors
    ///
    /// If ClickHouse cannot be reached or refuses the statement.
    pub async fn insert_nothing(&self) -> Result<(), StoreError> {
        self.execute("INSERT INTO ingest_intents SELECT * FROM ingest_intents WHERE 0", &[]).await
    }
}
