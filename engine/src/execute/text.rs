//! Reads the text of a statement from a request's body, and finds where it ends.

use std::io::Read;

use crate::account::Role;
use crate::exception::Exception;
use crate::execute::job::Job;
use crate::sql::insert::{InsertScan, scan_insert, starts_insert};

/// Longest statement text; data of an INSERT is not part of it. The engine's `max_query_size` has 256 KiB at first.
const MAX_TEXT: usize = 64 << 20;
/// The same for a reader, who cannot raise `max_query_size`.
const MAX_TEXT_OF_READER: usize = 1 << 20;
/// How much of the body is read at a time, and handed to the engine at a time.
pub(super) const CHUNK: usize = 256 << 10;

/// The text of a request, or the text of an INSERT and the beginning of its data.
pub(super) enum Text {
    Statement(Vec<u8>),
    Insert { head: Vec<u8>, data: InsertData, ended: bool },
}

/// What follows the statement of an INSERT.
pub(super) struct InsertData {
    /// Name of its format.
    pub format: String,
    /// The beginning of the data, as far as it was read with the statement.
    pub beginning: Vec<u8>,
}

/// Reads the body up to where the statement ends. As on a server, a line feed joins `query` and body.
pub(super) fn read_text(job: &mut Job, body: &mut impl Read) -> Result<Text, Exception> {
    let mut text = std::mem::take(&mut job.query.text).into_bytes();
    if !text.is_empty() {
        text.push(b'\n');
    }
    let longest = if job.role != Role::Owner { MAX_TEXT_OF_READER } else { MAX_TEXT };
    let mut ended = false;
    let mut looked_at = 0;
    let mut chunk = vec![0; CHUNK];
    loop {
        // Scanning again only after a quarter more keeps the cost of a text that arrives byte by byte linear.
        let look = ended || text.len() > looked_at + looked_at / 4;
        if look {
            looked_at = text.len();
        }
        if look && starts_insert(&text, ended) == Some(true) {
            match scan_insert(&text, ended)? {
                InsertScan::Data(head) => {
                    let beginning = text.split_off(head.data_start);
                    let data = InsertData { format: head.format, beginning };
                    text.truncate(head.query_length);
                    return Ok(Text::Insert { head: text, data, ended });
                }
                InsertScan::Whole | InsertScan::NeedMore => {}
            }
        }
        if text.len() > longest {
            let text = format!("a statement may have at most {longest} bytes, without the data of an INSERT");
            return Err(Exception::syntax_error(text));
        }
        if ended {
            return Ok(Text::Statement(text));
        }
        let count = read_some(body, &mut chunk)?;
        text.extend_from_slice(&chunk[..count]);
        ended = count == 0;
    }
}

/// Reads what the body has now; waits only if it has nothing. Returns how much, 0 at its end.
pub(super) fn read_some(body: &mut impl Read, into: &mut [u8]) -> Result<usize, Exception> {
    body.read(into)
        .map_err(|error| Exception::new(1000, "POCO_EXCEPTION", format!("the request body cannot be read: {error}")))
}
