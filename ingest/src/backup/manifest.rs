//! What a backup is of: the file `backup.json` in its folder, which is written last. Without it a backup is not whole.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The name of the file.
pub const FILE: &str = "backup.json";

/// What a backup is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Name of the database.
    pub database: String,
    /// Its chain, if a source has named it.
    pub chain_id: Option<u64>,
    /// The lowest settled block.
    pub first_block: u64,
    /// The highest settled block when the backup began, at least.
    pub last_block: u64,
    /// Version of the schema.
    pub schema_version: u32,
    /// Whether the statistics of tokens are in it. If not, they are worked out again after a restore.
    pub statistics: bool,
    /// The backup whose rows it leaves out.
    pub base: Option<PathBuf>,
    /// When it was complete, in seconds since 1970.
    pub created_at: u64,
    /// The release of Trawl that made it.
    pub program: String,
}

impl Manifest {
    /// One of this moment and this program.
    pub(super) fn of_now() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            database: String::new(),
            chain_id: None,
            first_block: 0,
            last_block: 0,
            schema_version: 0,
            statistics: false,
            base: None,
            created_at: now.as_secs(),
            program: env!("CARGO_PKG_VERSION").into(),
        }
    }

    /// When it was complete, as RFC 3339.
    #[must_use]
    pub fn time(&self) -> String {
        humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(self.created_at)).to_string()
    }
}
