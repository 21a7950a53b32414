//! The page of this project: files that the program holds, compressed when it was built.

use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Body;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG,
    IF_NONE_MATCH, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

use super::head;

/// A file of `web/dist`.
struct File {
    path: &'static str,
    /// Weak, as the same file is sent in several encodings.
    tag: &'static str,
    plain: &'static [u8],
    /// Empty where it was not compressed before.
    brotli: &'static [u8],
    gzip: &'static [u8],
}

/// The page with the attributes of its first tag: the name before its paths and those of other chains, and whether
/// there is a console.
#[derive(Clone, Copy)]
pub struct IndexPage(&'static File);

/// The attributes of the first tag of a page; none for a single chain without a console.
#[derive(Debug, Clone, Default)]
pub struct PageAttributes {
    chain: Option<ChainAttributes>,
    has_console: bool,
}

/// One of several chains, and the names of all.
#[derive(Debug, Clone)]
struct ChainAttributes {
    name: String,
    names: String,
}

impl PageAttributes {
    /// The page is of the chain `name`, which is one of `names`: all are words of letters, digits and hyphens.
    #[must_use]
    pub fn of_chain(self, name: &str, names: &[&str]) -> Self {
        Self { chain: Some(ChainAttributes { name: name.to_owned(), names: names.join(" ") }), ..self }
    }

    /// Visitors may run SQL.
    #[must_use]
    pub fn with_console(self) -> Self {
        Self { has_console: true, ..self }
    }
}

impl IndexPage {
    /// The page with these attributes; it lives until the process ends.
    #[must_use]
    pub fn new(attributes: &PageAttributes) -> Self {
        let mut page = file(INDEX).map_or("", |page| std::str::from_utf8(page.plain).unwrap_or_default()).to_owned();
        let mut opening = String::from("<html ");
        if let Some(ChainAttributes { name, names }) = &attributes.chain {
            opening += &format!("data-base=\"/{name}\" data-chains=\"{names}\" ");
            page = page.replace("href=\"/docs\"", &format!("href=\"/{name}/docs\""));
        }
        if attributes.has_console {
            opening += "data-sql ";
        }
        let page = page.replacen("<html lang=", &format!("{opening}lang="), 1);
        let tag = tag_of(&page).leak();
        Self(Box::leak(Box::new(File { path: INDEX, tag, plain: page.leak().as_bytes(), brotli: &[], gzip: &[] })))
    }
}

impl fmt::Debug for IndexPage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("IndexPage").field(&self.0.tag).finish()
    }
}

/// The path of the page itself.
const INDEX: &str = "/index.html";

/// In the order of their paths.
static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/web_page.rs"));

/// Scripts, styles and connections of this origin alone; no site may show the page in a frame.
const POLICY: &str = "default-src 'self'; img-src 'self' data:; style-src 'self'; connect-src 'self'; object-src 'none'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// First names of paths that are pages.
const PAGES: [&str; 22] = [
    "",
    "accounts",
    "address",
    "block",
    "blocks",
    "charts",
    "gas",
    "internal-txs",
    "names",
    "op",
    "ops",
    "scan",
    "search",
    "sql",
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

/// First words of the paths of programs: such a path without an answer gets no page.
const FOR_PROGRAMS: [&str; 9] = ["_", "api", "assets", "docs", "health", "metrics", "rpc", "sourcify", "stats-service"];

/// Whether paths that begin with a word are pages, or are for programs: no chain can have it as its name.
#[must_use]
pub fn has_paths(word: &str) -> bool {
    PAGES.contains(&word) || ALIASES.contains(&word) || FOR_PROGRAMS.contains(&word)
}

/// The answer at a path: a file, or the page for a reader who accepts one, with the status 404 where it has nothing
/// but that to say; `None` for programs. `chain` is its name, for the title.
pub(super) fn answer(
    path: &str,
    index: Option<&IndexPage>,
    headers: &HeaderMap,
    chain: impl FnOnce() -> Option<String>,
) -> Option<Response> {
    if let Some(asset) = asset(path, headers) {
        return Some(asset);
    }
    let noun = path.split('/').nth(1)?;
    if FOR_PROGRAMS.contains(&noun) || !accepts_pages(headers) {
        return None;
    }
    let index = match index {
        Some(IndexPage(index)) => index,
        None => file(INDEX)?,
    };
    let text = head::with_title(std::str::from_utf8(index.plain).ok()?, path, chain().as_deref());
    let mut page = send_page(text, headers);
    if page.status() == StatusCode::OK && !PAGES.contains(&noun) && !ALIASES.contains(&noun) {
        *page.status_mut() = StatusCode::NOT_FOUND;
    }
    Some(page)
}

/// A file that the page loads.
pub(crate) fn asset(path: &str, headers: &HeaderMap) -> Option<Response> {
    file(path).filter(|_| path.starts_with("/_/")).map(|file| send(file, headers))
}

fn file(path: &str) -> Option<&'static File> {
    FILES.binary_search_by(|file| file.path.cmp(path)).ok().and_then(|at| FILES.get(at))
}

fn text(headers: &HeaderMap, name: HeaderName) -> &str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Browsers name HTML. Programs that accept anything or JSON get no page.
pub(crate) fn accepts_pages(headers: &HeaderMap) -> bool {
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

/// A weak tag of a page, as the same page is sent in several encodings.
fn tag_of(page: &str) -> String {
    let mut hasher = DefaultHasher::new();
    page.hash(&mut hasher);
    format!("W/\"{:016x}\"", hasher.finish())
}

/// How long clients may cache an answer, and on which headers it depends.
struct CacheRules<'t> {
    tag: &'t str,
    control: &'static str,
    vary: &'static str,
}

/// The page names the assets of its build, so it is revalidated.
fn send_page(text: String, headers: &HeaderMap) -> Response {
    let tag = tag_of(&text);
    let rules = CacheRules { tag: &tag, control: "no-cache", vary: "accept, accept-encoding" };
    respond(&rules, headers, || ([(CONTENT_TYPE, content_type(INDEX))], Body::from(text)).into_response())
}

/// Names of assets have the hash of their contents.
fn send(file: &'static File, headers: &HeaderMap) -> Response {
    let (coding, bytes) = if file.brotli.is_empty() {
        (None, file.plain)
    } else if accepts(headers, "br") {
        (Some("br"), file.brotli)
    } else if accepts(headers, "gzip") {
        (Some("gzip"), file.gzip)
    } else {
        (None, file.plain)
    };
    let control = "public, max-age=31536000, immutable";
    respond(&CacheRules { tag: file.tag, control, vary: "accept-encoding" }, headers, || {
        let mut response = ([(CONTENT_TYPE, content_type(file.path))], Body::from(bytes)).into_response();
        if let Some(coding) = coding {
            response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
        response
    })
}

/// The answer, or that the client has it already.
fn respond(rules: &CacheRules<'_>, headers: &HeaderMap, body: impl FnOnce() -> Response) -> Response {
    let always = [
        (CACHE_CONTROL, rules.control),
        (ETAG, rules.tag),
        (VARY, rules.vary),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (CONTENT_SECURITY_POLICY, POLICY),
    ];
    if text(headers, IF_NONE_MATCH).split(',').any(|tag| tag.trim() == rules.tag) {
        return (StatusCode::NOT_MODIFIED, always).into_response();
    }
    (always, body()).into_response()
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
            assert!(answer(path, None, &browser, || None).is_some(), "{path}");
            assert!(answer(path, None, &with(ACCEPT, "application/json"), || None).is_none(), "{path}");
            assert!(answer(path, None, &with(ACCEPT, "*/*"), || None).is_none(), "{path}");
        }
        for path in ["/api", "/api/v2/none", "/health", "/_/assets/none.js", "/_/", "/assets/none", ""] {
            assert!(answer(path, None, &browser, || None).is_none(), "{path}");
        }
        for (path, status) in [("/txsInternal", 200), ("/uncle/0x12", 200), ("/blockss", 404), ("/index.html", 404)] {
            let found = answer(path, None, &browser, || None).map(|found| found.status().as_u16());
            assert_eq!(found, Some(status), "{path}");
        }
    }

    #[test]
    fn the_page_of_a_chain_knows_its_path_and_the_others() {
        let of_chain = PageAttributes::default().of_chain("base", &["mainnet", "base"]);
        let IndexPage(page) = IndexPage::new(&of_chain);
        let text = std::str::from_utf8(page.plain).expect("text");
        assert_eq!(
            text.matches(r#"<html data-base="/base" data-chains="mainnet base" lang="en">"#).count(),
            1,
            "{text}"
        );
        assert!(text.contains(r#"href="/base/docs""#) && !text.contains(r#"href="/docs""#), "{text}");
        assert_ne!(Some(page.tag), file(INDEX).map(|index| index.tag));
        let IndexPage(page) = IndexPage::new(&of_chain.with_console());
        let text = std::str::from_utf8(page.plain).expect("text");
        assert!(text.contains(r#"data-chains="mainnet base" data-sql lang="en">"#), "{text}");
    }

    #[test]
    fn a_coding_with_weight_0_is_not_accepted() {
        assert!(accepts(&with(ACCEPT_ENCODING, "gzip, deflate, br"), "br"));
        assert!(accepts(&with(ACCEPT_ENCODING, "BR;q=0.1"), "br"));
        assert!(!accepts(&with(ACCEPT_ENCODING, "gzip, br;q=0"), "br"));
        assert!(!accepts(&HeaderMap::new(), "br"));
    }
}
