//! The page of this project: files that the program holds, compressed when it was built.

use axum::body::Body;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};

/// A file of `web/dist`.
struct File {
    path: &'static str,
    /// Weak, as the same file is sent in several encodings.
    tag: &'static str,
    plain: &'static [u8],
    brotli: &'static [u8],
    gzip: &'static [u8],
}

/// In the order of their paths.
static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/web_page.rs"));

/// Scripts, styles and connections of this origin alone; nobody may show the page in a frame.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self'; connect-src 'self'; object-src 'none'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// First names of paths that are pages.
const PAGES: [&str; 20] = [
    "",
    "accounts",
    "address",
    "block",
    "blocks",
    "charts",
    "internal-txs",
    "names",
    "op",
    "ops",
    "scan",
    "search",
    "status",
    "token",
    "token-transfers",
    "tokens",
    "tools",
    "tx",
    "txs",
    "withdrawals",
];

/// Those that other explorers give to the same pages, which the page leads on (`web/src/format/aliases.ts`).
const ALIASES: [&str; 24] = [
    "account",
    "addresses",
    "advanced-filter",
    "advanced-filters",
    "blocks_forked",
    "contract",
    "gas-tracker",
    "gastracker",
    "internal-transactions",
    "internal_txs",
    "nft",
    "nft-transfers",
    "nft_transfers",
    "search-results",
    "stats",
    "tokentxns",
    "tokentxns-nft",
    "transaction",
    "transactions",
    "txn",
    "txsBeacon",
    "txsInternal",
    "uncle",
    "uncles",
];

/// What programs ask for: where nothing is there, they get no page.
const FOR_PROGRAMS: [&str; 9] = ["_", "api", "assets", "docs", "health", "metrics", "rpc", "sourcify", "stats-service"];

/// The answer at a path: a file, or the page for a reader who accepts one, with the status 404 where it has nothing
/// but that to say; `None` for programs.
pub(super) fn answer(path: &str, headers: &HeaderMap) -> Option<Response> {
    if let Some(file) = file(path).filter(|_| path.starts_with("/_/")) {
        return Some(send(file, headers));
    }
    let noun = path.split('/').nth(1)?;
    if FOR_PROGRAMS.contains(&noun) || !accepts_pages(headers) {
        return None;
    }
    let mut page = send(file("/index.html")?, headers);
    if page.status() == StatusCode::OK && !PAGES.contains(&noun) && !ALIASES.contains(&noun) {
        *page.status_mut() = StatusCode::NOT_FOUND;
    }
    Some(page)
}

fn file(path: &str) -> Option<&'static File> {
    FILES.binary_search_by(|file| file.path.cmp(path)).ok().and_then(|at| FILES.get(at))
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Browsers name HTML. Programs that ask for anything or for JSON get what they got before there was a page.
fn accepts_pages(headers: &HeaderMap) -> bool {
    text(headers, ACCEPT).contains("text/html")
}

/// Whether a coding is accepted by its name, and not with the weight 0.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    text(headers, ACCEPT_ENCODING).split(',').any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case(coding) && !is_refused
    })
}

fn send(file: &'static File, headers: &HeaderMap) -> Response {
    let is_page = file.path == "/index.html";
    let (coding, bytes) = if accepts(headers, "br") {
        (Some("br"), file.brotli)
    } else if accepts(headers, "gzip") {
        (Some("gzip"), file.gzip)
    } else {
        (None, file.plain)
    };
    // Names of assets have the hash of what is in them; the page names the assets of its build, so it is asked for
    // again.
    let keep = if is_page { "no-cache" } else { "public, max-age=31536000, immutable" };
    let always = [
        (CACHE_CONTROL, keep),
        (ETAG, file.tag),
        (VARY, if is_page { "accept, accept-encoding" } else { "accept-encoding" }),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    if text(headers, IF_NONE_MATCH).split(',').any(|tag| tag.trim() == file.tag) {
        return (StatusCode::NOT_MODIFIED, always).into_response();
    }
    let coding = coding.map(|coding| [(CONTENT_ENCODING, coding)]);
    let mut response = (always, [(CONTENT_TYPE, content_type(file.path))], Body::from(bytes)).into_response();
    response
        .headers_mut()
        .extend(coding.into_iter().flatten().filter_map(|(name, value)| Some((name, value.parse().ok()?))));
    response
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn with(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn files_are_found_by_their_whole_path() {
        assert!(FILES.is_sorted_by_key(|file| file.path));
        assert!(FILES.iter().all(|file| self::file(file.path).is_some_and(|found| found.tag == file.tag)));
        assert!(FILES.iter().all(|file| !file.plain.is_empty() && file.brotli.len() < file.plain.len()));
        assert!(file("/index.htm").is_none() && file("").is_none());
    }

    #[test]
    fn pages_are_for_readers_who_name_html() {
        let browser = with(ACCEPT, "text/html,application/xhtml+xml,*/*;q=0.8");
        for path in ["/", "/block/12", "/tx/0x12/logs", "/address/0x12", "/scan"] {
            assert!(answer(path, &browser).is_some(), "{path}");
            assert!(answer(path, &with(ACCEPT, "application/json")).is_none(), "{path}");
            assert!(answer(path, &with(ACCEPT, "*/*")).is_none(), "{path}");
        }
        for path in ["/api", "/api/v2/none", "/health", "/_/assets/none.js", "/_/", "/assets/none", ""] {
            assert!(answer(path, &browser).is_none(), "{path}");
        }
        for (path, status) in [("/txsInternal", 200), ("/uncle/0x12", 200), ("/blockss", 404), ("/index.html", 404)] {
            let found = answer(path, &browser).map(|found| found.status().as_u16());
            assert_eq!(found, Some(status), "{path}");
        }
    }

    #[test]
    fn a_coding_with_weight_0_is_not_accepted() {
        assert!(accepts(&with(ACCEPT_ENCODING, "gzip, deflate, br"), "br"));
        assert!(accepts(&with(ACCEPT_ENCODING, "BR;q=0.1"), "br"));
        assert!(!accepts(&with(ACCEPT_ENCODING, "gzip, br;q=0"), "br"));
        assert!(!accepts(&HeaderMap::new(), "br"));
    }
}
