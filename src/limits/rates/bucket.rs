//! A token bucket: full at first, each request takes a token, and tokens come back evenly.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

use crate::options::rates::Rate;

/// The requests of one address or key.
pub(super) struct Bucket {
    rate: Rate,
    limiter: RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>,
}

/// What a bucket has after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BucketLevel {
    /// Tokens of a full one.
    pub limit: u32,
    /// Tokens that are left.
    pub remaining: u32,
    /// The longest until it is full again.
    pub full_in: Duration,
}

/// Tokens that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RateExceeded {
    /// They will be, after this time.
    RetryAfter(Duration),
    /// There are never so many.
    AboveBurst,
}

impl Bucket {
    pub fn full(rate: Rate) -> Self {
        let requests = rate.requests();
        // A period is at least a nanosecond for each request: both have bounds.
        let quota = Quota::with_period(Self::interval(rate))
            .unwrap_or_else(|| Quota::per_second(requests))
            .allow_burst(requests);
        Self { rate, limiter: RateLimiter::direct(quota).with_middleware() }
    }

    /// The time after which a token comes back.
    fn interval(rate: Rate) -> Duration {
        (rate.period() / rate.requests().get()).max(Duration::from_nanos(1))
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Takes so many tokens, all or none.
    pub fn take(&self, tokens: NonZeroU32) -> Result<BucketLevel, RateExceeded> {
        match self.limiter.check_n(tokens) {
            Ok(Ok(state)) => Ok(self.level(state.remaining_burst_capacity())),
            Ok(Err(until)) => Err(RateExceeded::RetryAfter(until.wait_time_from(DefaultClock::default().now()))),
            Err(_) => Err(RateExceeded::AboveBurst),
        }
    }

    /// With so many tokens left.
    pub fn level(&self, remaining: u32) -> BucketLevel {
        let limit = self.rate.requests().get();
        BucketLevel { limit, remaining, full_in: Self::interval(self.rate) * limit.saturating_sub(remaining) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_taken_together_and_come_back_one_by_one() {
        let bucket = Bucket::full("4/400ms".parse().expect("a rate"));
        let take = |tokens| bucket.take(NonZeroU32::new(tokens).expect("some"));
        assert_eq!(take(5), Err(RateExceeded::AboveBurst));
        assert_eq!(take(3), Ok(BucketLevel { limit: 4, remaining: 1, full_in: Duration::from_millis(300) }));
        let Err(RateExceeded::RetryAfter(wait)) = take(2) else { panic!("there is one") };
        assert!(!wait.is_zero() && wait <= Duration::from_millis(100), "{wait:?}");
        std::thread::sleep(wait);
        assert!(take(2).is_ok());
    }
}
