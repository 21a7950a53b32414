//! A proxy before the engine that records the statements of the API, so that they can be repeated without it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::ensure;
use ureq::Agent;

/// Where the engine's clients connect instead; it serves until the process ends.
pub struct Recorder {
    /// URL that clients take for the engine's.
    pub url: String,
    log: Arc<Mutex<Vec<Statement>>>,
}

/// A request to the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Path and query, with settings and parameters.
    target: String,
    headers: Vec<(String, String)>,
    /// The statement's text.
    pub sql: String,
}

/// Headers that the client writes itself.
const OF_CONNECTION: [&str; 4] = ["host", "content-length", "connection", "transfer-encoding"];

impl Recorder {
    /// Starts to pass on to the engine at `url`.
    pub fn start(url: &str) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let engine = url.trim_start_matches("http://").to_owned();
        let log: Arc<Mutex<Vec<Statement>>> = Arc::default();
        let shared = Arc::clone(&log);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (engine, log) = (engine.clone(), Arc::clone(&shared));
                // A connection that breaks shows at the API.
                std::thread::spawn(move || pass_on(client, &engine, &log));
            }
        });
        Ok(Self { url: format!("http://{address}"), log })
    }

    fn log(&self) -> MutexGuard<'_, Vec<Statement>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The statements since the previous call.
    pub fn take(&self) -> Vec<Statement> {
        std::mem::take(&mut self.log())
    }
}

fn pass_on(mut client: TcpStream, engine: &str, log: &Mutex<Vec<Statement>>) -> anyhow::Result<()> {
    let mut server = TcpStream::connect(engine)?;
    server.set_nodelay(true)?;
    client.set_nodelay(true)?;
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut answers, &mut back);
        let _ = back.shutdown(std::net::Shutdown::Both);
    });
    let (mut piece, mut unread) = (vec![0; 1 << 16], Vec::new());
    loop {
        let length = client.read(&mut piece)?;
        if length == 0 {
            server.shutdown(std::net::Shutdown::Write)?;
            return Ok(());
        }
        unread.extend_from_slice(&piece[..length]);
        while let Some((statement, taken)) = request(&unread) {
            log.lock().unwrap_or_else(PoisonError::into_inner).push(statement);
            unread.drain(..taken);
        }
        server.write_all(&piece[..length])?;
    }
}

/// The request at the beginning of some bytes, and how many are its own; none while it is not whole.
fn request(bytes: &[u8]) -> Option<(Statement, usize)> {
    let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let target = lines.next()?.split(' ').nth(1)?.to_owned();
    let all: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.into()))
        .collect();
    let length = all.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let whole = end + 4 + length.unwrap_or(0_usize);
    let sql = String::from_utf8_lossy(bytes.get(end + 4..whole)?).into_owned();
    let headers = all.into_iter().filter(|(name, _)| !OF_CONNECTION.contains(&name.as_str())).collect();
    Some((Statement { target, headers, sql }, whole))
}

impl Statement {
    /// Sends the statement to the engine again; returns the bytes of its answer.
    pub fn ask(&self, agent: &Agent, engine: &str) -> anyhow::Result<usize> {
        let mut request = agent.post(format!("{engine}{}", self.target));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = request.send(&self.sql)?;
        let body = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
        ensure!(response.status() == 200, "{}: {}", self.sql, String::from_utf8_lossy(&body));
        Ok(body.len())
    }
}
