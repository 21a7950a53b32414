//! Slots of wide scans.

use std::sync::Arc;

use trawl_serve::{Client, Quota, QuotaShare};

use super::slots::{Slot, SlotPool};
use super::{Gate, GateFigures, refused};
use crate::error::Problem;
use crate::options::LimitSettings;

/// Scans that wait for a slot, for each that runs.
const WAITING_PER_SCAN: usize = 4;

/// So many scans at a time, with a queue; and so many of each client, those that wait among them.
pub(crate) struct Scans {
    clients: Arc<Quota>,
    gate: Gate,
}

/// The slot of a scan, until this is dropped.
pub(crate) struct ScanSlot {
    _share: QuotaShare,
    _slot: Slot,
}

impl Scans {
    /// So many slots, none of which is taken.
    pub fn new(settings: &LimitSettings) -> Self {
        let queue = settings.scans * WAITING_PER_SCAN;
        let most = u64::try_from(settings.scans + queue).unwrap_or(u64::MAX);
        let of_client = u64::try_from(settings.scans_per_client).unwrap_or(u64::MAX);
        let pool = |most| SlotPool::new(most, settings.chains);
        Self {
            clients: Quota::new(most, of_client),
            gate: Gate::new("scans", pool(settings.scans), pool(queue), settings.queue_timeout),
        }
    }

    /// Those of another chain; what a client may have is for all chains.
    pub fn of_another_chain(&self) -> Self {
        Self { clients: Arc::clone(&self.clients), gate: self.gate.of_another_chain() }
    }

    /// How many run, and how many wait.
    pub fn figures(&self) -> GateFigures {
        self.gate.figures()
    }

    /// A slot for a scan.
    ///
    /// # Errors
    ///
    /// [`Problem::TooMuchAtOnce`] when the client has as many as it may have, [`Problem::Busy`] when there are too many
    /// in all.
    pub async fn enter(&self, client: Client) -> Result<ScanSlot, Problem> {
        let share = self.clients.take(client, 1).map_err(|full| refused("scans", Some(client), full))?;
        Ok(ScanSlot { _share: share, _slot: self.gate.enter().await? })
    }
}
