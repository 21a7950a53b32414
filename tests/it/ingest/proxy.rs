//! A proxy in front of ClickHouse that does something at a chosen request.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;

/// When, seen from the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// ClickHouse has not heard of it.
    Before,
    /// ClickHouse has the first half.
    Amid,
    /// ClickHouse has answered and the client does not know.
    After,
}

type Action = Box<dyn FnOnce() + Send>;

/// What to do, and how many requests of that kind pass before.
struct Order {
    step: &'static str,
    nth: u64,
    phase: Phase,
    action: Option<Action>,
}

/// Forwards requests one by one.
pub struct Proxy {
    pub url: String,
    order: Arc<Mutex<Option<Order>>>,
    statements: Statements,
}

/// What was requested so far.
type Statements = Arc<Mutex<Vec<String>>>;

impl Proxy {
    /// In front of `store`; ends with the process.
    pub fn start(store: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let order = Arc::new(Mutex::new(None));
        let store = store.strip_prefix("http://").context("an HTTP address")?.trim_end_matches('/').to_owned();
        let orders = Arc::clone(&order);
        let statements = Statements::default();
        let seen = Arc::clone(&statements);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (store, orders, seen) = (store.clone(), Arc::clone(&orders), Arc::clone(&seen));
                // A connection that breaks is what these tests are about.
                std::thread::spawn(move || drop(forward(client, &store, &orders, &seen)));
            }
        });
        Ok(Self { url, order, statements })
    }

    /// How many statements so far contain `step`.
    pub fn count(&self, step: &str) -> usize {
        let statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.iter().filter(|statement| is_step(statement, step)).count()
    }

    /// The statements so far that are like this.
    pub fn matching(&self, is_match: impl Fn(&str) -> bool) -> Vec<String> {
        let statements = self.statements.lock().unwrap_or_else(PoisonError::into_inner);
        statements.iter().filter(|statement| is_match(statement)).cloned().collect()
    }

    /// Runs `action` at the `nth` request from now whose statement contains `step`.
    pub fn at(&self, step: &'static str, nth: u64, phase: Phase, action: impl FnOnce() + Send + 'static) {
        let order = Order { step, nth, phase, action: Some(Box::new(action)) };
        *self.order.lock().unwrap_or_else(PoisonError::into_inner) = Some(order);
    }
}

/// Takes one request at a time off a connection; each goes on over a connection of its own.
fn forward(
    client: TcpStream,
    store: &str,
    order: &Mutex<Option<Order>>,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut reader = BufReader::new(client.try_clone()?);
    let mut client = client;
    let head = read_head(&mut reader)?;
    if !head.is_empty() {
        let body = read_body(&mut reader, &head)?;
        let statement = statement(&head, &body);
        let (phase, action) = due(order, &statement);
        seen.lock().unwrap_or_else(PoisonError::into_inner).push(statement);
        let mut action = action;
        let mut run = |current: Phase| {
            if phase == Some(current)
                && let Some(action) = action.take()
            {
                action();
            }
        };
        run(Phase::Before);
        let mut store = TcpStream::connect(store)?;
        store.write_all(closing(&head).as_bytes())?;
        let half = body.len() / 2;
        store.write_all(&body[..half])?;
        store.flush()?;
        if phase == Some(Phase::Amid) {
            // Long enough for the first half to be read.
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        run(Phase::Amid);
        store.write_all(&body[half..])?;
        let mut answer = Vec::new();
        store.read_to_end(&mut answer)?;
        run(Phase::After);
        client.write_all(&answer)?;
    }
    Ok(())
}

/// The head up to and with the empty line; empty at the end of the connection.
fn read_head(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut head = String::new();
    while reader.read_line(&mut head)? > 0 {
        if head.ends_with("\r\n\r\n") {
            return Ok(head);
        }
    }
    Ok(String::new())
}

/// The body as it came, chunks and all.
fn read_body(reader: &mut impl BufRead, head: &str) -> std::io::Result<Vec<u8>> {
    let lower = head.to_lowercase();
    let mut body = Vec::new();
    if lower.contains("transfer-encoding: chunked") {
        loop {
            let from = body.len();
            reader.read_until(b'\n', &mut body)?;
            let size = String::from_utf8_lossy(&body[from..]).trim().to_owned();
            let size = u64::from_str_radix(&size, 16).map_err(std::io::Error::other)?;
            reader.take(size + 2).read_to_end(&mut body)?;
            if size == 0 {
                return Ok(body);
            }
        }
    }
    let length = lower.split("content-length:").nth(1).and_then(|rest| rest.split("\r\n").next()?.trim().parse().ok());
    reader.take(length.unwrap_or(0)).read_to_end(&mut body)?;
    Ok(body)
}

/// The same request, after which the server closes the connection.
fn closing(head: &str) -> String {
    let lines = head.trim_end().lines().filter(|line| !line.to_lowercase().starts_with("connection:"));
    format!("{}\r\nconnection: close\r\n\r\n", lines.collect::<Vec<_>>().join("\r\n"))
}

/// The text that says what a request does: its query parameter, or its body.
fn statement(head: &str, body: &[u8]) -> String {
    let target = head.split(' ').nth(1).unwrap_or("");
    let query: String = url::form_urlencoded::parse(target.split('?').nth(1).unwrap_or("").as_bytes())
        .filter(|(name, _)| name == "query")
        .map(|(_, value)| value.into_owned())
        .collect();
    format!("{query} {}", String::from_utf8_lossy(&body[..body.len().min(4000)]))
        .replace(['"', '`', '\n'], " ")
        .replace("  ", " ")
}

/// Whether a statement names this step, and not a longer name.
fn is_step(statement: &str, step: &str) -> bool {
    statement.contains(&format!("{step} ")) || statement.contains(&format!("{step}("))
}

/// Whether this request is the one an order waits for.
fn due(order: &Mutex<Option<Order>>, statement: &str) -> (Option<Phase>, Option<Action>) {
    let mut order = order.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(waiting) = order.as_mut() else { return (None, None) };
    if !is_step(statement, waiting.step) {
        return (None, None);
    }
    waiting.nth -= 1;
    if waiting.nth > 0 {
        return (None, None);
    }
    let found = (Some(waiting.phase), waiting.action.take());
    *order = None;
    found
}
