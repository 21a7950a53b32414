//! Where the text of an INSERT ends and its data begins.

use crate::exception::Exception;
use crate::sql::lexer::{Lexer, Token};

/// Where the data of an INSERT starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InsertScan {
    /// The data has not begun yet.
    NeedMore,
    /// No inline data: INSERT … SELECT and the like.
    Whole,
    /// Data follows the text of the statement.
    Data(InsertHead),
}

/// An INSERT whose data follows its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsertHead {
    /// Length of the statement without its FORMAT clause.
    pub query_length: usize,
    /// Format of the data.
    pub format: String,
    /// Offset of the first byte of data.
    pub data_start: usize,
}

/// Whether the first word of `text` is INSERT; `None` while there is no whole word yet.
#[must_use]
pub fn starts_insert(text: &[u8], complete: bool) -> Option<bool> {
    let first = Lexer::new(text).next()?;
    (complete || first.end() < text.len()).then(|| first.is_word("INSERT"))
}

/// Looks for the position where the data of an INSERT begins. `complete`: no more text will come.
///
/// # Errors
///
/// If FORMAT has no name, or the data is to come from a file.
pub fn scan_insert(text: &[u8], complete: bool) -> Result<InsertScan, Exception> {
    let tokens: Vec<Token> = Lexer::new(text).filter(|token| token.depth == 0).collect();
    // A word that touches the end of the text may still grow.
    let whole = |token: &Token| complete || token.end() < text.len();
    for (position, token) in tokens.iter().enumerate().skip(2) {
        let next = tokens.get(position + 1);
        let names_a_table = tokens[position - 1].is_word("INTO")
            || tokens[position - 1].is_word("TABLE")
            || tokens[position - 1].is_symbol(b'.');
        if names_a_table || !whole(token) {
            continue;
        }
        if token.is_word("VALUES") {
            return Ok(InsertScan::Data(InsertHead {
                query_length: token.start,
                format: "Values".into(),
                data_start: token.end(),
            }));
        }
        if token.is_word("FORMAT") {
            return Ok(match next {
                Some(name) if whole(name) => InsertScan::Data(InsertHead {
                    query_length: token.start,
                    format: String::from_utf8_lossy(name.text).into_owned(),
                    data_start: data_start(text, name.end()),
                }),
                _ if complete => return Err(Exception::syntax_error("FORMAT without a name")),
                _ => InsertScan::NeedMore,
            });
        }
        if token.is_word("INFILE") {
            return Err(outside_file());
        }
        if token.is_word("SELECT") || token.is_word("WITH") || token.is_word("WATCH") {
            return Ok(InsertScan::Whole);
        }
    }
    Ok(if complete { InsertScan::Whole } else { InsertScan::NeedMore })
}

/// After `FORMAT name`, blanks up to one line feed belong to the statement; the rest is data.
fn data_start(text: &[u8], from: usize) -> usize {
    let rest = &text[from..];
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    from + blanks + usize::from(rest.get(blanks) == Some(&b'\n'))
}

/// A server's error about clauses that only its command line client has.
pub(super) fn outside_file() -> Exception {
    Exception::new(
        358,
        "INTO_OUTFILE_NOT_ALLOWED",
        "INTO OUTFILE and FROM INFILE are features of clickhouse-client: send or receive the data over HTTP instead",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn insert_data_starts_behind_the_format() {
        let scan = |text: &str| scan_insert(text.as_bytes(), false).expect("scans");
        let head = |text: &str| match scan(text) {
            InsertScan::Data(head) => {
                (text[..head.query_length].to_owned(), head.format, text[head.data_start..].to_owned())
            }
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(head("INSERT INTO t FORMAT CSV\n1,2\n"), ("INSERT INTO t ".into(), "CSV".into(), "1,2\n".into()));
        assert_eq!(head("INSERT INTO t (a) FORMAT CSV 1,2").2, "1,2");
        assert_eq!(head("INSERT INTO format FORMAT TSV \n\n1").2, "\n1");
        assert_eq!(
            head("insert into t settings a=1 values (1)"),
            ("insert into t settings a=1 ".into(), "Values".into(), " (1)".into())
        );
        assert_eq!(scan("INSERT INTO t FORMAT RowBin"), InsertScan::NeedMore);
        assert_eq!(scan("INSERT INTO t (a, b) "), InsertScan::NeedMore);
        assert_eq!(scan("INSERT INTO t SELECT 1 "), InsertScan::Whole);
        assert!(scan_insert(b"INSERT INTO t FROM INFILE 'x' FORMAT CSV", true).is_err());
    }
}
