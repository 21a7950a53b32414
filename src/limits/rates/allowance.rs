//! What one request may take, and what its answer says of that.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use trawl_serve::{Client, LogLimiter};

use super::bucket::{BucketLevel, RateExceeded};
use super::{Holder, RateLimits};
use crate::error::Problem;

/// Refusals in the log.
static LINES: LogLimiter = LogLimiter::new();

/// What a request may take: for itself, and for the calls in it.
#[derive(Clone)]
pub(crate) struct Allowance(Option<Arc<AllowanceState>>);

struct AllowanceState {
    limits: Arc<RateLimits>,
    client: Client,
    holder: OnceLock<Holder>,
    level: Mutex<Option<BucketLevel>>,
}

impl Allowance {
    /// For a request that is not counted.
    pub const UNLIMITED: Self = Self(None);

    pub(super) fn of(limits: Arc<RateLimits>, client: Client) -> Self {
        Self(Some(Arc::new(AllowanceState { limits, client, holder: OnceLock::new(), level: Mutex::default() })))
    }

    /// Counts the request, for its key if that is known.
    ///
    /// # Errors
    ///
    /// [`Problem::TooManyRequests`] when it is one too many.
    pub fn charge(&self, key: Option<&str>) -> Result<(), Problem> {
        let Some(state) = &self.0 else { return Ok(()) };
        state.holder.get_or_init(|| state.limits.holder(state.client, key));
        self.take(1)
    }

    /// Counts so many more calls, for whom the request is counted.
    ///
    /// # Errors
    ///
    /// [`Problem::TooManyRequests`] when there are not so many left; [`Problem::InvalidRequest`] when there never are.
    pub fn take(&self, calls: usize) -> Result<(), Problem> {
        let Some(state) = &self.0 else { return Ok(()) };
        let tokens = NonZeroU32::new(u32::try_from(calls).unwrap_or(u32::MAX));
        let Some((tokens, holder)) = tokens.zip(state.holder.get()) else { return Ok(()) };
        let Some(bucket) = &holder.bucket else { return Ok(()) };
        let mut level = state.level.lock().unwrap_or_else(PoisonError::into_inner);
        match bucket.take(tokens) {
            Ok(left) => {
                *level = Some(left);
                Ok(())
            }
            Err(short) => {
                level.get_or_insert_with(|| bucket.level(0));
                state.log(holder);
                let rate = bucket.rate();
                Err(match short {
                    RateExceeded::RetryAfter(wait) => {
                        let (limit, period) = (rate.requests().get(), rate.period());
                        Problem::TooManyRequests { limit, period, seconds: whole_seconds(wait) }
                    }
                    RateExceeded::AboveBurst => Problem::InvalidRequest(format!(
                        "batch too large: this server answers at most {} calls per client in {}",
                        rate.requests(),
                        humantime::format_duration(rate.period())
                    )),
                })
            }
        }
    }

    /// Whether the request was counted.
    pub fn is_charged(&self) -> bool {
        self.0.as_ref().is_none_or(|state| state.holder.get().is_some())
    }

    /// Says in an answer what is left. An answer without these headers gets those of no limit.
    pub fn show(&self, headers: &mut HeaderMap) {
        let Some(state) = &self.0 else { return };
        let Some(level) = *state.level.lock().unwrap_or_else(PoisonError::into_inner) else { return };
        let milliseconds = u64::try_from(level.full_in.as_micros().div_ceil(1000)).unwrap_or(u64::MAX);
        for (name, value) in [
            ("x-ratelimit-limit", u64::from(level.limit)),
            ("x-ratelimit-remaining", u64::from(level.remaining)),
            ("x-ratelimit-reset", milliseconds),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        }
    }
}

impl AllowanceState {
    fn log(&self, holder: &Holder) {
        let by = if holder.key.is_some() { "key" } else { "address" };
        metrics::counter!("trawl_rate_limited_total", "by" => by).increment(1);
        if let Some(count) = LINES.admit() {
            let (client, key) = (self.client, holder.key.as_deref());
            tracing::warn!(%client, key, count, "refusing requests above the rate limit");
        }
    }
}

/// At least the time, and at least a second.
fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}
