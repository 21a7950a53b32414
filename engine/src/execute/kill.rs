//! KILL QUERY of users other than the owner, who may end their own statements only.
//!
//! It takes no slot, so that it can end a statement while its user has none left, and the engine sees nothing of its
//! text: the registry of statements in progress has the one that it names.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bytes::Bytes;

use crate::account::Role;
use crate::chdb::outcome::Stats;
use crate::exception::Exception;
use crate::execute::cancel::cancel;
use crate::execute::job::{Job, Reply};
use crate::execute::running::{OwnStatement, Progress};
use crate::sql::kill::{KillQuery, Mode, kill_by_id};
use crate::sql::reader;

/// How long SYNC waits; a server waits as long as it takes.
const LONGEST: Duration = Duration::from_secs(10);
/// How often it looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// A KILL QUERY by the id of a statement.
pub(super) struct OwnKill {
    request: KillQuery,
    /// `None` if no such statement is in progress.
    found: Option<OwnStatement>,
}

/// A KILL QUERY that is ready to be carried out.
pub struct PreparedKill {
    pub(super) job: Job,
    pub(super) kill: OwnKill,
}

/// The KILL in `text`, if the user of `job` may end only statements of their own; `None` if the engine decides.
///
/// # Errors
///
/// If the statement is another user's, or the request has a setting that its user may not give.
pub(super) fn find(job: &Job, text: &[u8]) -> Result<Option<OwnKill>, Exception> {
    let Some(request) = kill_by_id(text).filter(|_| job.role != Role::Owner) else { return Ok(None) };
    job.query.settings.iter().try_for_each(|(name, value)| reader::check_setting(name, value))?;
    let found = job.ticket.find_own(&request.query_id, &job.user)?;
    Ok(Some(OwnKill { request, found }))
}

impl PreparedKill {
    /// Ends the statement and answers what became of it.
    pub async fn carry_out(self) -> Reply {
        let Self { mut job, kill: OwnKill { request, found } } = self;
        let row = match found {
            None => None,
            Some(OwnStatement { progress, text }) => {
                // It goes on if the client of the KILL leaves. Further ones find it going on.
                if progress.upgrade().is_some_and(|progress| !progress.is_cancelled()) {
                    tokio::spawn(cancel(Arc::clone(&job.engine), Weak::clone(&progress)));
                }
                let has_ended = request.mode == Mode::Sync && has_ended(&progress).await;
                let status = if has_ended { "finished" } else { "waiting" };
                Some([status, &request.query_id, &job.user, &text].map(escaped).join("\t") + "\n")
            }
        };
        let format = request.format.unwrap_or_else(|| job.default_format());
        let is_written = ["TabSeparated", "TSV"].iter().any(|name| name.eq_ignore_ascii_case(&format));
        let bytes = Bytes::from(row.filter(|_| is_written).unwrap_or_default());
        let stats = Stats { result_rows: u64::from(!bytes.is_empty()), ..Stats::default() };
        job.ended(Ok(stats));
        Reply::Whole { bytes, format: is_written.then_some(format), stats, timezone: job.timezone(b"") }
    }
}

/// Waits for the end of a statement that is being cancelled; false if it still goes on after [`LONGEST`].
async fn has_ended(progress: &Weak<Progress>) -> bool {
    let ended = async {
        while progress.strong_count() > 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(LONGEST, ended).await.is_ok()
}

/// A value as `TabSeparated` has it.
fn escaped(value: &str) -> String {
    let mut escaped = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\u{8}' => escaped.push_str("\\b"),
            '\u{c}' => escaped.push_str("\\f"),
            '\r' => escaped.push_str("\\r"),
            '\n' => escaped.push_str("\\n"),
            '\t' => escaped.push_str("\\t"),
            '\0' => escaped.push_str("\\0"),
            '\'' | '\\' => escaped.extend(['\\', letter]),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_one_field() {
        assert_eq!(escaped("SELECT 'a\tb'\n-- \\ é\0"), "SELECT \\'a\\tb\\'\\n-- \\\\ é\\0");
    }
}
