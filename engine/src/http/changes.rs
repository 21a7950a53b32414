//! `GET /changes`: waits until a table is written to. Not an interface of ClickHouse servers.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use axum::http::request::Parts;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::account::{Accounts, Role};
use crate::exception::Exception;
use crate::execute::changes::{Changes, Table, Uncounted};
use crate::http::request::Request;

/// Longest wait for a change.
const WAIT: Duration = Duration::from_secs(30);
/// Requests that may wait at the same time: the owner's, and the reader's beside them.
const WAITING: usize = 256;
const WAITING_OF_READER: usize = 64;
/// Longest name of a database or table: what a file system takes, and then some.
const MAX_NAME: usize = 512;

/// Who waits for changes, and how many may.
#[derive(Debug)]
pub struct Waiting {
    owner: Semaphore,
    reader: Semaphore,
}

impl Default for Waiting {
    fn default() -> Self {
        Self { owner: Semaphore::new(WAITING), reader: Semaphore::new(WAITING_OF_READER) }
    }
}

/// What a request asks: the number of a table once it is no longer `after`.
struct Question {
    table: Table,
    after: Option<u64>,
}

/// Answers `{"changes":N}` as soon as the number of the table differs from the request's, or after 30 s.
///
/// # Errors
///
/// If the request is not understood, its user unknown, or the table cannot be counted or waited for.
pub async fn changes(
    parts: &Parts,
    accounts: &Accounts,
    changes: &Changes,
    waiting: &Waiting,
) -> Result<Response<Body>, Exception> {
    let request = Request::read(&parts.method, &parts.uri, &parts.headers, String::new())?;
    let waiting = match accounts.authenticate(&request.credentials)? {
        Role::Owner | Role::Api => &waiting.owner,
        Role::Reader => &waiting.reader,
    };
    let Question { table, after } = read(request)?;
    let full = |what| Exception::new(202, "TOO_MANY_SIMULTANEOUS_QUERIES", format!("{what}: try again in a second"));
    let _place = waiting.try_acquire().map_err(|_| full("too many requests wait for changes of tables"))?;
    let stopping = || Exception::new(210, "NETWORK_ERROR", "the engine is shutting down");
    let mut number = changes.watch(table).map_err(|error| match error {
        Uncounted::TooMany => full("too many tables are waited for"),
        Uncounted::Closed => stopping(),
    })?;
    let ends = Instant::now() + WAIT;
    while Some(*number.borrow_and_update()) == after {
        match timeout(ends.saturating_duration_since(Instant::now()), number.changed()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(stopping()),
            Err(_) => break,
        }
    }
    let number = *number.borrow();
    let answer = Response::builder().header("Content-Type", "application/json; charset=UTF-8");
    let answer = answer.header("Cache-Control", "no-store");
    Ok(answer.body(Body::from(format!("{{\"changes\":{number}}}\n"))).unwrap_or_default())
}

fn read(request: Request) -> Result<Question, Exception> {
    let mut table = None;
    let mut after = None;
    for (name, value) in request.query.settings {
        match &*name {
            "table" => table = Some(value),
            "after" => {
                let number = value.parse().map_err(|_| Exception::bad_arguments("`after` takes a number"))?;
                after = Some(number);
            }
            _ => return Err(Exception::bad_arguments(format!("/changes takes no parameter `{name}`"))),
        }
    }
    let table = table.filter(|table| !table.is_empty());
    let table = table.ok_or_else(|| Exception::bad_arguments("/changes takes the parameter `table`"))?;
    let database = request.query.database.filter(|name| !name.is_empty()).unwrap_or_else(|| "default".into());
    if table.len().max(database.len()) > MAX_NAME {
        return Err(Exception::bad_arguments(format!("a name may have {MAX_NAME} bytes")));
    }
    Ok(Question { table: Table { database, table }, after })
}
