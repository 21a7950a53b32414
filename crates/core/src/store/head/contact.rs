//! When the store was heard of last.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::store::StoreError;

/// The longest that a busy store leaves a small read without an answer.
const MAX_SILENCE: Duration = Duration::from_secs(15);

/// What the last reads say of the store.
#[derive(Debug, Default)]
pub(crate) struct Contact(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    heard: Option<Instant>,
    is_refused: bool,
}

impl Contact {
    /// Notes how a read ended. An error of the store is a sign of life too.
    pub fn note(&self, error: Option<&StoreError>) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_refused = error.is_some_and(StoreError::is_unreachable);
        if !last.is_refused {
            last.heard = Some(Instant::now());
        }
    }

    /// Whether the store is away. One that was never heard of is not: it may be starting.
    pub fn is_lost(&self) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.heard.is_some_and(|heard| last.is_refused || heard.elapsed() > MAX_SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_away_when_it_refuses_or_is_silent() {
        let contact = Contact::default();
        contact.note(Some(&StoreError::silent()));
        assert!(!contact.is_lost(), "it may be starting");
        contact.note(None);
        assert!(!contact.is_lost());
        contact.note(Some(&StoreError::silent()));
        assert!(contact.is_lost());
        contact.note(Some(&StoreError::Refused { code: 202, message: "too many".into() }));
        assert!(!contact.is_lost(), "it answers");
        contact.0.lock().expect("no panic").heard = Instant::now().checked_sub(2 * MAX_SILENCE);
        assert!(contact.is_lost());
    }
}
