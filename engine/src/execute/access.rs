//! What a user may run: one statement, and a reader only what reads.

use std::sync::Arc;

use crate::account::Role;
use crate::chdb::connection::Connection;
use crate::chdb::query_cache::{CheckedQuery, Wording};
use crate::exception::Exception;
use crate::execute::job::Job;
use crate::sql::statement::ReadQuery;
use crate::sql::{modeler, reader};

/// What a reader's statement runs with: the engine's `readonly` level; `None` for the owner's.
pub(super) type Level = Option<&'static str>;
/// That of a modeler's statement that was found to be one of those that may change something.
const CHANGES: Level = Some("0");

/// A reader's statement in the engine's own notation; `None` for the owner's. `text` runs instead of the client's
/// `original`, so `text` is what is written.
pub(super) fn written(job: &Job, original: &[u8], text: &[u8]) -> Result<Option<String>, Exception> {
    if job.role == Role::Owner {
        return Ok(None);
    }
    let utf8 = |text| {
        std::str::from_utf8(text).map_err(|_| Exception::access_denied("a read-only user's statement must be UTF-8"))
    };
    // No setting of the request may change how its statement is parsed.
    let mut plain = job.engine.connect(&[])?;
    let Ok(written) = plain.reformat(utf8(text)?) else {
        plain.reformat(utf8(original)?)?;
        return Err(Exception::syntax_error("the output clauses cannot be parsed"));
    };
    Ok(Some(written))
}

/// Checks a reader's statement and settings, and returns its level.
pub(super) fn level(job: &Job, written: Option<&str>) -> Result<Level, Exception> {
    let Some(written) = written else { return Ok(None) };
    let limits = job.limits.as_ref();
    job.query.settings.iter().try_for_each(|(name, value)| reader::check_setting(name, value))?;
    if job.role == Role::Modeler && !job.query.only_reads() && modeler::changes(written.as_bytes()) {
        job.query.settings.iter().try_for_each(|(name, _)| modeler::check_setting(name))?;
        reader::check_statement(written.as_bytes(), &job.query.parameters, limits, &modeler::TABLE_SETTINGS)?;
        modeler::check_change(written.as_bytes())?;
        return Ok(CHANGES);
    }
    reader::check_statement(written.as_bytes(), &job.query.parameters, limits, &[])?;
    Ok(Some(reader::level(written.as_bytes())))
}

/// Checks an INSERT of a modeler whose data follows it, and returns its level; a reader has none.
pub(super) fn level_of_insert(job: &Job, head: &[u8], format: &str) -> Result<Level, Exception> {
    match job.role {
        Role::Owner => Ok(None),
        Role::Modeler if !job.query.only_reads() => {
            job.query.settings.iter().try_for_each(|(name, value)| reader::check_setting(name, value))?;
            job.query.settings.iter().try_for_each(|(name, _)| modeler::check_setting(name))?;
            modeler::check_insert(head, format)?;
            Ok(CHANGES)
        }
        Role::Api | Role::Reader | Role::Modeler => Err(job.refused_as_reader()),
    }
}

/// Refuses several statements at once, and those that are more than reading of whoever may not; `level` is what they
/// run with.
pub(super) fn check(
    job: &Job,
    connection: &mut Connection,
    text: &[u8],
    level: Level,
) -> Result<CheckedQuery, Exception> {
    let class = connection.classify(text);
    match class.statements {
        // The engine's own parser gives the reason. Running the text for that would run the statements before the
        // fault.
        0 => Err(connection
            .reformat(&String::from_utf8_lossy(text))
            .err()
            .unwrap_or_else(|| Exception::syntax_error("the text cannot be parsed as a statement"))),
        1 if job.role != Role::Owner && level != CHANGES && !class.read_only => Err(job.refused_as_reader()),
        1 => Ok(CheckedQuery { written: None, is_read_only: class.read_only }),
        _ => Err(Exception::syntax_error("Syntax error (Multi-statements are not allowed)")),
    }
}

/// A query as it is remembered; `None` in a session, whose own settings may change the language.
pub(super) fn wording(job: &Job, read: &ReadQuery, format: &str) -> Option<Wording> {
    let settings = || job.query.settings.iter().filter(|(name, _)| name != "log_comment").cloned().collect();
    (job.role != Role::Owner || job.query.session.is_none()).then(|| Wording {
        role: job.role,
        settings: settings(),
        body: read.body.clone(),
        format: format.into(),
        tail: read.tail.clone(),
    })
}

/// What is remembered of a query, if it is.
pub(super) fn remembered(job: &Job, wording: Option<&Wording>) -> Option<Arc<CheckedQuery>> {
    job.engine.understood.get(wording?)
}
