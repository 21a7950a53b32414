//! A number of connections, or of bytes, shared by all clients: so many in all, and so many for each client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::client::Client;

/// Why nothing more is given out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The client has as much as one may have.
    #[error("this client has as much as one client may have")]
    Client,
    /// All clients together have as much as there is.
    #[error("all clients together have as much as there is")]
    All,
}

impl Full {
    /// The label of a metric.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::All => "all",
        }
    }
}

/// So many connections or bytes.
#[derive(Debug)]
pub struct Quota {
    most: u64,
    most_of_client: u64,
    taken: Mutex<QuotaUsage>,
}

/// What is taken. Clients that have nothing have no entry, so memory is bounded by the quota.
#[derive(Debug, Default)]
struct QuotaUsage {
    all: u64,
    clients: HashMap<Client, u64>,
}

impl Quota {
    /// At most `most` in all, and `most_of_client` for each client.
    #[must_use]
    pub fn new(most: u64, most_of_client: u64) -> Arc<Self> {
        Arc::new(Self { most, most_of_client, taken: Mutex::default() })
    }

    /// Takes nothing yet: a share that can grow.
    #[must_use]
    pub fn open(self: &Arc<Self>, client: Client) -> QuotaShare {
        QuotaShare { quota: Arc::clone(self), client, amount: 0 }
    }

    /// Takes `amount` for a client, at once or not at all.
    ///
    /// # Errors
    ///
    /// When the client or all clients together would have too much.
    pub fn take(self: &Arc<Self>, client: Client, amount: u64) -> Result<QuotaShare, Full> {
        let mut share = self.open(client);
        share.grow(amount)?;
        Ok(share)
    }

    /// What is taken by all clients.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.lock().all
    }

    fn lock(&self) -> MutexGuard<'_, QuotaUsage> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client has of a quota. It is given back when this is dropped.
#[derive(Debug)]
pub struct QuotaShare {
    quota: Arc<Quota>,
    client: Client,
    amount: u64,
}

impl QuotaShare {
    /// Takes so much more.
    ///
    /// # Errors
    ///
    /// When the client or all clients together would have too much; the share is what it was then.
    pub fn grow(&mut self, more: u64) -> Result<(), Full> {
        if more == 0 {
            return Ok(());
        }
        let mut taken = self.quota.lock();
        let of_client = taken.clients.get(&self.client).copied().unwrap_or_default();
        if of_client.saturating_add(more) > self.quota.most_of_client {
            return Err(Full::Client);
        }
        if taken.all.saturating_add(more) > self.quota.most {
            return Err(Full::All);
        }
        taken.all += more;
        taken.clients.insert(self.client, of_client + more);
        self.amount += more;
        Ok(())
    }

    /// Whose it is.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client
    }

    /// How much this is.
    #[must_use]
    pub fn amount(&self) -> u64 {
        self.amount
    }
}

impl Drop for QuotaShare {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut taken = self.quota.lock();
        taken.all -= self.amount;
        let Some(left) = taken.clients.get_mut(&self.client) else { return };
        *left -= self.amount;
        if *left == 0 {
            taken.clients.remove(&self.client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Client {
        Client::of(text.parse().expect("an address"))
    }

    #[test]
    fn a_client_and_all_clients_have_their_limits() {
        let quota = Quota::new(10, 6);
        let first = quota.take(client("10.0.0.1"), 6).expect("room");
        assert_eq!(quota.take(client("10.0.0.1"), 1).map(drop), Err(Full::Client));
        let mut second = quota.take(client("10.0.0.2"), 3).expect("room");
        assert_eq!(second.grow(2), Err(Full::All));
        assert_eq!((second.grow(1), second.amount(), quota.taken()), (Ok(()), 4, 10));
        drop(first);
        assert_eq!(quota.taken(), 4);
        drop(second);
        assert!(quota.lock().clients.is_empty(), "clients that left are forgotten");
    }
}
