//! How many requests may come in a time: of an address, and of those who were given a key.

use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

/// Most requests, and the longest time that they may be spread over.
const MAX_REQUESTS: u32 = 10_000_000;
const MAX_PERIOD: Duration = Duration::from_secs(24 * 60 * 60);

/// So many requests in a time: all at once, and then evenly (a token bucket).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    requests: NonZeroU32,
    period: Duration,
}

/// A text that is no rate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate: write REQUESTS/TIME, such as 300/1m, up to 10000000 requests and 24h")]
pub struct RateError(String);

impl Rate {
    /// Most requests at once.
    #[must_use]
    pub fn requests(self) -> NonZeroU32 {
        self.requests
    }

    /// The time after which all of them may come again.
    #[must_use]
    pub fn period(self) -> Duration {
        self.period
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let read = || {
            let (requests, period) = text.split_once('/')?;
            let requests: NonZeroU32 = requests.trim().parse().ok()?;
            let period = trawl_core::flags::units::seconds(period.trim()).ok()?;
            (requests.get() <= MAX_REQUESTS && period <= MAX_PERIOD).then_some(Self { requests, period })
        };
        read().ok_or_else(|| RateError(text.into()))
    }
}

/// The SHA-256 of a key: the program does not hold the key itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyDigest([u8; 32]);

impl KeyDigest {
    /// That of a key.
    #[must_use]
    pub fn of(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// Reads 64 hexadecimal digits.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        const_hex::decode_to_array(text).ok().map(Self)
    }
}

impl std::fmt::Debug for KeyDigest {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("KeyDigest")
    }
}

/// The holder of an API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// What the log calls them.
    pub name: String,
    /// The hash of their key.
    pub digest: KeyDigest,
    /// Their requests; `None` for as many as they like.
    pub rate: Option<Rate>,
}

/// How many requests are answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RateSettings {
    /// Those of an address, without a key.
    pub of_address: Rate,
    /// Who has a key.
    pub keys: Vec<ApiKey>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_requests_in_a_time() {
        let read = |text: &str| text.parse::<Rate>().ok().map(|rate| (rate.requests().get(), rate.period().as_secs()));
        assert_eq!(read("300/1m"), Some((300, 60)));
        assert_eq!(read("5 / 1s"), Some((5, 1)));
        assert_eq!(read("100000/24h"), Some((100_000, 86_400)));
        for bad in ["", "300", "0/1m", "-1/1m", "5/0s", "5/s", "10000001/1m", "1/25h", "5/1m/2"] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
