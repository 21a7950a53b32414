//! The flags of bounds: slots of statements, slow clients, and what a reader may use.

use std::num::NonZero;
use std::thread::available_parallelism;
use std::time::Duration;

use clap::Args;
use trawl_engine::execute::admission::{SlotLimits, WorkloadLimits};
use trawl_engine::execute::workload::Workload;
use trawl_engine::sql::limits::ReaderLimits;

/// How many statements run at a time, and how long clients may take.
#[derive(Debug, Args)]
pub struct SlotFlags {
    /// Maximum number of statements that write, or that read with `workload=ingest`, at the same time.
    #[arg(long, env = "TRAWL_INGEST_STATEMENTS", default_value_t = 16, help_heading = "Slots",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub ingest_statements: u32,
    /// Maximum number of the owner's other reads at the same time [default: 16 per core, 32 to 128].
    #[arg(long, alias = "max-statements", env = "TRAWL_SHORT_STATEMENTS", help_heading = "Slots",
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub short_statements: Option<u32>,
    /// Maximum number of reads with `workload=call` at the same time [default: 4 per core, 8 to 64].
    #[arg(long, env = "TRAWL_CALL_STATEMENTS", help_heading = "Slots",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub call_statements: Option<u32>,
    /// Maximum number of reads with `workload=scan` at the same time [default: 8 per core, 16 to 64].
    #[arg(long, env = "TRAWL_SCAN_STATEMENTS", help_heading = "Slots",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub scan_statements: Option<u32>,
    /// Maximum number of readers' statements at the same time [default: one per core, 2 to 16].
    #[arg(long, env = "TRAWL_READER_STATEMENTS", help_heading = "Slots",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub reader_statements: Option<u32>,
    /// Maximum number of statements of one reader at the same time [default: --reader-statements; half of it if there
    /// are several readers].
    #[arg(long, env = "TRAWL_READER_STATEMENTS_EACH", help_heading = "Slots",
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub reader_statements_each: Option<u32>,
    /// How long a statement waits for a slot before it is refused; writes wait six times as long.
    #[arg(long, env = "TRAWL_QUEUE_TIMEOUT", default_value = "10s", value_parser = duration, help_heading = "Slots")]
    pub queue_timeout: Duration,
    /// How long a client may read nothing of its answer before its connection is closed; keep it longer than
    /// --write-timeout of trawl-api.
    #[arg(long, env = "TRAWL_ENGINE_WRITE_TIMEOUT", default_value = "60s", value_parser = duration,
          help_heading = "Slots")]
    pub write_timeout: Duration,
}

impl SlotFlags {
    /// The shares of all workloads.
    #[must_use]
    pub fn shares(&self) -> WorkloadLimits {
        Workload::ALL.map(|workload| {
            let slots = match workload {
                Workload::Ingest => self.ingest_statements,
                Workload::Short => self.short_statements.unwrap_or_else(|| by_cores(16, 32, 128)),
                Workload::Call => self.call_statements.unwrap_or_else(|| by_cores(4, 8, 64)),
                // At least as many as an API sends at a time by default (--max-scans).
                Workload::Scan => self.scan_statements.unwrap_or_else(|| by_cores(8, 16, 64)),
                Workload::Reader => self.reader_statements.unwrap_or_else(|| by_cores(1, 2, 16)),
            };
            let queue = match workload {
                Workload::Short => 1024,
                Workload::Ingest | Workload::Call => 256,
                Workload::Scan => 64,
                Workload::Reader => 32,
            };
            // Who writes would rather wait than repeat.
            let wait = if workload == Workload::Ingest { self.queue_timeout * 6 } else { self.queue_timeout };
            SlotLimits { slots, queue, wait }
        })
    }

    /// Slots that one of so many readers may take.
    #[must_use]
    pub fn of_each_reader(&self, readers: usize) -> u32 {
        let all = self.shares()[Workload::Reader as usize].slots;
        self.reader_statements_each.unwrap_or(if readers > 1 { all.div_ceil(2) } else { all })
    }
}

/// What a statement of the reader may use.
#[derive(Debug, Args)]
pub struct ReaderFlags {
    /// Maximum run time of a reader's statement.
    #[arg(long, env = "TRAWL_READER_TIMEOUT", default_value = "60s", value_parser = duration, help_heading = "Reader")]
    pub reader_timeout: Duration,
    /// Maximum memory of a reader's statement.
    #[arg(long, env = "TRAWL_READER_MEMORY", default_value = "1GiB", value_parser = bytes, help_heading = "Reader")]
    pub reader_memory: NonZero<u64>,
    /// Maximum disk space of a reader's statement, for what does not fit into its memory.
    #[arg(long, env = "TRAWL_READER_DISK", default_value = "4GiB", value_parser = bytes, help_heading = "Reader")]
    pub reader_disk: NonZero<u64>,
    /// Maximum number of rows that a reader's statement may read.
    #[arg(long, env = "TRAWL_READER_ROWS_READ", default_value = "10000000000", help_heading = "Reader")]
    pub reader_rows_read: NonZero<u64>,
    /// Maximum number of bytes, uncompressed, that a reader's statement may read.
    #[arg(long, env = "TRAWL_READER_BYTES_READ", default_value = "1TiB", value_parser = bytes, help_heading = "Reader")]
    pub reader_bytes_read: NonZero<u64>,
    /// Maximum number of rows in the result of a reader's statement.
    #[arg(long, env = "TRAWL_READER_RESULT_ROWS", default_value = "10000000", help_heading = "Reader")]
    pub reader_result_rows: NonZero<u64>,
    /// Maximum size of the result of a reader's statement, in the engine's memory.
    #[arg(long, env = "TRAWL_READER_RESULT_BYTES", default_value = "10GiB", value_parser = bytes, help_heading = "Reader")]
    pub reader_result_bytes: NonZero<u64>,
    /// Maximum number of threads of a reader's statement [default: half of the cores].
    #[arg(long, env = "TRAWL_READER_THREADS", help_heading = "Reader")]
    pub reader_threads: Option<NonZero<u64>>,
}

impl ReaderFlags {
    /// The limits of each statement, with half of the cores where no threads are given.
    #[must_use]
    pub fn limits(&self) -> ReaderLimits {
        ReaderLimits {
            time: self.reader_timeout,
            memory: self.reader_memory.get(),
            disk: self.reader_disk.get(),
            rows_read: self.reader_rows_read.get(),
            bytes_read: self.reader_bytes_read.get(),
            result_rows: self.reader_result_rows.get(),
            result_bytes: self.reader_result_bytes.get(),
            threads: self.reader_threads.map_or_else(|| u64::from(cores().div_ceil(2)), NonZero::get),
        }
    }
}

fn by_cores(each: u32, least: u32, most: u32) -> u32 {
    cores().saturating_mul(each).clamp(least, most)
}

fn cores() -> u32 {
    available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

/// At least a second.
pub(super) fn stop_timeout(text: &str) -> Result<Duration, String> {
    let duration = duration(text)?;
    if duration < Duration::from_secs(1) { Err("must be at least 1s".into()) } else { Ok(duration) }
}

fn duration(text: &str) -> Result<Duration, String> {
    let duration = humantime::parse_duration(text).map_err(|error| format!("{error}: write 500ms, 30s or 5m"))?;
    if duration.is_zero() { Err("must be longer than zero".into()) } else { Ok(duration) }
}

fn bytes(text: &str) -> Result<NonZero<u64>, String> {
    let size: bytesize::ByteSize = text.parse().map_err(|error| format!("{error}: write 512KiB, 64MiB or 2GiB"))?;
    NonZero::new(size.as_u64()).ok_or_else(|| "must be more than zero".into())
}

/// Bytes of the log: none, or enough for a few writes.
pub(super) fn log_size(text: &str) -> Result<u64, String> {
    if text == "0" {
        return Ok(0);
    }
    let size = bytes(text)?.get();
    if size < 1 << 20 { Err("must be 0, or at least 1MiB".into()) } else { Ok(size) }
}
