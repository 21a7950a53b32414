//! What a user may run: one statement, and a reader only what reads.

use crate::account::Role;
use crate::chdb::connection::Connection;
use crate::exception::Exception;
use crate::execute::job::Job;
use crate::sql::reader;

/// What a reader's statement runs with: the engine's `readonly` level; `None` for the owner's.
pub(super) type Level = Option<&'static str>;

/// Checks a reader's statement and returns its level. `text` runs in place of the client's `original`, so `text` is
/// checked.
pub(super) fn level(job: &Job, original: &[u8], text: &[u8]) -> Result<Level, Exception> {
    if job.role != Role::Reader {
        return Ok(None);
    }
    job.query.settings.iter().try_for_each(|(name, _)| reader::check_setting(name))?;
    let utf8 = |text| {
        std::str::from_utf8(text).map_err(|_| Exception::access_denied("a read-only user's statement must be UTF-8"))
    };
    // No setting of the request may change how its statement is parsed.
    let mut plain = job.engine.connect(&[])?;
    let Ok(written) = plain.reformat(utf8(text)?) else {
        plain.reformat(utf8(original)?)?;
        return Err(Exception::syntax_error("the output clauses were not understood"));
    };
    reader::check_statement(written.as_bytes(), &job.query.parameters)?;
    Ok(Some(reader::level(written.as_bytes())))
}

/// Refuses several statements at once, and those of a reader that are more than reading.
pub(super) fn check(job: &Job, connection: &mut Connection, text: &[u8]) -> Result<(), Exception> {
    let class = connection.classify(text);
    match class.statements {
        // The engine's own parser gives the reason. Running the text for that would run the statements before the fault.
        0 => Err(connection
            .reformat(&String::from_utf8_lossy(text))
            .err()
            .unwrap_or_else(|| Exception::syntax_error("the text was not understood as a statement"))),
        1 if job.role == Role::Reader && !class.read_only => Err(job.refused_as_reader()),
        1 => Ok(()),
        _ => Err(Exception::syntax_error("Syntax error (Multi-statements are not allowed)")),
    }
}
