//! One statement's row: collected while the statement goes on, and left in the log when it is over.

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::chdb::outcome::Stats;
use crate::exception::Exception;
use crate::execute::query_log::QueryLog;
use crate::sql::statement::kind;

/// Most bytes stored of a text, of an error, and of a shorter field.
const TEXT: usize = 8 << 10;
const ERROR: usize = 1 << 10;
const SHORT: usize = 256;
/// Most settings that are stored.
const SETTINGS: usize = 64;

/// The sender of a statement, and its request.
#[derive(Debug, Clone, Default)]
pub struct Statement {
    /// User that sent the statement.
    pub user: String,
    /// Query id, from the client or generated.
    pub query_id: String,
    /// It came by GET.
    pub is_get: bool,
    /// The client as its request says.
    pub user_agent: String,
}

/// The row of a statement; it goes into the log when this is dropped.
#[derive(Debug)]
pub struct Entry {
    log: Arc<QueryLog>,
    statement: Statement,
    since: Instant,
    started: SystemTime,
    text: Vec<u8>,
    database: String,
    settings: Vec<(String, String)>,
    workload: &'static str,
    /// Its number among those in progress, once the engine has it.
    number: Option<u64>,
    outcome: Result<Stats, Exception>,
}

impl Entry {
    /// The row of a statement that has just come.
    #[must_use]
    pub fn new(log: Arc<QueryLog>, statement: Statement) -> Self {
        let gone = Exception::new(394, "QUERY_WAS_CANCELLED", "its client disconnected before it ran");
        Self {
            log,
            statement,
            since: Instant::now(),
            started: SystemTime::now(),
            text: Vec::new(),
            database: String::new(),
            settings: Vec::new(),
            workload: "",
            number: None,
            outcome: Err(gone),
        }
    }

    /// Its text and database are known, and its settings.
    pub fn says(&mut self, text: &[u8], database: Option<&str>, settings: &[(String, String)]) {
        self.text = text[..text.len().min(TEXT)].into();
        self.database = cut(database.unwrap_or("default"), SHORT).into();
        let short = |(name, value): &(String, String)| (cut(name, SHORT).into(), cut(value, SHORT).into());
        self.settings = settings.iter().take(SETTINGS).map(short).collect();
    }

    /// It will run in a slot of this workload.
    pub fn is_for(&mut self, workload: &'static str) {
        self.workload = workload;
    }

    /// The engine has it, under this number.
    pub fn runs(&mut self, number: u64) {
        self.number = Some(number);
        self.outcome = Err(Exception::new(394, "QUERY_WAS_CANCELLED", "its client disconnected"));
    }

    /// It is over.
    pub fn ended(&mut self, outcome: Result<Stats, &Exception>) {
        self.outcome = outcome.map_err(Clone::clone);
    }

    fn write(&self, into: &mut Vec<u8>) {
        let peak = self.number.and_then(|number| self.log.peaks.take(number, self.since));
        let mut stats = self.outcome.clone().unwrap_or_default();
        if let (Some(peak), Err(_)) = (&peak, &self.outcome) {
            (stats.read_rows, stats.read_bytes) = (peak.rows, peak.bytes);
        }
        let outcome = match (&self.outcome, self.number) {
            (Ok(_), _) => 2,
            (Err(_), None) => 3,
            (Err(_), Some(_)) => 4_u8,
        };
        into.push(outcome);
        let started = self.started.duration_since(UNIX_EPOCH).unwrap_or_default();
        for time in [started, started + self.since.elapsed()] {
            into.extend(i64::try_from(time.as_micros()).unwrap_or(i64::MAX).to_le_bytes());
        }
        let Stats { read_rows, read_bytes, written_rows, written_bytes, result_rows, result_bytes } = stats;
        let memory = peak.map_or(0, |peak| peak.memory);
        for number in [read_rows, read_bytes, written_rows, written_bytes, result_rows, result_bytes, memory] {
            into.extend(number.to_le_bytes());
        }
        let Statement { user, query_id, is_get, user_agent } = &self.statement;
        string(into, self.database.as_bytes());
        string(into, &self.text);
        string(into, kind(&self.text).as_bytes());
        let (code, error) = match &self.outcome {
            Ok(_) => (0, ""),
            Err(exception) => (exception.code, cut(&exception.message, ERROR)),
        };
        into.extend(code.to_le_bytes());
        string(into, error.as_bytes());
        string(into, cut(user, SHORT).as_bytes());
        string(into, cut(query_id, SHORT).as_bytes());
        into.push(if *is_get { 1 } else { 2 });
        string(into, cut(user_agent, SHORT).as_bytes());
        let comment = self.settings.iter().rfind(|(name, _)| name == "log_comment");
        string(into, comment.map_or("", |(_, comment)| comment).as_bytes());
        length(into, self.settings.len());
        for (name, value) in &self.settings {
            string(into, name.as_bytes());
            string(into, value.as_bytes());
        }
        string(into, self.workload.as_bytes());
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.log.add(|rows| self.write(rows));
    }
}

/// The first `most` bytes of `text`, or as many as make whole characters.
fn cut(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

fn string(into: &mut Vec<u8>, text: &[u8]) {
    length(into, text.len());
    into.extend(text);
}

/// A length as `RowBinary` has it: seven bits a byte, the lowest first.
fn length(into: &mut Vec<u8>, mut length: usize) {
    while length > 0x7f {
        into.push(u8::try_from(length & 0x7f).unwrap_or(0) | 0x80);
        length >>= 7;
    }
    into.push(u8::try_from(length).unwrap_or(0));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_row_binary() {
        for (value, expected) in
            [(0, &[0][..]), (127, &[127]), (128, &[0x80, 1]), (300, &[0xac, 2]), (8192, &[0x80, 64])]
        {
            let mut bytes = Vec::new();
            length(&mut bytes, value);
            assert_eq!(bytes, expected, "{value}");
        }
    }
}
