//! All routes, of one chain or of several.

mod by_name;
mod chain_ids;
mod chains;
mod panics;
mod routes;
mod shared;

use axum::body::Body;
use axum::http::{Request, Uri};

pub use by_name::chains_router;
pub use chains::ChainService;
pub use routes::router;

/// Removes empty words from a path: a slash at its end, or a doubled one, as of clients that put an address which ends
/// in a slash before a path, makes no difference.
pub fn single_slashes(mut request: Request<Body>) -> Request<Body> {
    if let Some(uri) = without_empty_words(request.uri()) {
        *request.uri_mut() = uri;
    }
    request
}

/// The same target if its path has empty words.
fn without_empty_words(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    if path.len() < 2 || !(path.ends_with('/') || path.contains("//")) {
        return None;
    }
    let words = path.split('/').filter(|word| !word.is_empty());
    let mut target: String = words.flat_map(|word| ["/", word]).collect();
    if target.is_empty() {
        target.push('/');
    }
    if let Some(query) = uri.query() {
        target.push('?');
        target.push_str(query);
    }
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(target.parse().ok()?);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_words_make_no_difference() {
        let plain = |uri: &str| without_empty_words(&uri.parse().expect("a target")).map(|uri| uri.to_string());
        assert_eq!(plain("/api/v2/stats/").as_deref(), Some("/api/v2/stats"));
        assert_eq!(plain("/api/v2//search?q=a//b/").as_deref(), Some("/api/v2/search?q=a//b/"));
        assert_eq!(plain("//v2///api//?chainid=1").as_deref(), Some("/v2/api?chainid=1"));
        assert_eq!(plain("http://host//rpc").as_deref(), Some("http://host/rpc"));
        assert_eq!(plain("//").as_deref(), Some("/"));
        for same in ["/", "/?x=//", "/api/v2/blocks", "/api/v2/a%2F%2Fb", "*"] {
            assert_eq!(plain(same), None, "{same}");
        }
    }
}
