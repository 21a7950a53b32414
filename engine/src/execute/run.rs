//! Runs one statement on the engine. Everything here blocks and runs on a thread of its own.

use std::io::Read;

use bytes::Bytes;
use tokio::sync::oneshot;

use crate::account::Role;
use crate::chdb::connection::Connection;
use crate::chdb::outcome::Stats;
use crate::codec::EncodedBody;
use crate::exception::Exception;
use crate::execute::access::{check, level, level_of_insert, written};
use crate::execute::changes::Table;
use crate::execute::connect::connect;
use crate::execute::job::{Job, Reply};
use crate::execute::kill::{self, PreparedKill};
use crate::execute::pipe::stream;
use crate::execute::reader_session::Change;
use crate::execute::text::{CHUNK, InsertData, Text, read_some, read_text};
use crate::execute::workload::{Kind, Workload};
use crate::sql::modeler;
use crate::sql::reader::may_give;
use crate::sql::settings;
use crate::sql::statement::{self, Statement};
use crate::sql::target::{Target, target};

/// Reads the text of `job`, and the first of the data of an INSERT; what follows stays in the body. Blocks while the
/// client sends it.
///
/// # Errors
///
/// If the body cannot be read or decoded, the text is too long or no statement, or ends one that is not its user's.
pub fn prepare(mut job: Job, body: EncodedBody) -> Result<Preparation, Exception> {
    let read = work(&mut job, body).and_then(|work| {
        let kill = if let Work::Kill(text) = &work { kill::find(&job, text)? } else { None };
        Ok((work, kill))
    });
    match read {
        Ok((_, Some(kill))) => Ok(Preparation::Kill(PreparedKill { job, kill })),
        Ok((work, None)) => Ok(Preparation::Statement(PreparedJob { job, work })),
        Err(exception) => {
            job.ended(Err(&exception));
            Err(exception)
        }
    }
}

fn work(job: &mut Job, body: EncodedBody) -> Result<Work, Exception> {
    let mut body = body.decode()?;
    let mut text = read_text(job, &mut body)?;
    if job.role != Role::Owner {
        job.reader_sessions.complete(&job.user, &mut job.query);
    }
    let said = match &text {
        Text::Statement(text) => text.trim_ascii().into(),
        Text::Insert { head, data, .. } => [head.trim_ascii(), b" FORMAT ", data.format.as_bytes()].concat(),
    };
    if job.role != Role::Owner {
        job.ticket.says(&said);
    }
    if let Some(entry) = &mut job.entry {
        entry.says(&said, job.query.database.as_deref(), &job.query.settings);
    }
    if let Text::Insert { data: InsertData { beginning, .. }, ended, .. } = &mut text
        && beginning.is_empty()
        && !*ended
    {
        beginning.resize(CHUNK, 0);
        let count = read_some(&mut body, beginning)?;
        beginning.truncate(count);
        *ended = count == 0;
    }
    Ok(match text {
        Text::Insert { head, data, ended } => Work::Insert { head, data, ended, body },
        Text::Statement(text) if statement::is_kill(&text) => Work::Kill(text),
        Text::Statement(text) => match statement::parse(&text, &[])? {
            Statement::Whole(text) => match Change::of(job.role, &text) {
                Some(change) => Work::Session(change),
                None => Work::Whole(text),
            },
            Statement::Read(read) => Work::Read(take_settings(job, read)),
        },
    })
}

/// Makes settings of the request of those that a reader's statement has at its end: with `readonly`, the engine takes
/// none from a text. What is not harmless stays, and is refused when the text is checked.
fn take_settings(job: &mut Job, mut read: statement::ReadQuery) -> statement::ReadQuery {
    if job.role == Role::Owner {
        return read;
    }
    for text in [&mut read.body, &mut read.tail] {
        let split = settings::split(text, |name, value| may_give(name, value, job.limits.as_ref()));
        job.query.settings.retain(|(given, _)| split.settings.iter().all(|(name, _)| name != given));
        job.query.settings.extend(split.settings);
        *text = split.text;
    }
    read
}

/// What is ready to be done.
pub enum Preparation {
    /// A statement that needs a slot.
    Statement(PreparedJob),
    /// The end of another statement, for which no slot is needed.
    Kill(PreparedKill),
}

/// A job whose text is there.
pub struct PreparedJob {
    job: Job,
    work: Work,
}

enum Work {
    Insert {
        head: Vec<u8>,
        data: InsertData,
        ended: bool,
        body: Box<dyn Read + Send>,
    },
    Whole(Vec<u8>),
    /// A USE or SET of a user whose sessions have no connection.
    Session(Change),
    /// Its targets are looked up when it runs.
    Kill(Vec<u8>),
    Read(statement::ReadQuery),
}

impl PreparedJob {
    /// The workload of the statement.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let kind = if matches!(self.work, Work::Read(_)) { Kind::Reads } else { Kind::Writes };
        Workload::of(self.job.role, kind, &self.job.query)
    }

    /// It gets no slot.
    pub fn refused(mut self, exception: &Exception) {
        self.job.ended(Err(exception));
    }
}

/// Runs a statement and sends its answer. Blocks until the statement is over.
pub fn run(prepared: PreparedJob, reply: oneshot::Sender<Result<Reply, Exception>>) {
    let workload = prepared.workload().name();
    let PreparedJob { mut job, work } = prepared;
    job.entry.iter_mut().for_each(|entry| entry.is_for(workload));
    // Its user may have ended it while it waited for a slot, where no number of it reached the engine.
    if job.ticket.is_cancelled() {
        let exception = Exception::new(394, "QUERY_WAS_CANCELLED", "Query was cancelled");
        job.ended(Err(&exception));
        drop(job);
        // A client that has gone needs no answer.
        let _ = reply.send(Err(exception));
        return;
    }
    let outcome = match work {
        Work::Read(read) => return stream(job, &read, reply),
        Work::Whole(text) => whole(&mut job, &text),
        Work::Session(change) => session(&mut job, change),
        Work::Kill(text) => kill(&mut job, &text),
        Work::Insert { head, data, ended, body } => insert(&mut job, body, &head, data, ended),
    };
    job.ended(outcome.as_ref().map(Reply::stats));
    // The query id is free again, and the log has it, before the client can know that its statement is over.
    drop(job);
    // A client that has gone needs no answer.
    let _ = reply.send(outcome);
}

fn kill(job: &mut Job, text: &[u8]) -> Result<Reply, Exception> {
    let running = job.ticket.seek();
    match statement::parse(text, &running.pooled)? {
        Statement::Whole(text) => whole(job, &text),
        Statement::Read(_) => Err(Exception::syntax_error("a KILL was parsed as a query")),
    }
}

/// Keeps what a USE or SET says for the session's next requests, if the engine takes it. Without a session it ends with
/// its request, as on a server.
fn session(job: &mut Job, change: Change) -> Result<Reply, Exception> {
    change.apply(&mut job.query, job.limits.as_ref())?;
    drop(connect(job, level(job, Some("SELECT 1"))?)?);
    if let Some(request) = &job.query.session {
        job.reader_sessions.keep(&job.user, request, change)?;
    }
    let timezone = job.timezone(b"");
    Ok(Reply::Whole { bytes: Bytes::new(), format: None, stats: Stats::default(), timezone })
}

fn whole(job: &mut Job, text: &[u8]) -> Result<Reply, Exception> {
    let level = level(job, written(job, text, text)?.as_deref())?;
    let mut connection = connect(job, level)?;
    check(job, connection.get(), text, level)?;
    if statement::writes_definitions(text) {
        job.engine.require_room()?;
    }
    let format = job.default_format();
    job.runs();
    if statement::flushes_logs(text) {
        job.query_log.iter().for_each(|log| log.flush());
    }
    let outcome = connection.get().query(text, &format, &job.query.parameters);
    if statement::may_change_names(text) {
        job.engine.pool.empty();
    }
    let outcome = outcome?;
    count(job, connection.get(), text);
    let bytes = Bytes::copy_from_slice(outcome.bytes());
    let format = (!bytes.is_empty()).then_some(format);
    Ok(Reply::Whole { bytes, format, stats: outcome.stats(), timezone: job.timezone(text) })
}

fn insert(
    job: &mut Job,
    mut body: impl Read,
    head: &[u8],
    InsertData { format, beginning }: InsertData,
    mut ended: bool,
) -> Result<Reply, Exception> {
    let level = level_of_insert(job, head, &format)?;
    if level.is_some() {
        // Values would be SQL, which was not checked.
        job.query.settings.extend(modeler::OF_INSERT.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    let mut connection = connect(job, level)?;
    job.runs();
    let mut insert = connection.get().insert(head, &format, &job.query.parameters)?;
    let mut goes_on = beginning.is_empty() || insert.append(&beginning);
    let mut chunk = vec![0; CHUNK];
    while goes_on && !ended {
        let count = read_some(&mut body, &mut chunk)?;
        ended = count == 0;
        goes_on = ended || insert.append(&chunk[..count]);
    }
    let stats = insert.finish()?;
    count(job, connection.get(), head);
    Ok(Reply::Whole { bytes: Bytes::new(), format: None, stats, timezone: job.timezone(head) })
}

/// Counts `text`, which has run, as a change of the table whose rows it changed. The client does not know yet that it
/// is over.
fn count(job: &Job, connection: &mut Connection, text: &[u8]) {
    match target(text, &job.query.parameters) {
        Target::Nothing => {}
        Target::Unknown => job.changes.changed_somewhere(),
        Target::Database(database) => job.changes.changed_in(&database),
        Target::Table { database, table } => match database.map_or_else(|| current_database(job, connection), Ok) {
            Ok(database) => job.changes.changed(&Table { database, table }),
            Err(_) => job.changes.changed_somewhere(),
        },
    }
}

fn current_database(job: &Job, connection: &mut Connection) -> Result<String, Exception> {
    match job.query.database.as_ref().filter(|name| !name.is_empty()) {
        Some(database) => Ok(database.clone()),
        // A session may have changed it with USE.
        None if job.query.session.is_some() => connection.text("SELECT currentDatabase()"),
        None => Ok("default".into()),
    }
}
