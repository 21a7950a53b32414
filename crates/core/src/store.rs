//! Floor 2: the only module that talks to ClickHouse. It sends statements and receives record batches, and the reverse.

mod address;
mod configurations;
mod error;
mod head;
mod hot;
mod labels;
mod lacking;
mod leases;
mod left_out;
mod messages;
mod migrate;
mod parts;
mod reader;
mod runs;
mod schema_version;
mod statistics;
mod stored;
mod timeout;
mod tokens;
mod writer;

pub use address::{Compression, StoreAddress};
pub use error::StoreError;
pub use head::{Head, HeadWatch};
pub use hot::{FollowRate, GenerationRange, Stray};
pub use labels::{CurrentLabel, StoredEvent, StoredFunction};
pub use lacking::{LackingColumn, VerdictCount};
pub use leases::{Claimant, LeaseEvent, LiveLease};
pub use left_out::Choice;
pub use parts::TablePart;
pub use reader::{Batch, Reader, Rows};
pub use runs::{AnnouncedRange, CommitEdges};
pub use schema_version::MigrateError;
pub use statistics::{TokenProgress, TokenStep};
pub use stored::{COMPARED_TABLES, Compared, StoredRange, TableDifference};
pub use tokens::UnfetchedToken;
pub use writer::Writer;
