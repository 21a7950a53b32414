//! What a statement of a reader may use, as settings of the engine, and how a reader may lower it.

use std::time::Duration;

use crate::exception::Exception;
use crate::sql::lexer::{Kind, Token};

/// What a statement of a reader may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderLimits {
    /// How long it may run; whole seconds, at least one.
    pub time: Duration,
    /// Bytes of memory.
    pub memory: u64,
    /// Bytes of temporary files.
    pub disk: u64,
    /// Rows that it reads.
    pub rows_read: u64,
    /// Bytes that it reads, uncompressed.
    pub bytes_read: u64,
    /// Rows of its result.
    pub result_rows: u64,
    /// Bytes of its result, as the engine holds them.
    pub result_bytes: u64,
    /// Threads of a statement, `max_threads`.
    pub threads: u64,
}

impl ReaderLimits {
    /// The settings that hold a statement to the limits.
    #[must_use]
    pub fn settings(&self) -> [(&'static str, u64); 8] {
        [
            ("max_execution_time", self.time.as_secs().max(1)),
            ("max_memory_usage", self.memory),
            ("max_temporary_data_on_disk_size_for_query", self.disk),
            ("max_rows_to_read", self.rows_read),
            ("max_bytes_to_read", self.bytes_read),
            ("max_result_rows", self.result_rows),
            ("max_result_bytes", self.result_bytes),
            ("max_threads", self.threads),
        ]
    }

    /// The value that a request's setting gets: its own, or the limit if it asks for more, or for none with a 0.
    #[must_use]
    pub fn within(given: Option<u64>, most: u64) -> u64 {
        given.filter(|given| (1..=most).contains(given)).unwrap_or(most)
    }

    /// Whether `value` is within the limits, if `name` is a setting that has one. 0 means no limit to the engine.
    ///
    /// # Errors
    ///
    /// Code 452, as a server's constraints, if it is not, or is no whole number.
    pub fn check(&self, name: &str, value: &str) -> Result<(), Exception> {
        let Some((name, most)) = self.settings().into_iter().find(|(limited, _)| *limited == name) else {
            return Ok(());
        };
        let is_within = value.parse::<u64>().is_ok_and(|value| (1..=most).contains(&value));
        if is_within { Ok(()) } else { Err(beyond(name, most)) }
    }

    /// The same for a setting in the text of a statement, where it begins with `tokens`.
    ///
    /// # Errors
    ///
    /// Code 452, if the setting is not within the limits, or is no literal.
    pub fn check_tokens(&self, tokens: &[Token]) -> Result<(), Exception> {
        let [name, equals, value, after @ ..] = tokens else { return Ok(()) };
        let limited = self.settings().into_iter().find(|(limited, _)| name.names(limited));
        let Some((name, most)) = limited.filter(|_| equals.is_symbol(b'=')) else { return Ok(()) };
        let goes_on = after.first().is_some_and(|next| next.is_symbol(b'.'));
        match std::str::from_utf8(value.text) {
            Ok(text) if value.kind == Kind::Literal && !goes_on => self.check(name, text),
            _ => Err(beyond(name, most)),
        }
    }
}

fn beyond(name: &str, most: u64) -> Exception {
    let text = format!("Setting {name} of a read-only user must be an integer from 1 to {most}");
    Exception::new(452, "SETTING_CONSTRAINT_VIOLATION", text)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sql::lexer::Lexer;

    pub fn limits() -> ReaderLimits {
        let time = Duration::from_secs(60);
        let (memory, disk, rows_read, bytes_read) = (1000, 1000, 10, 10);
        ReaderLimits { time, memory, disk, rows_read, bytes_read, result_rows: 10, result_bytes: 10, threads: 2 }
    }

    #[test]
    fn limits_can_be_lowered_and_not_raised() {
        for (value, is_allowed) in [
            ("1", true),
            ("2", true),
            ("3", false),
            ("0", false),
            ("-1", false),
            ("1e9", false),
            ("", false),
            ("1.5", false),
        ] {
            assert_eq!(limits().check("max_threads", value).is_ok(), is_allowed, "{value}");
            let text = format!("max_threads = {value}, a");
            let tokens: Vec<Token> = Lexer::new(text.as_bytes()).collect();
            assert_eq!(limits().check_tokens(&tokens).is_ok(), is_allowed, "{text}");
        }
        assert!(limits().check("max_block_size", "0").is_ok());
        for text in
            ["`max_threads` = '1'", "MAX_THREADS = {a:UInt8}", "max_threads = DEFAULT", "max_memory_usage = 1001"]
        {
            let tokens: Vec<Token> = Lexer::new(text.as_bytes()).collect();
            assert!(limits().check_tokens(&tokens).is_err(), "{text}");
        }
    }
}
