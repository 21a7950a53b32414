//! Probes, metrics and the version: for operators, not for users of the chain's data.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use super::reasons::{self, Reason};
use crate::app::App;
use crate::error::Problem;
use crate::http::scheme;
use trawl_core::calendar;
use trawl_core::primitives::{BlockNumber, Timestamp};

mod figures;
mod following;
mod problem;
mod servers;

pub(crate) use figures::{measure, metrics, text};
use following::{FollowState, PROBE_TIMEOUT};

/// The process runs.
pub(crate) async fn live() -> &'static str {
    "ok\n"
}

/// Whether the store answers, the schema is current and a head is known; and which servers are missing.
pub(crate) async fn ready(State(app): State<App>) -> Response {
    readiness(&app).await.into_response()
}

/// The same as a status, and lines that say it.
pub(crate) async fn readiness(app: &App) -> (StatusCode, String) {
    let (state, servers) = tokio::join!(state(app), servers::in_words(app));
    match (state, servers) {
        (Ok(None), None) => (StatusCode::OK, "ready\n".into()),
        (Ok(damage), servers) => {
            let but: Vec<String> = damage.into_iter().chain(servers).collect();
            (StatusCode::OK, format!("ready, but {}\n", but.join("; ")))
        }
        (Err(Reason { text, .. }), servers) => {
            let servers = servers.map(|servers| format!("{servers}\n")).unwrap_or_default();
            (StatusCode::SERVICE_UNAVAILABLE, format!("{text}\n{servers}"))
        }
    }
}

/// What was lost, if answers can be given all the same; why not.
async fn state(app: &App) -> Result<Option<String>, Reason> {
    match tokio::time::timeout(PROBE_TIMEOUT, app.reader().require_schema()).await {
        Err(_) => return Err(reasons::of_silence(PROBE_TIMEOUT)),
        Ok(Err(error)) => return Err(reasons::of_error(&error)),
        Ok(Ok(())) => {}
    }
    match app.head() {
        Ok(head) => Ok((!head.damage.is_none()).then(|| format!("damaged: {}", head.damage))),
        Err(Problem::NothingLoaded) => Err(Reason::new("nothing-loaded", "no block is committed yet".into())),
        Err(Problem::Damaged) => {
            let damage = app.known_head().map(|head| head.damage.to_string()).unwrap_or_default();
            Err(Reason::new("damaged", format!("damaged: {damage}")))
        }
        Err(problem) => Err(Reason::new("no-head", problem.to_string())),
    }
}

/// The health of the service in JSON, for people and for clients of this API family: whether a block is known, the
/// store answers, and readers see new blocks; and what is wrong.
pub(crate) async fn health(State(app): State<App>) -> (StatusCode, Json<Value>) {
    let (following, servers) = tokio::join!(FollowState::read(&app), servers::problems(&app));
    let head = app.known_head().ok();
    let number = head.as_ref().and_then(|head| head.number());
    let damage = head.as_ref().map(|head| &head.damage).filter(|damage| !damage.is_none());
    let mut problems = following.problems();
    problems.extend(servers);
    let staleness = following.staleness(app.options().stale_after);
    let state = match (damage, app.head(), following.is_known(), &staleness) {
        (Some(_), ..) => "damaged",
        (None, Err(_), ..) | (None, _, false, _) => "not ready",
        (None, Ok(_), true, Some(_)) => "stale",
        (None, Ok(_), true, None) => "healthy",
    };
    problems.extend(staleness);
    let status = if state == "healthy" { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let body = json!({
        "healthy": state == "healthy",
        "state": state,
        "damage": damage.map(ToString::to_string),
        "problems": problems,
        "data": {
            "latest_block_number": number,
            "ranges": head.as_ref().map_or(0, |head| head.blocks.ranges().len()),
            "following": following.value(&app, number),
        },
    });
    (status, Json(body))
}

/// The same as clients of this API family's first version read it: the newest block as text.
pub(crate) async fn of_first_version(State(app): State<App>) -> (StatusCode, Json<Value>) {
    let ((status, Json(health)), newest) = tokio::join!(health(State(app.clone())), newest(&app));
    let (number, time) = newest.map_or((None, None), |(number, time)| (Some(number.to_string()), time));
    let body = json!({
        "healthy": health["healthy"],
        "data": {
            "latest_block_number": number,
            "latest_block_inserted_at": time,
            "cache_latest_block_number": number,
            "cache_latest_block_inserted_at": time,
        },
    });
    (status, Json(body))
}

/// The newest block, and its time if the store says it soon enough for a probe.
async fn newest(app: &App) -> Option<(BlockNumber, Option<String>)> {
    let head = app.known_head().ok()?;
    let number = head.number()?;
    let header = trawl_query::stats::fees::headers(&head.blocks.span().from(number));
    let rows = tokio::time::timeout(PROBE_TIMEOUT, app.values_of(&head, &header)).await;
    let time = rows.ok().and_then(Result::ok).and_then(|rows| Some(text_of(rows.last()?.timestamp)));
    Some((number, time))
}

/// A time as this API family's first version writes it: `2023-11-14 22:31:32.000000Z`.
fn text_of(time: Timestamp) -> String {
    let (seconds, micros) = (time.seconds(), time.micros().rem_euclid(1_000_000));
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    format!("{} {hour:02}:{minute:02}:{:02}.{micros:06}Z", calendar::date(day), second % 60)
}

/// The version, which clients of this API family request on every page.
pub(crate) async fn backend_version() -> Json<Value> {
    Json(json!({"backend_version": concat!("v", env!("CARGO_PKG_VERSION"))}))
}

/// The URL of JSON-RPC on the host that the client requested. Null where the request does not name a host.
pub(crate) async fn json_rpc_url(State(app): State<App>, request: Request) -> Json<Value> {
    let prefix = &app.options().path_prefix;
    Json(json!({"json_rpc_url": scheme::origin(&request).map(|origin| format!("{origin}{prefix}/rpc"))}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_in_the_first_version() {
        let text = |micros| text_of(Timestamp::from_micros(micros));
        assert_eq!(text(1_700_001_092_000_000), "2023-11-14 22:31:32.000000Z");
        assert_eq!(text(1_700_006_399_000_250), "2023-11-14 23:59:59.000250Z");
    }
}
