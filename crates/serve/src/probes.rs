//! The routes of a program that serves nothing but its probes and its metrics.

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;

/// What a program says of itself.
pub trait ProgramHealth: Clone + Send + Sync + 'static {
    /// Whether it does its work: what is wrong beside that, or why it does not.
    ///
    /// # Errors
    ///
    /// The reason why it does not, in words.
    fn readiness(&self) -> Result<String, String>;

    /// Its metrics as text, and the media type of that.
    fn metrics(&self) -> (&'static str, String);
}

/// `/health/live`, `/health/ready` and `/metrics`; 404 at all other paths.
pub fn probes(program: impl ProgramHealth) -> Router {
    let (ready, metrics) = (program.clone(), program);
    let readiness = async move || match ready.readiness() {
        Ok(text) => (StatusCode::OK, format!("{text}\n")),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    };
    let exposition = async move || {
        let (media_type, text) = metrics.metrics();
        ([(CONTENT_TYPE, media_type)], text)
    };
    Router::new()
        .route("/health/live", get(async || "ok\n"))
        .route("/health/ready", get(readiness))
        .route("/metrics", get(exposition))
        .fallback(async || (StatusCode::NOT_FOUND, "There are /health/live, /health/ready and /metrics\n"))
}
