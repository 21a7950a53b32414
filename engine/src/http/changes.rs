//! `GET /changes`: waits until one of some tables is written to. Not an interface of ClickHouse servers.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use axum::http::request::Parts;
use futures_util::future::select_all;
use tokio::sync::{Semaphore, watch};
use tokio::time::timeout;

use crate::account::{Accounts, Role};
use crate::exception::Exception;
use crate::execute::changes::{Changes, TABLES, Table, UnknownRowCount};
use crate::http::request::Request;

/// Longest wait for a change.
const WAIT: Duration = Duration::from_secs(30);
/// Tables that requests may wait for at the same time: those of owner and API, and the readers' beside them. Each
/// request counts its own, whether or not others wait for the same.
const WAITED_FOR: usize = TABLES - WAITED_FOR_BY_READERS;
const WAITED_FOR_BY_READERS: usize = 64;
/// Most tables of a request.
const MAX_TABLES: u32 = 16;
/// Longest name of a database or table: what a file system takes, and then some.
const MAX_NAME: usize = 512;

/// Slots of tables that are waited for.
#[derive(Debug)]
pub struct ChangeWaiters {
    owner: Semaphore,
    reader: Semaphore,
}

impl Default for ChangeWaiters {
    fn default() -> Self {
        Self { owner: Semaphore::new(WAITED_FOR), reader: Semaphore::new(WAITED_FOR_BY_READERS) }
    }
}

/// What a request asks: the number of some tables once it is no longer `after`.
struct Question {
    tables: Vec<Table>,
    after: Option<u64>,
}

/// Answers `{"changes":N}` as soon as the number of the tables differs from the request's, or after 30 s.
///
/// # Errors
///
/// If the request is not understood, its user unknown, or the table cannot be counted or waited for.
pub async fn changes(
    parts: &Parts,
    accounts: &Accounts,
    changes: &Changes,
    waiting: &ChangeWaiters,
) -> Result<Response<Body>, Exception> {
    let request = Request::read(&parts.method, &parts.uri, &parts.headers, String::new())?;
    let waiting = match accounts.authenticate(&request.credentials)? {
        Role::Owner | Role::Api => &waiting.owner,
        Role::Reader | Role::Modeler => &waiting.reader,
    };
    let Question { tables, after } = read(request)?;
    let full = |what| Exception::new(202, "TOO_MANY_SIMULTANEOUS_QUERIES", format!("{what}: try again in a second"));
    let slots = u32::try_from(tables.len()).unwrap_or(u32::MAX);
    let _slots = waiting.try_acquire_many(slots).map_err(|_| full("too many requests wait for changes of tables"))?;
    let stopping = || Exception::new(210, "NETWORK_ERROR", "the engine is shutting down");
    let numbers = tables.into_iter().map(|table| changes.watch(table)).collect::<Result<Vec<_>, _>>();
    let mut numbers = numbers.map_err(|error| match error {
        UnknownRowCount::TooMany => full("too many tables are being watched"),
        UnknownRowCount::Closed => stopping(),
    })?;
    let ends = Instant::now() + WAIT;
    let mut number = sum(&mut numbers);
    while Some(number) == after {
        let any = select_all(numbers.iter_mut().map(|number| Box::pin(number.changed())));
        let left = ends.saturating_duration_since(Instant::now());
        let outcome = timeout(left, any).await.map(|(outcome, ..)| outcome);
        match outcome {
            Ok(Ok(())) => number = sum(&mut numbers),
            Ok(Err(_)) => return Err(stopping()),
            Err(_) => break,
        }
    }
    let answer = Response::builder().header("Content-Type", "application/json; charset=UTF-8");
    let answer = answer.header("Cache-Control", "no-store");
    Ok(answer.body(Body::from(format!("{{\"changes\":{number}}}\n"))).unwrap_or_default())
}

/// One number for all, which every change of any of them makes another: a number of JSON.
fn sum(numbers: &mut [watch::Receiver<u64>]) -> u64 {
    let sum = numbers.iter_mut().fold(0_u64, |sum, number| sum.wrapping_add(*number.borrow_and_update()));
    sum & ((1 << f64::MANTISSA_DIGITS) - 1)
}

fn read(request: Request) -> Result<Question, Exception> {
    let mut tables = Vec::new();
    let mut after = None;
    for (name, value) in request.query.settings {
        match &*name {
            "table" => tables = vec![value],
            "tables" => tables = value.split(',').map(str::to_owned).collect(),
            "after" => {
                let number = value.parse().map_err(|_| Exception::bad_arguments("`after` takes a number"))?;
                after = Some(number);
            }
            _ => return Err(Exception::bad_arguments(format!("/changes takes no parameter `{name}`"))),
        }
    }
    if tables.is_empty() || tables.iter().any(String::is_empty) {
        return Err(Exception::bad_arguments(
            "/changes takes the parameter `table`, or `tables` with several names, separated by commas",
        ));
    }
    if tables.len() > MAX_TABLES as usize {
        return Err(Exception::bad_arguments(format!("/changes takes {MAX_TABLES} tables at most")));
    }
    let database = request.query.database.filter(|name| !name.is_empty()).unwrap_or_else(|| "default".into());
    if tables.iter().chain([&database]).any(|name| name.len() > MAX_NAME) {
        return Err(Exception::bad_arguments(format!("a name may have at most {MAX_NAME} bytes")));
    }
    let tables = tables.into_iter().map(|table| Table { database: database.clone(), table }).collect();
    Ok(Question { tables, after })
}
