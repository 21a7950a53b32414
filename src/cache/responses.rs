//! A cache of whole answers: a request that was answered under a view of the chain is answered again without a query.
//!
//! Nothing is ever invalidated. The key of an answer names the view of the chain that it was made under, and every new
//! block, reorganisation or row about a token makes a new view: an older answer is then simply not requested any more,
//! and is evicted when the room is needed. A view is taken before the answer is made, so an answer is never older than
//! its key. Concurrent requests for the same thing wait for one answer.
//!
//! Memory: at most `--cache-size` of bodies, targets and their upkeep; an answer larger than a sixteenth of that is made
//! anew each time.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use moka::future::Cache;
use moka::policy::EvictionPolicy;

use crate::cache::cache_control::CachePolicy;
use crate::error::Problem;

/// What an answer is kept under: whatever it depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    /// Path and query, without the parameters that are ignored.
    target: Box<str>,
    /// The view of the chain, and the moment of the prices where tokens have some; zeros for an answer that lasts. The
    /// view changes with every commit, every newest head and every new row about a token:
    /// `sql/queries/commit_summary.sql` is where further tables of that kind are counted.
    view: (u64, u64),
}

impl Key {
    pub fn new(uri: &Uri, view: (u64, u64)) -> Self {
        let mut target = uri.path().to_owned();
        let matters = |pair: &&str| !pair.is_empty() && !matches!(pair.split('=').next(), Some("apikey" | "key"));
        for (position, pair) in uri.query().unwrap_or("").split('&').filter(matters).enumerate() {
            target.push(if position == 0 { '?' } else { '&' });
            target.push_str(pair);
        }
        Self { target: target.into(), view }
    }

    fn lasting(&self) -> Self {
        Self { target: self.target.clone(), view: (0, 0) }
    }
}

/// An answer, whole.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    lasting: CachePolicy,
}

impl Answer {
    /// Takes an answer in. The routes before which this stands write theirs whole, so this copies nothing.
    pub async fn whole(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let Ok(body) = axum::body::to_bytes(body, usize::MAX).await else {
            return Box::pin(Self::whole(Problem::Internal.into_response())).await;
        };
        let lasting = parts.extensions.get().copied().unwrap_or_default();
        let mut answer = Self { status: parts.status, headers: parts.headers, body, lasting };
        if answer.status == StatusCode::OK {
            answer.headers.insert(ETAG, answer.tag());
            answer.headers.insert(CACHE_CONTROL, lasting.cache_control());
        }
        answer
    }

    /// Weak, since the same answer may travel compressed.
    fn tag(&self) -> HeaderValue {
        let mut hasher = DefaultHasher::new();
        self.body.hash(&mut hasher);
        HeaderValue::from_str(&format!("W/\"{:016x}\"", hasher.finish())).expect("digits and quotation marks")
    }

    /// Whether the client named it as what it has (RFC 9110, section 13.1.2).
    fn is_known(&self, named: &HeaderMap) -> bool {
        let Some(tag) = self.headers.get(ETAG).and_then(|tag| tag.to_str().ok()) else { return false };
        let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        let lines = named.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        lines.flat_map(|line| line.split(',')).any(|one| one.trim() == "*" || opaque(one) == opaque(tag))
    }

    pub fn respond(self, asked: &HeaderMap) -> Response {
        if self.is_known(asked) {
            let kept = [ETAG, CACHE_CONTROL].map(|name| (name.clone(), self.headers[name].clone()));
            return (StatusCode::NOT_MODIFIED, kept).into_response();
        }
        (self.status, self.headers, Body::from(self.body)).into_response()
    }
}

/// The answers that are kept.
pub(crate) struct ResponseCache {
    kept: Cache<Key, Answer>,
    largest: usize,
}

/// What an answer costs beside its body and its target.
const UPKEEP: usize = 1024;

/// An answer that nobody asked for so long is of a view that is over, most likely.
const IDLE: Duration = Duration::from_secs(300);

impl ResponseCache {
    /// Room for answers; `None` if there is to be none.
    pub fn new(bytes: u64) -> Option<Self> {
        let weigh = |key: &Key, answer: &Answer| {
            u32::try_from(key.target.len() + answer.body.len() + UPKEEP).unwrap_or(u32::MAX)
        };
        // The default policy would prefer what was asked often, which is what the views before were.
        let cache = Cache::builder().max_capacity(bytes).weigher(weigh).eviction_policy(EvictionPolicy::lru());
        let largest = usize::try_from(bytes / 16).unwrap_or(usize::MAX);
        (bytes > 0).then(|| Self { kept: cache.time_to_idle(IDLE).build(), largest })
    }

    /// How many bytes are kept.
    pub async fn size_bytes(&self) -> u64 {
        // What came and went of late is counted only then.
        self.kept.run_pending_tasks().await;
        self.kept.weighted_size()
    }

    pub async fn get_or_make(&self, key: Key, make: impl Future<Output = Response>) -> Answer {
        if let Some(answer) = self.kept.get(&key.lasting()).await {
            count("hit");
            return answer;
        }
        let lasting = key.lasting();
        let make = async {
            let answer = Answer::whole(make.await).await;
            if answer.status != StatusCode::OK || answer.body.len() > self.largest {
                return Err(answer);
            }
            Ok(answer)
        };
        match self.kept.entry(key).or_try_insert_with(make).await {
            Ok(entry) => {
                count(if entry.is_fresh() { "miss" } else { "hit" });
                let is_new = entry.is_fresh();
                let answer = entry.into_value();
                if is_new && answer.lasting == CachePolicy::Immutable {
                    self.kept.insert(lasting, answer.clone()).await;
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
        Key::new(&target.parse().expect("a target"), (view, 0))
    }

    fn response(text: &'static str, lasting: CachePolicy) -> Response {
        lasting.mark(text.into_response())
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
        assert_eq!(made.load(Ordering::Relaxed), 1, "two asked at once");
        answers.get_or_make(key("/a", 1), make()).await;
        assert_eq!(made.load(Ordering::Relaxed), 1, "it was kept");
        answers.get_or_make(key("/a", 2), make()).await;
        assert_eq!(made.load(Ordering::Relaxed), 2, "the view is another");
    }

    #[tokio::test]
    async fn what_lasts_outlives_its_view_and_refusals_are_not_kept() {
        let answers = ResponseCache::new(1 << 20).expect("room");
        let lasting = answers.get_or_make(key("/a", 1), async { response("old", CachePolicy::Immutable) }).await;
        assert_eq!(lasting.headers[CACHE_CONTROL], "public, max-age=31536000, immutable");
        let again = answers.get_or_make(key("/a", 2), async { response("new", CachePolicy::Immutable) }).await;
        assert_eq!(again.body, "old");
        for text in ["first", "second"] {
            let refused = async move { (StatusCode::NOT_FOUND, text).into_response() };
            let answer = answers.get_or_make(key("/b", 1), refused).await;
            assert_eq!((answer.status, answer.body), (StatusCode::NOT_FOUND, text.into()));
        }
    }

    #[tokio::test]
    async fn room_is_bounded() {
        let answers = ResponseCache::new(64 << 10).expect("room");
        for number in 0..200 {
            let body = vec![b'x'; 3000];
            answers.get_or_make(key(&format!("/{number}"), 1), async { body.into_response() }).await;
        }
        let bytes = answers.size_bytes().await;
        assert!((30_000..=64 << 10).contains(&bytes), "{bytes}");
        let large = vec![b'x'; 5000];
        answers.get_or_make(key("/large", 1), async { large.into_response() }).await;
        assert!(answers.kept.get(&key("/large", 1)).await.is_none(), "one must not take the room of sixteen");
        assert!(ResponseCache::new(0).is_none());
    }

    #[tokio::test]
    async fn a_client_that_has_it_is_told_so() {
        let answer = Answer::whole(response("text", CachePolicy::Short)).await;
        let tag = answer.headers[ETAG].clone();
        let asked = |value: &HeaderValue| HeaderMap::from_iter([(IF_NONE_MATCH, value.clone())]);
        let told = answer.clone().respond(&asked(&tag));
        assert_eq!((told.status(), &told.headers()[ETAG]), (StatusCode::NOT_MODIFIED, &tag));
        assert_eq!(told.headers()[CACHE_CONTROL], "public, max-age=60");
        let several = HeaderValue::from_str(&format!("\"x\", {}", tag.to_str().expect("text"))).expect("text");
        for (value, status) in [
            (several, StatusCode::NOT_MODIFIED),
            (HeaderValue::from_static("*"), StatusCode::NOT_MODIFIED),
            (HeaderValue::from_static("W/\"other\""), StatusCode::OK),
            (HeaderValue::from_static(""), StatusCode::OK),
        ] {
            assert_eq!(answer.clone().respond(&asked(&value)).status(), status, "{value:?}");
        }
        let other = Answer::whole(response("text.", CachePolicy::Short)).await;
        assert_ne!(other.headers[ETAG], tag);
        let refused = Answer::whole(Problem::NotFound.into_response()).await;
        assert_eq!(refused.respond(&asked(&HeaderValue::from_static("*"))).status(), StatusCode::NOT_FOUND);
    }
}
