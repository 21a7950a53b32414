//! JSON files to chunks: an object a line, or one array of objects. Numbers stay the text they are, so none loses
//! digits.

use std::collections::BTreeMap;
use std::fmt;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde::Deserializer;
use serde::de::{Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::row::{Cells, Chunk, Chunks, ROWS, TextRow, malformed};
use crate::source::{SourceError, unreadable};

type Object = BTreeMap<String, Box<RawValue>>;

/// Reads objects from the beginning; the first character shows which form it is.
pub(super) fn open(file: &Path, mut reader: impl BufRead + Send + 'static) -> Result<Chunks, SourceError> {
    let start = reader.fill_buf().map_err(|error| unreadable(file, &error))?;
    if start.trim_ascii_start().starts_with(b"[") {
        return Ok(array(file.into(), reader));
    }
    Ok(Box::new(RowChunks { rows: Lines { file: file.into(), reader, number: 0, ended: false }, next: None }))
}

/// A row with the names of its cells.
struct NamedRow {
    names: Vec<String>,
    cells: TextRow,
}

impl NamedRow {
    fn new(object: Object) -> Result<Self, serde_json::Error> {
        let mut cells = Vec::with_capacity(object.len());
        for value in object.values() {
            cells.push(match value.get() {
                "null" => None,
                text if text.starts_with('"') => Some(serde_json::from_str::<Box<str>>(text)?),
                text => Some(text.into()),
            });
        }
        Ok(Self { names: object.into_keys().collect(), cells: cells.into() })
    }
}

/// Consecutive rows with the same names, joined to chunks.
struct RowChunks<I> {
    rows: I,
    next: Option<NamedRow>,
}

impl<I: Iterator<Item = Result<NamedRow, SourceError>>> Iterator for RowChunks<I> {
    type Item = Result<Chunk, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let first = match self.next.take() {
            Some(row) => row,
            None => match self.rows.next()? {
                Ok(row) => row,
                Err(error) => return Some(Err(error)),
            },
        };
        let names: Arc<[String]> = first.names.into();
        let mut cells = vec![first.cells];
        while cells.len() < ROWS {
            match self.rows.next() {
                None => break,
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(row)) if *row.names == *names => cells.push(row.cells),
                Some(Ok(row)) => {
                    self.next = Some(row);
                    break;
                }
            }
        }
        Some(Ok(Chunk { names, cells: Cells::Text(cells) }))
    }
}

struct Lines<R> {
    file: PathBuf,
    reader: R,
    number: u64,
    ended: bool,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<NamedRow, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = String::new();
        while !self.ended {
            line.clear();
            self.number += 1;
            match self.reader.read_line(&mut line) {
                Ok(0) => self.ended = true,
                Ok(_) if line.trim().is_empty() => {}
                Ok(_) => {
                    let row = serde_json::from_str(&line).and_then(NamedRow::new);
                    self.ended = row.is_err();
                    return Some(row.map_err(|error| self.at_line(error)));
                }
                Err(error) => {
                    self.ended = true;
                    return Some(Err(self.at_line(error)));
                }
            }
        }
        None
    }
}

impl<R> Lines<R> {
    fn at_line(&self, error: impl fmt::Display) -> SourceError {
        malformed(&self.file, format!("line {}: {error}", self.number))
    }
}

/// An array is read by a thread of its own, as a parser that pushes cannot give the next element on request.
fn array(file: PathBuf, reader: impl BufRead + Send + 'static) -> Chunks {
    let (sender, receiver) = sync_channel(ROWS);
    std::thread::spawn(move || {
        let mut parser = serde_json::Deserializer::from_reader(reader);
        let parsed = parser.deserialize_seq(RowVisitor { sender: &sender }).and_then(|()| parser.end());
        // A receiver that is gone needs no error.
        let _ = sender.send(parsed.map(|()| None).map_err(|error| malformed(&file, error)));
    });
    Box::new(RowChunks { rows: RowReceiver { receiver, ended: false }, next: None })
}

/// A row, or `None` at the end of the array: a thread that ends without it has not read everything.
type RowMessage = Result<Option<NamedRow>, SourceError>;

struct RowReceiver {
    receiver: Receiver<RowMessage>,
    ended: bool,
}

impl Iterator for RowReceiver {
    type Item = Result<NamedRow, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let sent = self.receiver.recv().expect("the thread sends an end or an error last");
        self.ended = !matches!(sent, Ok(Some(_)));
        sent.transpose()
    }
}

struct RowVisitor<'a> {
    sender: &'a SyncSender<RowMessage>,
}

impl<'de> Visitor<'de> for RowVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of objects")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<(), A::Error> {
        while let Some(object) = sequence.next_element::<Object>()? {
            let row = NamedRow::new(object).map_err(A::Error::custom)?;
            self.sender.send(Ok(Some(row))).map_err(|_| A::Error::custom("the receiver is gone"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::source::columns::cell::Cell;

    fn rows(text: &'static str) -> Result<Vec<Chunk>, SourceError> {
        open(Path::new("x.json"), Cursor::new(text))?.collect()
    }

    #[test]
    fn digits_survive_and_missing_differs_from_null() {
        let big = r#"{"a": 115792089237316195423570985008687907853269984665640564039457584007913129639935, "b": null}
            {"a": 1}"#;
        let chunks = rows(big).expect("JSON lines");
        assert_eq!(chunks.len(), 2);
        assert!(matches!(chunks[0].row(0).cell(&["a"]), Cell::Text(text) if text.len() == 78));
        assert_eq!(chunks[0].row(0).cell(&["b"]), Cell::Null);
        assert_eq!(chunks[1].row(0).cell(&["b"]), Cell::Absent);
        assert_eq!(chunks[1].row(0).cell(&["x", "a"]), Cell::Text("1"));
    }

    #[test]
    fn arrays_give_the_same_rows_as_lines() {
        let chunks = rows(r#" [{"a":"\u0031","b":[1]}, {"a":2,"b":true}]"#).expect("a JSON array");
        assert_eq!((chunks.len(), chunks[0].len()), (1, 2));
        assert_eq!(chunks[0].row(0).cell(&["a"]), Cell::Text("1"));
        assert_eq!(chunks[0].row(0).cell(&["b"]), Cell::Text("[1]"));
        for bad in ["[{\"a\":1}", "[1]", "{\"a\":", "[{\"a\":1}] x", "x"] {
            assert!(rows(bad).is_err(), "{bad}");
        }
    }
}
