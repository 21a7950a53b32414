//! One node over HTTP: batches of calls, told apart into answers, refusals and failures worth another try.

use std::future::Future;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use reqwest::header::RETRY_AFTER;
use reqwest::{Client, StatusCode, Url};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::source::SourceError;

/// JSON-RPC: the node does not have the method.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// Calls in one HTTP request; hosted nodes commonly refuse more than 100.
pub(super) const MAX_BATCH: usize = 50;
/// How long one request may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// How often something is asked for; with the pauses between, about a minute.
const ATTEMPTS: usize = 10;

/// What a call answered.
pub(super) type Answer = Result<Box<RawValue>, CallError>;

/// A JSON-RPC error object.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct CallError {
    pub code: i64,
    #[serde(default)]
    pub message: String,
}

/// Why an attempt failed.
#[derive(Debug)]
pub(super) struct Failure {
    cause: String,
    /// Asking again will not help.
    is_final: bool,
    /// The node said when to come back.
    retry_after: Option<Duration>,
}

impl Failure {
    pub fn transient(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_final: false, retry_after: None }
    }

    pub fn last(cause: impl Into<String>) -> Self {
        Self { cause: cause.into(), is_final: true, retry_after: None }
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let cause = format!("error {}: {}", error.code, error.message);
        // Wrong method or arguments stay wrong; everything else (overload, not yet synced) may pass.
        if matches!(error.code, -32601 | -32600) { Self::last(cause) } else { Self::transient(cause) }
    }
}

/// A node.
#[derive(Debug, Clone)]
pub struct NodeClient {
    http: Client,
    url: Url,
    /// Scheme, host and port: paths and queries hold keys and are never shown.
    name: String,
}

#[derive(Deserialize)]
struct Envelope {
    id: Option<usize>,
    result: Option<Box<RawValue>>,
    error: Option<CallError>,
}

impl NodeClient {
    /// A client for `url`. Nothing is sent yet.
    pub fn new(url: &str) -> Result<Self, SourceError> {
        let refused =
            |cause: String| SourceError::Refused { node: "--rpc-url".into(), what: "a connection".into(), cause };
        let url = Url::parse(url).map_err(|error| refused(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused(format!("scheme `{}` is not http or https", url.scheme())));
        }
        let http = Client::builder().timeout(TIMEOUT).build().map_err(|error| refused(error.to_string()))?;
        let name = url.origin().ascii_serialization();
        Ok(Self { http, url, name })
    }

    /// Calls a method without parameters that answers a quantity.
    pub async fn quantity(&self, method: &'static str) -> Result<u64, SourceError> {
        let attempt = || async {
            let mut answers = self.batch(&[(method, json!([]))]).await?;
            let value = answers.pop().ok_or_else(|| Failure::transient("no answer"))??;
            let text: String =
                serde_json::from_str(value.get()).map_err(|error| Failure::transient(error.to_string()))?;
            let digits = text.strip_prefix("0x").unwrap_or(&text);
            u64::from_str_radix(digits, 16).map_err(|error| Failure::last(format!("`{text}`: {error}")))
        };
        self.retry(method, attempt).await
    }

    /// Sends calls in one request. The answers are in the order of the calls, one each.
    pub(super) async fn batch(&self, calls: &[(&'static str, Value)]) -> Result<Vec<Answer>, Failure> {
        let body: Vec<Value> = calls
            .iter()
            .enumerate()
            .map(|(id, (method, params))| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .collect();
        let text = self.post(&body).await?;
        let envelopes: Vec<Envelope> = match serde_json::from_str(&text) {
            Ok(envelopes) => envelopes,
            Err(error) => match serde_json::from_str::<Envelope>(&text) {
                // Some nodes refuse a whole batch with one error object.
                Ok(Envelope { error: Some(error), .. }) => return Err(error.into()),
                _ => return Err(Failure::transient(format!("its answer is no JSON-RPC: {error}"))),
            },
        };
        in_order(envelopes, calls.len())
    }

    async fn post(&self, body: &[Value]) -> Result<String, Failure> {
        let unreachable = |error: reqwest::Error| Failure::transient(trawl::chain(&error.without_url()));
        let response = self.http.post(self.url.clone()).json(body).send().await.map_err(unreachable)?;
        let status = response.status();
        if status.is_success() {
            return response.text().await.map_err(unreachable);
        }
        let wait = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok())
            .map(Duration::from_secs);
        let cause = format!("HTTP {status}");
        Err(match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN | StatusCode::NOT_FOUND => Failure::last(cause),
            _ => Failure { retry_after: wait, ..Failure::transient(cause) },
        })
    }

    /// Repeats `attempt` until it succeeds, fails for good or has failed too often.
    pub(super) async fn retry<T, F: Future<Output = Result<T, Failure>>>(
        &self,
        what: &str,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, SourceError> {
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(Duration::from_millis(200))
            .with_max_delay(Duration::from_secs(10))
            .with_max_times(ATTEMPTS - 1)
            .with_jitter()
            .build();
        let mut attempts = 0;
        loop {
            let failure = match attempt().await {
                Ok(value) => return Ok(value),
                Err(failure) => failure,
            };
            attempts += 1;
            let (node, what) = (self.name.clone(), what.to_owned());
            if failure.is_final {
                return Err(SourceError::Refused { node, what, cause: failure.cause });
            }
            let Some(pause) = pauses.next() else {
                return Err(SourceError::Unreachable { node, what, attempts, cause: failure.cause });
            };
            let pause = failure.retry_after.map_or(pause, |wait| wait.min(Duration::from_secs(60)).max(pause));
            tracing::debug!(node, what, cause = failure.cause, ?pause, "asking the node again");
            tokio::time::sleep(pause).await;
        }
    }
}

/// Sorts answers by the calls they answer; nodes may shuffle them.
fn in_order(envelopes: Vec<Envelope>, calls: usize) -> Result<Vec<Answer>, Failure> {
    let mut answers: Vec<Option<Answer>> = (0..calls).map(|_| None).collect();
    for envelope in envelopes {
        let slot = envelope.id.and_then(|id| answers.get_mut(id));
        let Some(slot) = slot else {
            return Err(Failure::transient(match envelope.error {
                Some(error) => format!("error {}: {}", error.code, error.message),
                None => "an answer belongs to no call".into(),
            }));
        };
        *slot = Some(match envelope.error {
            Some(error) => Err(error),
            // An absent result and `null` are the same to serde.
            None => Ok(envelope.result.unwrap_or_else(null)),
        });
    }
    answers.into_iter().map(|answer| answer.ok_or_else(|| Failure::transient("a call was not answered"))).collect()
}

fn null() -> Box<RawValue> {
    RawValue::from_string("null".into()).expect("valid JSON")
}
