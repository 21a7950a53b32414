//! Figures that are measured on request: of the chain, of memory, and of problems.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

use super::following::FollowState;
use super::{problem, servers, state};
use crate::app::App;
use crate::service::reasons;
use trawl_metrics::Exposition;

/// The metrics as Prometheus text.
pub(crate) async fn metrics(State(app): State<App>) -> Response {
    let Some(exposition) = app.metrics() else { return StatusCode::NOT_FOUND.into_response() };
    measure(&app).await;
    text(&app, exposition)
}

/// Measures the figures of a chain that are read on request.
pub(crate) async fn measure(app: &App) {
    tokio::join!(show_following(app), show_readiness(app), show_caches(app));
    show_head(app);
    for gate in app.limits().gates() {
        metrics::gauge!("trawl_slots_taken", "of" => gate.what).set(gate.taken as f64);
        metrics::gauge!("trawl_queue_length", "of" => gate.what).set(gate.waiting as f64);
    }
    for (of, memory) in [("bodies", &app.limits().bodies), ("answers", &app.limits().answers)] {
        metrics::gauge!("trawl_memory_taken_bytes", "of" => of).set(memory.taken() as f64);
    }
}

/// All metrics as text, including those that all chains share.
pub(crate) fn text(app: &App, exposition: &Exposition) -> Response {
    if let Some(rates) = app.rates() {
        metrics::gauge!("trawl_rate_addresses").set(rates.addresses() as f64);
    }
    ([(CONTENT_TYPE, trawl_metrics::CONTENT_TYPE)], exposition.render()).into_response()
}

/// How following goes.
async fn show_following(app: &App) {
    let (following, servers) = tokio::join!(FollowState::read(app), servers::problems(app));
    let number = app.known_head().ok().and_then(|head| head.number());
    if let Some((node_block, number)) = following.node_block(app).zip(number) {
        metrics::gauge!("trawl_head_block", "source" => "node").set(node_block as f64);
        metrics::gauge!("trawl_head_lag_blocks").set(node_block.saturating_sub(number) as f64);
    }
    if let Some(ages) = following.ages() {
        metrics::gauge!("trawl_follow_report_age_seconds").set(ages.report.as_secs_f64());
        metrics::gauge!("trawl_follow_node_silence_seconds").set(ages.node.as_secs_f64());
        metrics::gauge!("trawl_head_age_seconds").set(ages.head.as_secs_f64());
    }
    let staleness = following.staleness(app.options().stale_after);
    problem::show(&following.problems().into_iter().chain(servers).chain(staleness).collect::<Vec<_>>());
}

/// Whether `/health/ready` would be 200, and why not.
async fn show_readiness(app: &App) {
    let reason = state(app).await.err().map(|reason| reason.word);
    metrics::gauge!("trawl_ready").set(f64::from(u8::from(reason.is_none())));
    for word in reasons::WORDS {
        metrics::gauge!("trawl_not_ready", "reason" => word).set(f64::from(u8::from(reason == Some(word))));
    }
}

/// What of the chain is there.
fn show_head(app: &App) {
    let Ok(head) = app.known_head() else { return };
    if let Some(number) = head.number() {
        metrics::gauge!("trawl_head_block", "source" => "db").set(number as f64);
    }
    let damaged = head.damage.tables.len() + head.damage.others.len();
    metrics::gauge!("trawl_damaged_tables").set(damaged as f64);
    let unsettled: u64 = head.blocks.unsettled().iter().map(|range| range.blocks.count()).sum();
    let in_memory = head.in_memory.len() as u64;
    metrics::gauge!("trawl_newest_blocks", "place" => "memory").set(in_memory as f64);
    metrics::gauge!("trawl_newest_blocks", "place" => "tables").set(unsettled.saturating_sub(in_memory) as f64);
    metrics::gauge!("trawl_newest_bytes").set(head.in_memory.size_bytes() as f64);
}

/// How much memory the caches have.
async fn show_caches(app: &App) {
    if let Some(cache) = app.responses() {
        metrics::gauge!("trawl_cache_bytes").set(cache.size_bytes().await as f64);
    }
    if let Some(cache) = app.settled_rows() {
        metrics::gauge!("trawl_settled_cache_bytes").set(cache.size_bytes().await as f64);
    }
}
