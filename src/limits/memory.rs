//! A budget of memory.

use bytes::Bytes;
use trawl_serve::Client;

use super::budget::{BudgetShare, ClientBudget};
use super::refused;
use crate::error::Problem;

/// Bytes up to which a body or an answer counts nothing: the limit of connections bounds those.
const SMALL: u64 = 64 << 10;

/// So many bytes; each client may have half of them.
pub(crate) struct Memory {
    what: &'static str,
    budget: ClientBudget,
}

impl Memory {
    /// A budget of `bytes` of which nothing is taken, for so many chains: this is that of one of them.
    pub fn new(what: &'static str, bytes: u64, chains: usize) -> Self {
        Self { what, budget: ClientBudget::new(bytes, bytes / 2, chains) }
    }

    /// That of another chain.
    pub fn of_another_chain(&self) -> Self {
        Self { what: self.what, budget: self.budget.of_another_chain() }
    }

    /// Nothing yet, for a text whose length is not known.
    pub fn open(&self, client: Client) -> MemoryReservation {
        MemoryReservation { what: self.what, share: self.budget.open(client) }
    }

    /// Memory for a text of so many bytes.
    ///
    /// # Errors
    ///
    /// When it does not fit, so that it must not be held.
    pub fn hold(&self, client: Client, bytes: usize) -> Result<MemoryReservation, Problem> {
        let mut held = self.open(client);
        held.grow_to(bytes)?;
        Ok(held)
    }

    /// What this chain has, in bytes.
    pub fn taken(&self) -> u64 {
        self.budget.taken()
    }
}

/// Memory that is taken, and given back when this is dropped.
pub(crate) struct MemoryReservation {
    what: &'static str,
    share: BudgetShare,
}

impl MemoryReservation {
    /// Grows to the memory that a text of this size needs. Each byte counts twice: a body is held as text and as the
    /// calls in it, a message as text and as the frame being sent.
    ///
    /// # Errors
    ///
    /// When it does not fit.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), Problem> {
        let size = u64::try_from(bytes).unwrap_or(u64::MAX);
        if size <= SMALL {
            return Ok(());
        }
        let more = size.saturating_mul(2).saturating_sub(self.share.amount());
        let client = self.share.client();
        self.share.grow(more).map_err(|full| refused(self.what, Some(client), full))
    }

    /// Bytes that hold this until they are dropped.
    pub fn with(self, bytes: Bytes) -> Bytes {
        if self.share.amount() == 0 {
            return bytes;
        }
        struct Text(Bytes, #[expect(dead_code, reason = "it is dropped with the bytes")] MemoryReservation);
        impl AsRef<[u8]> for Text {
            fn as_ref(&self) -> &[u8] {
                &self.0
            }
        }
        Bytes::from_owner(Text(bytes, self))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn memory_is_taken_before_it_is_held_and_given_back_after() {
        let memory = Memory::new("tests", 8 << 20, 1);
        let client = |last| Client::of(Ipv4Addr::new(10, 0, 0, last).into());
        let small = memory.hold(client(1), 64 << 10).expect("room");
        assert_eq!(memory.taken(), 0, "small ones count nothing");
        let mut held = memory.hold(client(1), 1 << 20).expect("room");
        assert_eq!(held.grow_to(3 << 20), Err(Problem::TooMuchAtOnce), "half is for one client");
        held.grow_to(2 << 20).expect("room");
        let _other = memory.hold(client(2), 2 << 20).expect("room");
        assert_eq!(memory.hold(client(3), 1 << 20).err(), Some(Problem::Busy));
        let bytes = held.with(Bytes::from_static(b"[]"));
        let part = bytes.slice(1..);
        drop((bytes, small));
        assert_eq!(memory.taken(), 8 << 20);
        drop(part);
        assert_eq!(memory.taken(), 4 << 20);
    }
}
