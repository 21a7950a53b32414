//! Results of any size: the engine writes them into a pipe (`INTO OUTFILE`), and the answer reads it.
//!
//! So every format is one document, written by the engine's own formatter with back-pressure. libchdb's streaming calls
//! are not used for results: each of their chunks is a document of its own, and joined ArrowStream chunks read as fewer
//! rows without an error.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::AsRawFd;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::chdb::query_cache::CheckedQuery;
use crate::exception::Exception;
use crate::execute::access::{self, level};
use crate::execute::connect::{ConnectionLease, connect_to_read};
use crate::execute::job::{Job, Reply};
use crate::sql::statement;

/// A query that is ready to run into a pipe.
struct Ready {
    connection: ConnectionLease,
    known: Arc<CheckedQuery>,
    text: Vec<u8>,
    pipe: PipeReader,
    writer: PipeWriter,
}

/// The first version of the native protocol whose blocks have a byte more for each column
/// (`DBMS_MIN_REVISION_WITH_CUSTOM_SERIALIZATION`).
const FIRST_WITH_SERIALIZATIONS: u64 = 54_454;

/// Refuses `Native` to a client that would read it by a newer version of the protocol than libchdb writes to a pipe.
fn check_version(job: &Job, format: &str) -> Result<(), Exception> {
    if format.eq_ignore_ascii_case("Native") && job.query.protocol_version >= FIRST_WITH_SERIALIZATIONS {
        let text = "the format Native is written without client_protocol_version here: use RowBinaryWithNamesAndTypes \
                    or ArrowStream, or leave the parameter out";
        return Err(Exception::new(48, "NOT_IMPLEMENTED", text));
    }
    Ok(())
}

fn ready(job: &Job, read: &statement::ReadQuery, format: &str) -> Result<Ready, Exception> {
    check_version(job, format)?;
    let (pipe, writer) = io::pipe().map_err(|error| Exception::new(76, "CANNOT_OPEN_FILE", error))?;
    enlarge(&pipe);
    let wording = access::wording(job, read, format);
    let (connection, known) = match access::remembered(job, wording.as_ref()) {
        Some(known) => (connect_to_read(job, level(job, known.written.as_deref())?)?, known),
        None => {
            let (connection, known) = understand(job, read, format)?;
            let known = Arc::new(known);
            if let Some(wording) = wording {
                job.engine.understood.remember(wording, &known);
            }
            (connection, known)
        }
    };
    let text = into_pipe(read, writer.as_raw_fd(), format);
    Ok(Ready { connection, known, text, pipe, writer })
}

/// Has the engine's parser look at a query. It reads one like that which runs, with another descriptor.
fn understand(
    job: &Job,
    read: &statement::ReadQuery,
    format: &str,
) -> Result<(ConnectionLease, CheckedQuery), Exception> {
    let original = [&read.body[..], &read.tail].concat();
    let text = into_pipe(read, 0, format);
    let written = access::written(job, &original, &text)?;
    let level = level(job, written.as_deref())?;
    let mut connection = connect_to_read(job, level)?;
    let known = access::check(job, connection.get(), &original, level)?;
    // What runs must be the one statement that was checked, and go where we send it.
    if connection.get().classify(&text).statements != 1 {
        return Err(Exception::syntax_error("the output clauses cannot be parsed"));
    }
    Ok((connection, CheckedQuery { written, ..known }))
}

/// Runs a query into a pipe. The reply goes out before the query starts; its outcome follows through `end`.
pub(super) fn stream(mut job: Job, read: &statement::ReadQuery, reply: oneshot::Sender<Result<Reply, Exception>>) {
    let format = read.format.clone().unwrap_or_else(|| job.default_format());
    let Ready { mut connection, known, text, pipe, writer } = match ready(&job, read, &format) {
        Ok(ready) => ready,
        Err(exception) => {
            job.ended(Err(&exception));
            drop(job);
            let _ = reply.send(Err(exception));
            return;
        }
    };
    let (sender, end) = oneshot::channel();
    let timezone = job.timezone(&[&read.body[..], b" ", &read.tail].concat());
    if reply.send(Ok(Reply::Stream { pipe, format: format.clone(), end, timezone })).is_err() {
        return;
    }
    job.runs();
    let outcome = connection.get().query(&text, &format, &job.query.parameters).map(|outcome| outcome.stats());
    job.ended(outcome.as_ref().map(|stats| *stats));
    // The outcome is ready before the reader sees the end of the pipe; the connection is closed or pooled and the query
    // id free before the client can know that the answer is over.
    if outcome.is_ok() && known.is_read_only {
        connection.keep(&job);
    } else {
        drop(connection);
    }
    drop(job);
    let _ = sender.send(outcome);
    drop(writer);
}

/// The query with its result sent to the pipe whose write end is `descriptor`.
fn into_pipe(read: &statement::ReadQuery, descriptor: i32, format: &str) -> Vec<u8> {
    let folder = if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" };
    let clause = format!("\nINTO OUTFILE '{folder}/{descriptor}' TRUNCATE FORMAT {format}");
    [&read.body[..], clause.as_bytes(), &read.tail].concat()
}

/// A pipe holds 64 KiB by default; 1 MiB saves most of the switching between writer and reader.
fn enlarge(pipe: &PipeReader) {
    #[cfg(target_os = "linux")]
    // SAFETY: an open descriptor; a refusal leaves the pipe as it was.
    unsafe {
        libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, 1 << 20);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = pipe;
}
