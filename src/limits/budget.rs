//! A budget of a chain, of which each client may have a part: its own, and what it shares with other chains of this
//! server.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trawl_serve::{Client, Full, Quota, QuotaShare};

use super::portion::Portion;

/// So many bytes or connections that requests of one chain take.
pub(crate) struct ClientBudget {
    most: u64,
    most_of_client: u64,
    portion: Portion,
    own: Arc<Quota>,
    /// None where the server has one chain.
    shared: Option<Arc<Quota>>,
    taken: Arc<AtomicU64>,
}

/// What a client has of a budget. It is given back when this is dropped.
pub(crate) struct BudgetShare {
    own: QuotaShare,
    shared: Option<QuotaShare>,
    taken: Arc<AtomicU64>,
}

impl ClientBudget {
    /// At most `most` for so many chains, and `most_of_client` for each client: this is the budget of one of them.
    pub fn new(most: u64, most_of_client: u64, chains: usize) -> Self {
        let portion = Portion::of(most, chains);
        let shared = (chains > 1).then(|| Quota::new(portion.shared, most_of_client));
        Self::with(most, most_of_client, portion, shared)
    }

    /// The budget of another chain, which shares with this one what is shared.
    pub fn of_another_chain(&self) -> Self {
        Self::with(self.most, self.most_of_client, self.portion, self.shared.clone())
    }

    fn with(most: u64, most_of_client: u64, portion: Portion, shared: Option<Arc<Quota>>) -> Self {
        // A client has the same part of what is the chain's own.
        let of_client = u128::from(most_of_client) * u128::from(portion.own) / u128::from(most.max(1));
        let of_client = u64::try_from(of_client).unwrap_or(u64::MAX).max(u64::from(most_of_client > 0));
        let own = Quota::new(portion.own, of_client);
        Self { most, most_of_client, portion, own, shared, taken: Arc::default() }
    }

    /// Nothing yet: a share that can grow.
    pub fn open(&self, client: Client) -> BudgetShare {
        let shared = self.shared.as_ref().map(|quota| quota.open(client));
        BudgetShare { own: self.own.open(client), shared, taken: Arc::clone(&self.taken) }
    }

    /// Takes `amount` for a client, at once or not at all.
    ///
    /// # Errors
    ///
    /// When the client or all clients together would have too much.
    pub fn take(&self, client: Client, amount: u64) -> Result<BudgetShare, Full> {
        let mut share = self.open(client);
        share.grow(amount)?;
        Ok(share)
    }

    /// What this chain has.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }
}

impl BudgetShare {
    /// Takes so much more, of the chain's own if it is there.
    ///
    /// # Errors
    ///
    /// When the client or all clients together would have too much; the share is what it was then.
    pub fn grow(&mut self, more: u64) -> Result<(), Full> {
        let outcome = self.own.grow(more);
        match (outcome, &mut self.shared) {
            (Err(_), Some(shared)) => shared.grow(more)?,
            (outcome, _) => outcome?,
        }
        self.taken.fetch_add(more, Ordering::Relaxed);
        Ok(())
    }

    /// Whose it is.
    pub fn client(&self) -> Client {
        self.own.client()
    }

    /// How much this is.
    pub fn amount(&self) -> u64 {
        self.own.amount() + self.shared.as_ref().map_or(0, QuotaShare::amount)
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.amount(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn client(last: u8) -> Client {
        Client::of(Ipv4Addr::new(10, 0, 0, last).into())
    }

    #[test]
    fn a_chain_that_takes_what_it_can_leaves_another_its_own() {
        let flooded = ClientBudget::new(80, 40, 2);
        let other = flooded.of_another_chain();
        let taken: Vec<BudgetShare> = (0..40).filter_map(|last| flooded.take(client(last), 2).ok()).collect();
        assert_eq!((taken.len(), flooded.taken()), (30, 60));
        let first = other.take(client(1), 10).expect("half of what is its own");
        assert_eq!(other.take(client(1), 1).map(drop), Err(Full::All), "what is shared is gone");
        let mut second = other.take(client(2), 5).expect("the other half");
        second.grow(5).expect("all of it");
        assert_eq!((other.taken(), second.amount()), (20, 10));
        drop((taken, first));
        assert_eq!((flooded.taken(), other.taken()), (0, 10));
    }

    /// A text that takes what one client may have still fits.
    #[test]
    fn a_client_may_have_as_much_at_once_as_without_other_chains() {
        for chains in 1..10 {
            let budget = ClientBudget::new(256, 128, chains);
            assert!(budget.take(client(1), 128).is_ok(), "{chains}");
        }
    }
}
