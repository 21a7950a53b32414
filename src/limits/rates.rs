//! Rate limits of requests, by address or by API key (docs/operate/limits.md#rates).

mod allowance;
mod bucket;

use std::collections::HashMap;
use std::sync::Arc;

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use trawl_serve::Client;

pub(crate) use allowance::Allowance;
use bucket::Bucket;

use crate::options::rates::{KeyDigest, Rate, RateSettings};

/// Most addresses whose requests are counted: some 20 MB. Beyond them the least recently used one is evicted, as are
/// those whose buckets are full again.
const MAX_ADDRESSES: u64 = 65_536;

/// The buckets of addresses and keys.
pub(crate) struct RateLimits {
    of_address: Rate,
    addresses: Cache<Client, Arc<Bucket>>,
    keys: HashMap<KeyDigest, Holder>,
}

/// Whose requests are counted together.
#[derive(Clone)]
struct Holder {
    /// The name of a key; `None` of an address.
    key: Option<Arc<str>>,
    /// `None` of a key without limit.
    bucket: Option<Arc<Bucket>>,
}

impl RateLimits {
    /// No request was counted yet.
    pub fn new(settings: &RateSettings) -> Arc<Self> {
        let addresses = Cache::builder()
            .max_capacity(MAX_ADDRESSES)
            // New addresses are always admitted, unlike under the default policy.
            .eviction_policy(EvictionPolicy::lru())
            // By then the bucket is full, as a new one.
            .time_to_idle(settings.of_address.period())
            .build();
        let holder = |key: &crate::options::rates::ApiKey| Holder {
            key: Some(key.name.as_str().into()),
            bucket: key.rate.map(|rate| Arc::new(Bucket::full(rate))),
        };
        let keys = settings.keys.iter().map(|key| (key.digest, holder(key))).collect();
        Arc::new(Self { of_address: settings.of_address, addresses, keys })
    }

    /// The allowance of a request of a client; nothing is taken yet.
    pub fn open(self: &Arc<Self>, client: Client) -> Allowance {
        Allowance::of(Arc::clone(self), client)
    }

    /// Who is counted for a request. A key that is not known counts for nothing.
    fn holder(&self, client: Client, key: Option<&str>) -> Holder {
        let with_key = key.and_then(|key| self.keys.get(&KeyDigest::of(key)));
        with_key.cloned().unwrap_or_else(|| Holder {
            key: None,
            bucket: Some(self.addresses.get_with(client, || Arc::new(Bucket::full(self.of_address)))),
        })
    }

    /// Addresses whose requests are counted.
    pub fn addresses(&self) -> u64 {
        self.addresses.run_pending_tasks();
        self.addresses.entry_count()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn limits(rate: &str) -> Arc<RateLimits> {
        RateLimits::new(&RateSettings { of_address: rate.parse().expect("a rate"), keys: Vec::new() })
    }

    /// Each address is counted, and the number of buckets has a bound.
    #[test]
    fn a_hundred_thousand_addresses_do_not_grow_it() {
        let limits = limits("1/1h");
        for number in 0..100_000u32 {
            let client = Client::of(Ipv4Addr::from_bits(number).into());
            assert!(limits.open(client).charge(None).is_ok());
            assert!(limits.open(client).charge(None).is_err(), "{client}");
        }
        assert_eq!(limits.addresses(), MAX_ADDRESSES);
    }

    #[test]
    fn an_address_that_is_idle_is_forgotten() {
        let limits = limits("1/50ms");
        assert!(limits.open(Client::of(Ipv4Addr::LOCALHOST.into())).charge(None).is_ok());
        assert_eq!(limits.addresses(), 1);
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert_eq!(limits.addresses(), 0);
    }
}
