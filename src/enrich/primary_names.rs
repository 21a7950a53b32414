//! Primary names of addresses that were verified: by the view under which they were, and for lists a while longer.

use std::sync::Arc;
use std::time::Duration;

use moka::sync::Cache;

use crate::cache::generations::GenerationCache;
use trawl_core::primitives::Address;
use trawl_core::store::Head;

/// Most bytes of each of the caches.
const MAX_CACHE_BYTES: u64 = 4 << 20;
/// How long lists show a name after it was verified.
const SHOWN_IN_LISTS: Duration = Duration::from_secs(300);
/// Bytes of an entry beside its name.
const ENTRY_OVERHEAD: usize = 160;

/// The caches, at most 2 × 4 MiB.
pub(crate) struct PrimaryNames {
    by_view: GenerationCache<Address, Option<Arc<str>>>,
    verified: Cache<Address, Arc<str>>,
}

impl PrimaryNames {
    /// Caches that hold no name yet.
    pub fn new() -> Self {
        let weight = |_: &Address, name: &Arc<str>| u32::try_from(ENTRY_OVERHEAD + name.len()).unwrap_or(u32::MAX);
        let verified = Cache::builder().max_capacity(MAX_CACHE_BYTES).weigher(weight).time_to_live(SHOWN_IN_LISTS);
        Self { by_view: GenerationCache::new(MAX_CACHE_BYTES), verified: verified.build() }
    }

    /// What was found under the view of `head`; the inner `None` if there is no name.
    pub fn known(&self, head: &Head, address: Address) -> Option<Option<Arc<str>>> {
        self.by_view.get(head.view, address)
    }

    /// The name that was verified lately.
    pub fn verified_lately(&self, address: &Address) -> Option<Arc<str>> {
        self.verified.get(address)
    }

    /// Keeps what was found under the view of `head`.
    pub fn keep(&self, head: &Head, address: Address, name: Option<Arc<str>>) {
        match &name {
            Some(name) => self.verified.insert(address, Arc::clone(name)),
            None => self.verified.invalidate(&address),
        }
        self.by_view.insert(head.view, address, name.as_deref().map_or(0, str::len), name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_gone_is_shown_nowhere() {
        let (names, address) = (PrimaryNames::new(), Address::repeat_byte(1));
        let (mut first, mut second) = (Head::default(), Head::default());
        (first.view, second.view) = (1, 2);
        names.keep(&first, address, Some("a.eth".into()));
        assert_eq!(names.known(&second, address), None);
        assert_eq!(names.verified_lately(&address).as_deref(), Some("a.eth"));
        names.keep(&second, address, None);
        assert_eq!((names.known(&second, address), names.verified_lately(&address)), (Some(None), None));
    }
}
