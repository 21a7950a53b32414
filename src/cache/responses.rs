//! A cache of whole answers: a repeated request under the same view of the chain needs no query.
//!
//! Entries are never invalidated. The key of an answer holds the view of the chain under which it was made, and every
//! new block, reorganisation or row about a token makes a new view: older answers then have no more requests, and are
//! evicted when their memory is needed. The view is taken before the answer is made, so an answer is never older than
//! its key. Concurrent requests with the same key wait for one answer.
//!
//! Memory: at most `--cache-size` of bodies, targets and overhead; an answer larger than a sixteenth of that is not
//! cached.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use moka::future::Cache;
use moka::policy::EvictionPolicy;

use crate::cache::answer_variant::AnswerVariant;
use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;
use crate::limits::MemoryReservation;

/// The key of a cached answer: everything the answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Path and query, without the parameters that are ignored.
    target: Box<str>,
    /// Which of the answers to that target.
    variant: AnswerVariant,
    /// Zeros for an immutable answer.
    view: AnswerView,
}

/// What an answer was made under.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct AnswerView {
    /// The view of the chain. It changes with every commit, every newest head and every new row about a token:
    /// `sql/queries/commit_summary.sql` is where further tables of that kind are counted.
    pub chain: u64,
    /// The version of the token prices; 0 without any.
    pub prices: u64,
}

impl Key {
    /// The key of a request under a view.
    pub fn new(uri: &Uri, variant: AnswerVariant, view: AnswerView) -> Self {
        let mut target = uri.path().to_owned();
        let matters = |pair: &&str| !pair.is_empty() && !matches!(pair.split('=').next(), Some("apikey" | "key"));
        for (position, pair) in uri.query().unwrap_or("").split('&').filter(matters).enumerate() {
            target.push(if position == 0 { '?' } else { '&' });
            target.push_str(pair);
        }
        Self { target: target.into(), variant, view }
    }

    /// The key of the same target for an answer that never changes.
    fn immutable(&self) -> Self {
        Self { view: AnswerView::default(), ..self.clone() }
    }
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    policy: CachePolicy,
}

impl Answer {
    /// Reads a response whole. Cached routes write their bodies in one piece, so this copies nothing.
    pub async fn whole(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
            return Box::pin(Self::whole(Problem::Internal.into_response())).await;
        };
        let policy = parts.extensions.get().copied().unwrap_or_default();
        let mut answer = Self { status: parts.status, headers: parts.headers, body, policy };
        if answer.status == StatusCode::OK {
            answer.headers.insert(ETAG, answer.tag());
            answer.headers.insert(CACHE_CONTROL, policy.cache_control());
        }
        answer
    }

    /// Bytes of the body.
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// The same answer, whose body keeps its memory until it is sent.
    pub fn held_by(self, held: MemoryReservation) -> Self {
        Self { body: held.with(self.body), ..self }
    }

    /// The entity tag of the body; weak, since the same answer may be sent compressed.
    fn tag(&self) -> HeaderValue {
        let mut hasher = DefaultHasher::new();
        self.body.hash(&mut hasher);
        HeaderValue::from_str(&format!("W/\"{:016x}\"", hasher.finish())).expect("digits and quotation marks")
    }

    /// Whether `If-None-Match` of a request names this answer (RFC 9110, section 13.1.2).
    fn matches(&self, request: &HeaderMap) -> bool {
        let Some(tag) = self.headers.get(ETAG).and_then(|tag| tag.to_str().ok()) else { return false };
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let lines = request.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).any(|one| one.trim() == "*" || opaque(one) == opaque(tag))
    }

    /// The response to a request with these headers: 304 if the client has the answer already.
    pub fn respond(self, request: &HeaderMap) -> Response {
        if self.matches(request) {
            let is_repeated = |name: &HeaderName| [ETAG, CACHE_CONTROL, VARY].contains(name);
            let repeated = self.headers.iter().filter(|(name, _)| is_repeated(name));
            let headers: HeaderMap = repeated.map(|(name, value)| (name.clone(), value.clone())).collect();
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        (self.status, self.headers, Body::from(self.body)).into_response()
    }
}

/// The cache of answers.
pub(crate) struct ResponseCache {
    entries: Cache<Key, Answer>,
    /// The longest body that is cached, in bytes.
    max_body: usize,
}

/// Bytes of an entry beside its body and its target.
const ENTRY_OVERHEAD: usize = 1024;

/// An answer without a request for this long most likely belongs to an older view.
const MAX_IDLE: Duration = Duration::from_secs(300);

impl ResponseCache {
    /// A cache of at most `bytes`; `None` for 0, which turns it off.
    pub fn new(bytes: u64) -> Option<Self> {
        let weigh = |key: &Key, answer: &Answer| {
            u32::try_from(key.target.len() + answer.body.len() + ENTRY_OVERHEAD).unwrap_or(u32::MAX)
        };
        // The default policy would prefer frequent keys, which are those of earlier views.
        let cache = Cache::builder().max_capacity(bytes).weigher(weigh).eviction_policy(EvictionPolicy::lru());
        let max_body = usize::try_from(bytes / 16).unwrap_or(usize::MAX);
        (bytes > 0).then(|| Self { entries: cache.time_to_idle(MAX_IDLE).build(), max_body })
    }

    /// The size of all entries, in bytes.
    pub async fn size_bytes(&self) -> u64 {
        // Recent insertions and evictions are counted only after this.
        self.entries.run_pending_tasks().await;
        self.entries.weighted_size()
    }

    /// The cached answer of `key`, or the one that `make` makes. Concurrent callers with the same key wait for one of
    /// them.
    pub async fn get_or_make(&self, key: Key, make: impl Future<Output = Response>) -> Answer {
        if let Some(answer) = self.entries.get(&key.immutable()).await {
            count("hit");
            return answer;
        }
        let immutable_key = key.immutable();
        let make = async {
            let answer = Answer::whole(make.await).await;
            if answer.status != StatusCode::OK || answer.body.len() > self.max_body {
                return Err(answer);
            }
            Ok(answer)
        };
        match self.entries.entry(key).or_try_insert_with(make).await {
            Ok(entry) => {
                count(if entry.is_fresh() { "miss" } else { "hit" });
                let is_new = entry.is_fresh();
                let answer = entry.into_value();
                if is_new && answer.policy == CachePolicy::Immutable {
                    self.entries.insert(immutable_key, answer.clone()).await;
                }
                answer
            }
            Err(answer) => {
                count("miss");
                Arc::unwrap_or_clone(answer)
            }
        }
    }
}

fn count(outcome: &'static str) {
    metrics::counter!("trawl_cache_requests_total", "outcome" => outcome).increment(1);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn key(target: &str, view: u64) -> Key {
        let view = AnswerView { chain: view, prices: 0 };
        Key::new(&target.parse().expect("a target"), AnswerVariant::Only, view)
    }

    fn response(text: &'static str, policy: CachePolicy) -> Response {
        policy.mark(text.into_response())
    }

    #[test]
    fn ignored_parameters_make_no_difference() {
        assert_eq!(key("/a?key=1&type=uncle&apikey=x", 1), key("/a?type=uncle", 1));
        assert_eq!(key("/a?apikey=x", 1), key("/a", 1));
        assert_ne!(key("/a?type=uncle", 1), key("/a?type=block", 1));
        assert_ne!(key("/a", 1), key("/a", 2));
        assert_ne!(key("/a?=", 1), key("/a", 1), "a parameter without a name is an error");
        assert_ne!(key("/a?apikey[]=x", 1), key("/a", 1));
    }

    #[test]
    fn figures_have_an_answer_of_each_form() {
        let key = |path: &str, value: &'static str| {
            let headers = HeaderMap::from_iter([(
                HeaderName::from_static("updated-gas-oracle"),
                HeaderValue::from_static(value),
            )]);
            let uri: Uri = path.parse().expect("a path");
            match AnswerVariant::of(&uri, &headers) {
                AnswerVariant::Figures { gas_prices, .. } => {
                    Key::new(&uri, AnswerVariant::Figures { gas_prices, second: 0 }, AnswerView::default())
                }
                AnswerVariant::Only => Key::new(&uri, AnswerVariant::Only, AnswerView::default()),
            }
        };
        assert_ne!(key("/chain/api/v2/stats", "true"), key("/chain/api/v2/stats", "false"));
        assert_eq!(key("/api/v2/stats", "1"), key("/api/v2/stats", "false"));
        assert_eq!(key("/api/v2/blocks", "true"), key("/api/v2/blocks", "false"), "others have one form");
    }

    #[tokio::test]
    async fn an_answer_is_made_once_a_view() {
        let answers = ResponseCache::new(1 << 20).expect("room");
        let made = AtomicU32::new(0);
        let make = async || {
            tokio::time::sleep(Duration::from_millis(20)).await;
            made.fetch_add(1, Ordering::Relaxed);
            response("text", CachePolicy::Revalidate)
        };
        let (first, second) =
            tokio::join!(answers.get_or_make(key("/a", 1), make()), answers.get_or_make(key("/a", 1), make()));
        assert_eq!((first.body, second.body), ("text".into(), "text".into()));
        assert_eq!(made.load(Ordering::Relaxed), 1, "two concurrent requests");
        answers.get_or_make(key("/a", 1), make()).await;
        assert_eq!(made.load(Ordering::Relaxed), 1, "a cache hit");
        answers.get_or_make(key("/a", 2), make()).await;
        assert_eq!(made.load(Ordering::Relaxed), 2, "another view");
    }

    #[tokio::test]
    async fn immutable_answers_outlive_their_view_and_errors_are_not_cached() {
        let answers = ResponseCache::new(1 << 20).expect("room");
        let first = answers.get_or_make(key("/a", 1), async { response("old", CachePolicy::Immutable) }).await;
        assert_eq!(first.headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        let again = answers.get_or_make(key("/a", 2), async { response("new", CachePolicy::Immutable) }).await;
        assert_eq!(again.body, "old");
        for text in ["first", "second"] {
            let refused = async move { (StatusCode::NOT_FOUND, text).into_response() };
            let answer = answers.get_or_make(key("/b", 1), refused).await;
            assert_eq!((answer.status, answer.body), (StatusCode::NOT_FOUND, text.into()));
        }
    }

    #[tokio::test]
    async fn memory_is_bounded() {
        let answers = ResponseCache::new(64 << 10).expect("room");
        for number in 0..200 {
            let body = vec![b'x'; 3000];
            answers.get_or_make(key(&format!("/{number}"), 1), async { body.into_response() }).await;
        }
        let bytes = answers.size_bytes().await;
        assert!((30_000..=64 << 10).contains(&bytes), "{bytes}");
        let large = vec![b'x'; 5000];
        answers.get_or_make(key("/large", 1), async { large.into_response() }).await;
        assert!(answers.entries.get(&key("/large", 1)).await.is_none(), "a sixteenth of the cache is the limit");
        assert!(ResponseCache::new(0).is_none());
    }

    #[tokio::test]
    async fn a_matching_entity_tag_gets_304() {
        let answer = Answer::whole(response("text", CachePolicy::Short)).await;
        let tag = answer.headers[ETAG].clone();
        let request = |value: &HeaderValue| HeaderMap::from_iter([(IF_NONE_MATCH, value.clone())]);
        let not_modified = answer.clone().respond(&request(&tag));
        assert_eq!((not_modified.status(), &not_modified.headers()[ETAG]), (StatusCode::NOT_MODIFIED, &tag));
        assert_eq!(not_modified.headers()[CACHE_CONTROL], "public, max-age=60");
        let several = HeaderValue::from_str(&format!("\"x\", {}", tag.to_str().expect("text"))).expect("text");
        for (value, status) in [
            (several, StatusCode::NOT_MODIFIED),
            (HeaderValue::from_static("*"), StatusCode::NOT_MODIFIED),
            (HeaderValue::from_static("W/\"other\""), StatusCode::OK),
            (HeaderValue::from_static(""), StatusCode::OK),
        ] {
            assert_eq!(answer.clone().respond(&request(&value)).status(), status, "{value:?}");
        }
        let other = Answer::whole(response("text.", CachePolicy::Short)).await;
        assert_ne!(other.headers[ETAG], tag);
        let refused = Answer::whole(Problem::NotFound.into_response()).await;
        assert_eq!(refused.respond(&request(&HeaderValue::from_static("*"))).status(), StatusCode::NOT_FOUND);
    }
}
