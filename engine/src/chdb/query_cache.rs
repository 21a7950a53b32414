//! Caches what the engine's parser says about the texts of queries, so that a repeated query is not parsed again.
//!
//! A query's text differs at every run by the digits of the descriptor that its result goes to; they are no part of
//! the key, since they do not change what the parser says.

use std::sync::Arc;

use moka::sync::Cache;

use crate::account::Role;

/// Most bytes of text in the cache.
const MAX_BYTES: u64 = 16 << 20;
/// A longer text is parsed every time.
const LONGEST: usize = 64 << 10;

/// A query as far as its parse depends on it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Wording {
    /// Permissions depend on the role.
    pub role: Role,
    /// Some settings change the language.
    pub settings: Vec<(String, String)>,
    /// Text before the output clauses.
    pub body: Vec<u8>,
    /// The output format.
    pub format: String,
    /// Text after the output clauses.
    pub tail: Vec<u8>,
}

impl Wording {
    fn bytes(&self) -> usize {
        let settings: usize = self.settings.iter().map(|(name, value)| name.len() + value.len()).sum();
        settings + self.body.len() + self.format.len() + self.tail.len()
    }
}

/// The parser's answer about a query: it is one statement, also with its output clauses, and its user may run it.
#[derive(Debug)]
pub struct CheckedQuery {
    /// The engine's own notation of a reader's statement; none of the owner's.
    pub written: Option<String>,
    /// Whether it leaves no trace.
    pub is_read_only: bool,
}

/// The cached queries; repeated ones stay longest.
#[derive(Debug)]
pub struct QueryCache(Cache<Wording, Arc<CheckedQuery>>);

impl Default for QueryCache {
    fn default() -> Self {
        let weigh = |wording: &Wording, known: &Arc<CheckedQuery>| {
            let bytes = wording.bytes() + known.written.as_ref().map_or(0, String::len) + 200;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        Self(Cache::builder().weigher(weigh).max_capacity(MAX_BYTES).build())
    }
}

impl QueryCache {
    /// The answer about a query, if cached.
    #[must_use]
    pub fn get(&self, wording: &Wording) -> Option<Arc<CheckedQuery>> {
        self.0.get(wording)
    }

    /// Caches an answer.
    pub fn remember(&self, wording: Wording, known: &Arc<CheckedQuery>) {
        if wording.bytes() <= LONGEST {
            self.0.insert(wording, Arc::clone(known));
        }
    }
}
