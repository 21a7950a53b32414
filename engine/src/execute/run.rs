//! Runs one statement on the engine: reads its text, opens its connection, moves its data.
//!
//! Everything here blocks and runs on a thread of its own. Results of any size leave through a pipe that the
//! engine itself writes (`INTO OUTFILE`), so every format is one document, written by the engine's own
//! formatter with back-pressure. libchdb's streaming calls are not used for results: each of their chunks is
//! a document of its own, and joined ArrowStream chunks read as fewer rows without an error.

use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use axum::http::HeaderMap;
use bytes::Bytes;
use tokio::sync::oneshot;

use crate::account::Role;
use crate::chdb::connection::Connection;
use crate::chdb::engine::Engine;
use crate::chdb::outcome::Stats;
use crate::codec;
use crate::exception::Exception;
use crate::execute::running::Ticket;
use crate::execute::session::{Lease, Sessions};
use crate::http::request::Request;
use crate::sql::reader;
use crate::sql::statement::{self, InsertScan, Statement};

/// One statement to run.
pub struct Job {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Sessions kept between requests.
    pub sessions: Arc<Sessions>,
    /// What is asked.
    pub request: Request,
    /// Who asks.
    pub role: Role,
    /// Its entry among the statements in progress.
    pub ticket: Ticket,
    /// The body as it came.
    pub body: Box<dyn Read + Send>,
    /// Says how the body is compressed.
    pub headers: HeaderMap,
}

/// What a statement answers.
#[derive(Debug)]
pub enum Reply {
    /// All of it.
    Whole {
        /// The result.
        bytes: Bytes,
        /// Its format.
        format: String,
        /// What the statement did.
        stats: Stats,
    },
    /// It comes through a pipe; `end` tells how it went, after the last byte.
    Stream {
        /// Read end of the pipe.
        pipe: PipeReader,
        /// Its format.
        format: String,
        /// The outcome.
        end: oneshot::Receiver<Result<Stats, Exception>>,
    },
}

/// Longest statement text; data of an INSERT is not part of it. The engine's `max_query_size` has 256 KiB at first.
const MAX_TEXT: usize = 64 << 20;
/// The same for a reader, who cannot raise `max_query_size`.
const MAX_TEXT_OF_READER: usize = 1 << 20;
/// How much of the body is read at a time, and handed to the engine at a time.
const CHUNK: usize = 256 << 10;

/// Reads the text of `job`, and the first of the data of an INSERT; what follows stays in the body. Blocks while the
/// client sends it.
pub fn prepare(mut job: Job) -> Result<Prepared, Exception> {
    decompress(&mut job)?;
    let mut text = read_text(&mut job)?;
    if let Text::Insert { data: (_, data), ended, .. } = &mut text
        && data.is_empty()
        && !*ended
    {
        data.resize(CHUNK, 0);
        let count = read_some(&mut job.body, data)?;
        data.truncate(count);
        *ended = count == 0;
    }
    Ok(Prepared { job, text })
}

/// A job whose text is there.
pub struct Prepared {
    job: Job,
    text: Text,
}

/// Runs a statement and sends what it answers. Blocks until the statement is over.
pub fn run(Prepared { mut job, text }: Prepared, reply: oneshot::Sender<Result<Reply, Exception>>) {
    let next = match text {
        Text::Insert { head, data, ended } => insert(&mut job, &head, data, ended).map(Next::Reply),
        Text::Statement(text) => statement::parse(&text).and_then(|statement| match statement {
            Statement::Whole(text) => whole(&job, &text).map(Next::Reply),
            Statement::Read(read) => Ok(Next::Read(read)),
        }),
    };
    let outcome = match next {
        Ok(Next::Read(read)) => return stream(job, &read, reply),
        Ok(Next::Reply(whole)) => Ok(whole),
        Err(exception) => Err(exception),
    };
    // The query id is free again before the client can know that its statement is over.
    drop(job);
    // A client that has gone needs no answer.
    let _ = reply.send(outcome);
}

enum Next {
    Reply(Reply),
    Read(statement::Read),
}

fn decompress(job: &mut Job) -> Result<(), Exception> {
    let body = std::mem::replace(&mut job.body, Box::new(io::empty()));
    job.body = codec::decode(body, &job.headers, job.request.decompress)?;
    Ok(())
}

/// The text of a request, or the text of an INSERT and the beginning of its data.
enum Text {
    Statement(Vec<u8>),
    Insert { head: Vec<u8>, data: (String, Vec<u8>), ended: bool },
}

/// Reads the body up to where the statement ends. As on a server, a line feed joins `query` and body.
fn read_text(job: &mut Job) -> Result<Text, Exception> {
    let mut text = std::mem::take(&mut job.request.query).into_bytes();
    if !text.is_empty() {
        text.push(b'\n');
    }
    let longest = if job.role == Role::Reader { MAX_TEXT_OF_READER } else { MAX_TEXT };
    let mut ended = false;
    let mut looked_at = 0;
    let mut chunk = vec![0; CHUNK];
    loop {
        // Looking again only when there is a quarter more keeps a text that comes in drops from costing its square.
        let look = ended || text.len() > looked_at + looked_at / 4;
        if look {
            looked_at = text.len();
        }
        if look && statement::starts_insert(&text, ended) == Some(true) {
            match statement::scan_insert(&text, ended)? {
                InsertScan::Data(head) => {
                    let data = text.split_off(head.data_start);
                    text.truncate(head.query_length);
                    return Ok(Text::Insert { head: text, data: (head.format, data), ended });
                }
                InsertScan::Whole | InsertScan::NeedMore => {}
            }
        }
        if text.len() > longest {
            let text = format!("a statement may have {longest} bytes, data of an INSERT aside");
            return Err(Exception::syntax_error(text));
        }
        if ended {
            return Ok(Text::Statement(text));
        }
        let count = read_some(&mut job.body, &mut chunk)?;
        text.extend_from_slice(&chunk[..count]);
        ended = count == 0;
    }
}

/// Reads what the body has now; waits only if it has nothing. Returns how much, 0 at its end.
fn read_some(body: &mut impl Read, into: &mut [u8]) -> Result<usize, Exception> {
    body.read(into)
        .map_err(|error| Exception::new(1000, "POCO_EXCEPTION", format!("the request body cannot be read: {error}")))
}

/// A connection with the request's settings and database.
enum Leased {
    Own(Connection),
    Session(Lease),
}

impl Leased {
    fn get(&mut self) -> &mut Connection {
        match self {
            Self::Own(connection) => connection,
            Self::Session(lease) => lease.connection(),
        }
    }
}

/// What a reader's statement runs with: the engine's `readonly` level, which `asked` and `text` were found fit for.
type Level = Option<&'static str>;

/// Refuses what a reader may not ask. `text` is what runs for `asked`, so `text` is what must hold nothing else.
fn level(job: &Job, asked: &[u8], text: &[u8]) -> Result<Level, Exception> {
    if job.role != Role::Reader {
        return Ok(None);
    }
    job.request.settings.iter().try_for_each(|(name, _)| reader::check_setting(name))?;
    let utf8 = |text| {
        std::str::from_utf8(text).map_err(|_| Exception::access_denied("a read-only user's statement must be UTF-8"))
    };
    // No setting of the request may have a say in how its statement is read.
    let mut plain = job.engine.connect(&[])?;
    let Ok(written) = plain.reformat(utf8(text)?) else {
        plain.reformat(utf8(asked)?)?;
        return Err(Exception::syntax_error("the output clauses were not understood"));
    };
    reader::check_statement(written.as_bytes(), &job.request.parameters)?;
    Ok(Some(reader::level(written.as_bytes())))
}

/// Opens what a statement runs on; a reader's with `level`.
fn connect(job: &Job, level: Level) -> Result<Leased, Exception> {
    let request = &job.request;
    let mut settings = request.settings.clone();
    let comment = settings.iter().position(|(name, _)| name == "log_comment").map(|at| settings.remove(at).1);
    settings.push(("log_comment".into(), job.ticket.log_comment(&comment.unwrap_or_default())));
    if let Some(level) = level {
        settings.push(("readonly".into(), level.into()));
    } else if request.method_is_readonly && !settings.iter().any(|(name, value)| name == "readonly" && value != "0") {
        settings.retain(|(name, _)| name != "readonly");
        settings.push(("readonly".into(), "2".into()));
    }
    let mut leased = match &request.session {
        Some(session) if job.role == Role::Owner => {
            let mut lease = job.sessions.lease(&job.engine, session)?;
            for (name, value) in &settings {
                lease.set(name, value)?;
            }
            Leased::Session(lease)
        }
        _ => Leased::Own(job.engine.connect(&settings)?),
    };
    if let Some(database) = request.database.as_deref().filter(|name| !name.is_empty()) {
        match &mut leased {
            Leased::Session(lease) => lease.use_database(database)?,
            // It starts there.
            Leased::Own(_) if database == "default" => {}
            Leased::Own(connection) => connection.use_database(database)?,
        }
    }
    Ok(leased)
}

/// Refuses several statements at once, and those of a reader that are more than reading.
fn check(job: &Job, connection: &mut Connection, text: &[u8]) -> Result<(), Exception> {
    let class = connection.classify(text);
    match class.statements {
        // The engine says best why a text does not parse. It must not run it for that: it would run what comes before
        // the fault.
        0 => Err(connection
            .reformat(&String::from_utf8_lossy(text))
            .err()
            .unwrap_or_else(|| Exception::syntax_error("the text was not understood as a statement"))),
        1 if job.role == Role::Reader && !class.read_only => Err(readonly(job)),
        1 => Ok(()),
        _ => Err(Exception::syntax_error("Syntax error (Multi-statements are not allowed)")),
    }
}

fn readonly(job: &Job) -> Exception {
    let user = &job.request.credentials.user;
    Exception::new(164, "READONLY", format!("{user}: Cannot execute query in readonly mode."))
}

fn whole(job: &Job, text: &[u8]) -> Result<Reply, Exception> {
    let mut connection = connect(job, level(job, text, text)?)?;
    check(job, connection.get(), text)?;
    let format = default_format(job);
    let outcome = connection.get().query(text, &format, &job.request.parameters)?;
    Ok(Reply::Whole { bytes: Bytes::copy_from_slice(outcome.bytes()), format, stats: outcome.stats() })
}

fn default_format(job: &Job) -> String {
    job.request.default_format.clone().unwrap_or_else(|| "TabSeparated".into())
}

fn insert(job: &mut Job, head: &[u8], (format, data): (String, Vec<u8>), mut ended: bool) -> Result<Reply, Exception> {
    if job.role == Role::Reader {
        return Err(readonly(job));
    }
    let mut connection = connect(job, None)?;
    let mut insert = connection.get().insert(head, &format, &job.request.parameters)?;
    let mut goes_on = data.is_empty() || insert.append(&data);
    let mut chunk = vec![0; CHUNK];
    while goes_on && !ended {
        let count = read_some(&mut job.body, &mut chunk)?;
        ended = count == 0;
        goes_on = ended || insert.append(&chunk[..count]);
    }
    let stats = insert.finish()?;
    Ok(Reply::Whole { bytes: Bytes::new(), format: default_format(job), stats })
}

/// A query that is ready to run into a pipe.
struct Ready {
    connection: Leased,
    text: Vec<u8>,
    pipe: PipeReader,
    writer: PipeWriter,
}

fn ready(job: &Job, read: &statement::Read, format: &str) -> Result<Ready, Exception> {
    let (pipe, writer) = io::pipe().map_err(|error| Exception::new(76, "CANNOT_OPEN_FILE", error))?;
    enlarge(&pipe);
    let asked = [&read.body[..], &read.tail].concat();
    let text = into_pipe(read, writer.as_raw_fd(), format);
    let mut connection = connect(job, level(job, &asked, &text)?)?;
    check(job, connection.get(), &asked)?;
    // What runs must be the one statement that was checked, and go where we send it.
    if connection.get().classify(&text).statements != 1 {
        return Err(Exception::syntax_error("the output clauses were not understood"));
    }
    Ok(Ready { connection, text, pipe, writer })
}

/// Runs a query into a pipe. The reply goes out before the query starts; its outcome follows through `end`.
fn stream(job: Job, read: &statement::Read, reply: oneshot::Sender<Result<Reply, Exception>>) {
    let format = read.format.clone().unwrap_or_else(|| default_format(&job));
    let Ready { mut connection, text, pipe, writer } = match ready(&job, read, &format) {
        Ok(ready) => ready,
        Err(exception) => {
            drop(job);
            let _ = reply.send(Err(exception));
            return;
        }
    };
    let (sender, end) = oneshot::channel();
    if reply.send(Ok(Reply::Stream { pipe, format: format.clone(), end })).is_err() {
        return;
    }
    let outcome = connection.get().query(&text, &format, &job.request.parameters).map(|outcome| outcome.stats());
    // The outcome is ready before the reader sees the end of the pipe; the connection is closed and the query id free
    // before the client can know that the answer is over.
    drop(connection);
    drop(job);
    let _ = sender.send(outcome);
    drop(writer);
}

/// The query with its result sent to the pipe whose write end is `descriptor`.
fn into_pipe(read: &statement::Read, descriptor: i32, format: &str) -> Vec<u8> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let clause = format!("\nINTO OUTFILE '{folder}/{descriptor}' TRUNCATE FORMAT {format}");
    [&read.body[..], clause.as_bytes(), &read.tail].concat()
}

/// A pipe holds 64 KiB unless asked; 1 MiB saves most of the switching between writer and reader.
fn enlarge(pipe: &PipeReader) {
    #[cfg(target_os = "linux")]
    // SAFETY: an open descriptor; a refusal leaves the pipe as it was.
    unsafe {
        libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
