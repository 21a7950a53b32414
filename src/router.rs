//! All routes, of one chain or of several.

mod by_name;
mod chain_ids;
mod chains;
mod panics;
mod routes;
mod shared;

use axum::body::Body;
use axum::http::Request;

pub use by_name::chains_router;
pub use chains::ChainService;
pub use routes::router;

/// Removes a trailing slash from the path, so that both forms are the same route.
pub fn trim_slash(mut request: Request<Body>) -> Request<Body> {
    let path = request.uri().path();
    if path.len() > 1 && path.ends_with('/') {
        let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
        if let Ok(uri) = format!("{}{query}", path.trim_end_matches('/')).parse() {
            *request.uri_mut() = uri;
        }
    }
    request
}
