//! What clients may take at the same time: slots for reads, computations, scans and slow readers, and memory
//! (docs/operate/limits.md). What does not fit waits for a bounded time in a bounded queue, or is refused.

mod budget;
mod gate;
mod memory;
mod portion;
mod rates;
mod scans;
mod slots;

use trawl_serve::{Client, Full, LogLimiter};

pub(crate) use budget::{BudgetShare, ClientBudget};
pub(crate) use gate::{Gate, GateFigures};
pub(crate) use memory::{Memory, MemoryReservation};
pub(crate) use rates::{Allowance, RateLimits};
pub(crate) use scans::{ScanSlot, Scans};
pub(crate) use slots::Slot;
use slots::SlotPool;

use crate::error::Problem;
use crate::options::{LimitSettings, SocketSettings};

/// Most answers whose clients take them slowly, in all and of one client.
const MAX_SLOW: u64 = 16;
const MAX_SLOW_OF_CLIENT: u64 = 4;
/// Most statements of visitors, in all and of one client.
const MAX_STATEMENTS: u64 = 32;
const MAX_STATEMENTS_OF_CLIENT: u64 = 8;
/// Most calls of batches that are made before their turn, in all and of one client. Without a slot they wait for it.
const MAX_EARLY_CALLS: u64 = 64;
const MAX_EARLY_CALLS_OF_CLIENT: u64 = 16;
/// Computations that wait for a core, for each that runs.
const WAITING_PER_CORE: usize = 64;

/// Proofs of receipts in the making, which hold the receipts of a block, and those that wait.
const PROOFS: usize = 4;
const WAITING_PROOFS: usize = 64;

/// The limits that all requests to a chain share, and in part those to other chains of this server.
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
    /// Connections that stay open.
    pub sockets: ClientBudget,
    /// Calls of batches that are made before their turn.
    pub early_calls: ClientBudget,
    /// Statements of visitors.
    statements: ClientBudget,
    slow: ClientBudget,
}

impl Limits {
    /// Nothing is taken.
    pub fn new(settings: &LimitSettings, sockets: SocketSettings) -> Self {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let chains = settings.chains;
        let gate = |what, slots, queue| {
            Gate::new(what, SlotPool::new(slots, chains), SlotPool::new(queue, chains), settings.queue_timeout)
        };
        Self {
            reads: gate("reads", settings.reads, settings.queue),
            computing: gate("computations", cores, cores * WAITING_PER_CORE),
            proofs: gate("proofs", PROOFS, WAITING_PROOFS),
            scans: Scans::new(settings),
            bodies: Memory::new("bodies", settings.body_memory, chains),
            answers: Memory::new("answers", settings.answer_memory, chains),
            sockets: ClientBudget::new(sockets.connections.into(), sockets.connections_per_client.into(), chains),
            early_calls: ClientBudget::new(MAX_EARLY_CALLS, MAX_EARLY_CALLS_OF_CLIENT, chains),
            statements: ClientBudget::new(MAX_STATEMENTS, MAX_STATEMENTS_OF_CLIENT, chains),
            slow: ClientBudget::new(MAX_SLOW, MAX_SLOW_OF_CLIENT, chains),
        }
    }

    /// The limits of another chain, which shares with this one what is shared; nothing of its own is taken.
    pub fn of_another_chain(&self) -> Self {
        Self {
            reads: self.reads.of_another_chain(),
            computing: self.computing.of_another_chain(),
            proofs: self.proofs.of_another_chain(),
            scans: self.scans.of_another_chain(),
            bodies: self.bodies.of_another_chain(),
            answers: self.answers.of_another_chain(),
            sockets: self.sockets.of_another_chain(),
            early_calls: self.early_calls.of_another_chain(),
            statements: self.statements.of_another_chain(),
            slow: self.slow.of_another_chain(),
        }
    }

    /// How full each gate is.
    pub fn gates(&self) -> [GateFigures; 4] {
        [self.reads.figures(), self.computing.figures(), self.proofs.figures(), self.scans.figures()]
    }

    /// A slot for a statement of a visitor.
    ///
    /// # Errors
    ///
    /// When there are too many of them, of the client or in all.
    pub fn take_statement(&self, client: Client) -> Result<BudgetShare, Problem> {
        self.statements.take(client, 1).map_err(|full| refused("statements", Some(client), full))
    }

    /// A slot for an answer whose client takes it slowly, which holds a statement and memory all the while.
    ///
    /// # Errors
    ///
    /// When there are too many of them.
    pub fn acquire_slow_slot(&self, client: Client) -> Result<BudgetShare, Problem> {
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
        tracing::warn!(client, what, limit = full.name(), count, "refusing requests above the limit");
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
