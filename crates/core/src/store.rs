//! Floor 2: the only module that talks to ClickHouse. It sends statements and receives record batches, and the reverse.

pub(crate) mod client;
mod cluster;
mod dictionary;
mod error;
mod head;
pub(crate) mod integrity;
pub(crate) mod ledger;
mod reader;
pub(crate) mod schema;
mod writer;

pub use client::address::{Compression, StoreAddress};
pub use client::addresses::Lag;
pub use client::connection::Batch;
pub use client::failover::EndpointStatus;
pub use client::rows::Rows;
pub use cluster::{ClusterError, ClusterLayout, NodeStatement, Shard, StatementNodes, statements_of_new_database};
pub use error::StoreError;
pub use head::Head;
pub use head::watch::{HeadSettings, HeadWatch};
pub use integrity::damage::{Damage, DamagedTable, REPAIR_RUNS, tables_of_part};
pub use integrity::missing_columns::{LackingColumn, VerdictCount};
pub use integrity::parts::TablePart;
pub use integrity::repair::BrokenPart;
pub use integrity::stored::{COMPARED_TABLES, RowComparison, StoredRange, TableDifference};
pub use ledger::fill::{BlockHash, FILL_RUNS, TracedContract};
pub use ledger::follow_reports::{FollowReport, FullDisk, NewReport};
pub use ledger::hot::{FollowRate, GenerationRange, OrphanedHotRows};
pub use ledger::labels::{CurrentLabel, StoredEvent, StoredFunction};
pub use ledger::leases::{Claimant, LeaseEvent, LiveLease};
pub use ledger::runs::{AnnouncedRange, CommitEdges};
pub use ledger::statistics::{TokenProgress, TokenStep};
pub use ledger::tokens::{TokenSelection, UnfetchedToken};
pub use reader::Reader;
pub use schema::left_out::Choice;
pub use schema::version::MigrateError;
pub use writer::Writer;
