//! What a statement of a reader may use, as settings of the engine, and how a reader may lower it.

use std::time::Duration;

use crate::exception::Exception;
use crate::sql::lexer::{Kind, Token};

/// The only limit that may have a fraction.
const TIME: &str = "max_execution_time";

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
            (TIME, self.time.as_secs().max(1)),
            ("max_memory_usage", self.memory),
            ("max_temporary_data_on_disk_size_for_query", self.disk),
            ("max_rows_to_read", self.rows_read),
            ("max_bytes_to_read", self.bytes_read),
            ("max_result_rows", self.result_rows),
            ("max_result_bytes", self.result_bytes),
            ("max_threads", self.threads),
        ]
    }

    /// The value that a request's setting gets: its own, or the limit if it asks for more, or for none with a 0. Parts
    /// of a second count as a whole one.
    #[must_use]
    pub fn within(name: &str, given: Option<&str>, most: u64) -> u64 {
        let given = given.and_then(|given| if name == TIME { whole_seconds(given) } else { given.parse().ok() });
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

/// A number of seconds such as `1.5`, rounded up; `None` for what is none.
fn whole_seconds(value: &str) -> Option<u64> {
    let time = value.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())?;
    time.as_secs().checked_add(u64::from(time.subsec_nanos() > 0))
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
    fn a_part_of_a_second_counts_as_a_whole_one() {
        for (given, expected) in [
            ("1.5", 2),
            ("0.25", 1),
            ("1e1", 10),
            ("7", 7),
            ("60", 60),
            ("59.5", 60),
            ("60.5", 60),
            ("0", 60),
            ("0.0", 60),
            ("-1.5", 60),
            ("inf", 60),
            ("NaN", 60),
            ("1e300", 60),
            ("", 60),
            ("two", 60),
        ] {
            assert_eq!(ReaderLimits::within("max_execution_time", Some(given), 60), expected, "{given}");
        }
        assert_eq!(ReaderLimits::within("max_execution_time", None, 60), 60);
        assert_eq!(ReaderLimits::within("max_threads", Some("1.5"), 60), 60);
        assert_eq!(ReaderLimits::within("max_threads", Some("3"), 60), 3);
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
