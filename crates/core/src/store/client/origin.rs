//! The request that a statement is sent for: a name that its client gave it goes along, and it is in the log if the
//! statement is slow.

use std::time::Duration;

use clickhouse::query::Query;

tokio::task_local! {
    static ORIGIN: RequestOrigin;
}

/// The request that is being answered.
#[derive(Debug, Clone)]
pub struct RequestOrigin {
    /// Its id, as its client sees it.
    pub id: String,
    /// What the statements have as `log_comment`; none costs the embedded engine less, which keeps connections for
    /// statements without.
    pub log_comment: Option<String>,
    /// A statement whose first rows take longer is logged; `None` for none.
    pub slow_after: Option<Duration>,
}

impl RequestOrigin {
    /// Runs `answer` for this request. Statements of tasks that it starts are of no request.
    pub async fn scope<T>(self, answer: impl Future<Output = T>) -> T {
        ORIGIN.scope(self, answer).await
    }
}

/// Adds the request's comment to a statement
/// (<https://clickhouse.com/docs/operations/settings/settings#log_comment>).
pub(crate) fn with_log_comment(query: Query) -> Query {
    match ORIGIN.try_with(|origin| origin.log_comment.clone()) {
        Ok(Some(comment)) => query.with_setting("log_comment", comment),
        _ => query,
    }
}

/// Logs a statement whose first rows took `elapsed`, if that is long.
pub(crate) fn log_if_slow(sql: &str, workload: &str, elapsed: Duration) {
    // Statements that follow the head are of no request.
    let _ = ORIGIN.try_with(|origin| {
        if origin.slow_after.is_some_and(|limit| elapsed >= limit) {
            let (request_id, seconds) = (&origin.id, elapsed.as_secs_f64());
            tracing::warn!(request_id, seconds, workload, sql, "slow statement");
        }
    });
}
