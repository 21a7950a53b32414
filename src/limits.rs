//! What clients may take at the same time: slots for reads, computations, scans and slow readers, and memory
//! (docs/operate/limits.md). What does not fit waits for a bounded time in a bounded queue, or is refused.

mod gate;
mod memory;
mod rates;
mod scans;

use std::sync::Arc;

use trawl_serve::{Client, Full, LogLimiter, Quota, QuotaShare};

pub(crate) use gate::{Gate, GateFigures};
pub(crate) use memory::{Memory, MemoryReservation};
pub(crate) use rates::{Allowance, RateLimits};
pub(crate) use scans::{ScanSlot, Scans};

use crate::error::Problem;
use crate::options::LimitSettings;

/// Most answers whose clients take them slowly, in all and of one client.
const MAX_SLOW: u64 = 16;
const MAX_SLOW_OF_CLIENT: u64 = 4;
/// Computations that wait for a core, for each that runs.
const WAITING_PER_CORE: usize = 64;

/// Proofs of receipts in the making, which hold the receipts of a block, and those that wait.
const PROOFS: usize = 4;
const WAITING_PROOFS: usize = 64;

/// The limits that all requests share.
pub(crate) struct Limits {
    /// Reads that end soon: lists and calls.
    pub reads: Gate,
    /// Computations, one for each core.
    pub computing: Gate,
    /// Proofs of receipts.
    pub proofs: Gate,
    /// Wide scans, which read for long.
    pub scans: Scans,
    /// Bodies of requests.
    pub bodies: Memory,
    /// Answers that are whole in memory.
    pub answers: Memory,
    slow: Arc<Quota>,
}

impl Limits {
    /// Nothing is taken.
    pub fn new(settings: &LimitSettings) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let queue_timeout = settings.queue_timeout;
        Self {
            reads: Gate::new("reads", settings.reads, settings.queue, queue_timeout),
            computing: Gate::new("computations", cores, cores * WAITING_PER_CORE, queue_timeout),
            proofs: Gate::new("proofs", PROOFS, WAITING_PROOFS, queue_timeout),
            scans: Scans::new(settings),
            bodies: Memory::new("bodies", settings.body_memory),
            answers: Memory::new("answers", settings.answer_memory),
            slow: Quota::new(MAX_SLOW, MAX_SLOW_OF_CLIENT),
        }
    }

    /// How full each gate is.
    pub fn gates(&self) -> [GateFigures; 4] {
        [self.reads.figures(), self.computing.figures(), self.proofs.figures(), self.scans.figures()]
    }

    /// A slot for an answer whose client takes it slowly, which holds a statement and memory all the while.
    ///
    /// # Errors
    ///
    /// When there are too many of them.
    pub fn be_slow(&self, client: Client) -> Result<QuotaShare, Problem> {
        self.slow.take(client, 1).map_err(|full| refused("slow", Some(client), full))
    }
}

/// Refusals in the log.
static LINES: LogLimiter = LogLimiter::new();

/// Counts something that a client is refused, and says so once in a while; `None` where no single client caused it.
pub(crate) fn count_refused(what: &'static str, client: Option<Client>, full: Full) {
    metrics::counter!("trawl_refused_total", "what" => what, "limit" => full.name()).increment(1);
    if let Some(count) = LINES.admit() {
        let client = client.map(tracing::field::display);
        tracing::warn!(client, what, limit = full.name(), count, "refusing requests beyond the limit");
    }
}

/// The problem of a client that is refused, which is counted.
fn refused(what: &'static str, client: Option<Client>, full: Full) -> Problem {
    count_refused(what, client, full);
    match full {
        Full::Client => Problem::TooMuchAtOnce,
        Full::All => Problem::Busy,
    }
}
