//! The formats of a scan, and the end mark of each.

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::Schema;
use arrow::ipc::writer::StreamWriter;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::end::End;
use super::layout::Layout;
use crate::error::Problem;
use trawl_core::store::Batch;
use trawl_json::JsonWriter;

/// A format of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// `{"items": […], "end": {…}}`.
    Json,
    /// One row per line, and the end mark as the last line: `{"end": {…}}`.
    Ndjson,
    /// A header and one row per line.
    Csv(Mark),
    /// An Arrow stream: complete with its end-of-stream message; the request is in the metadata of its schema.
    Arrow,
    /// A Parquet file: complete with its footer, which holds the end mark as `trawl.end`.
    Parquet,
}

/// The last line of CSV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// The end mark, after `# `.
    Line,
    /// A row, as programs expect that know no comments: the end mark is in the trailers alone.
    Off,
}

impl Mark {
    /// The mark of the parameter `mark`.
    ///
    /// # Errors
    ///
    /// When the value is neither `0` nor `1`.
    pub fn of_request(text: &str) -> Result<Self, Problem> {
        match text {
            "1" => Ok(Self::Line),
            "0" => Ok(Self::Off),
            _ => Err(Problem::invalid_parameter("mark", "is one of 0, 1")),
        }
    }
}

impl Format {
    /// The format with this mark, if one was requested.
    ///
    /// # Errors
    ///
    /// When only CSV could have it.
    pub fn marked(self, mark: Option<Mark>) -> Result<Self, Problem> {
        match (self, mark) {
            (Self::Csv(_), Some(mark)) => Ok(Self::Csv(mark)),
            (_, Some(Mark::Off)) => Err(Problem::invalid_parameter("mark", "can only be 0 with format=csv")),
            (other, _) => Ok(other),
        }
    }

    /// The format that the parameter `format` names.
    ///
    /// # Errors
    ///
    /// When no format has this name.
    pub fn of_request(name: &str) -> Result<Self, Problem> {
        let known = "is one of json, ndjson, csv, arrow, parquet";
        Self::named(name).ok_or_else(|| Problem::invalid_parameter("format", known))
    }

    /// The format of a name.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "json" => Self::Json,
            "ndjson" | "jsonl" => Self::Ndjson,
            "csv" => Self::Csv(Mark::Line),
            "arrow" => Self::Arrow,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }

    /// The first known format of the header `Accept`; JSON without one.
    pub fn accepted(accept: Option<&str>) -> Self {
        let media = |offer: &str| offer.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = |offer: &str| match media(offer).as_str() {
            "application/json" => Some(Self::Json),
            "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => Some(Self::Ndjson),
            "text/csv" => Some(Self::Csv(Mark::Line)),
            "application/vnd.apache.arrow.stream" => Some(Self::Arrow),
            "application/vnd.apache.parquet" => Some(Self::Parquet),
            _ => None,
        };
        accept.and_then(|accept| accept.split(',').find_map(known)).unwrap_or(Self::Json)
    }

    /// The value of the header `Content-Type`.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Ndjson => "application/x-ndjson",
            Self::Csv(_) => "text/csv; charset=utf-8",
            Self::Arrow => "application/vnd.apache.arrow.stream",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// The extension of a file that browsers save; `None` for formats that they display.
    pub fn ending(self) -> Option<&'static str> {
        match self {
            Self::Json | Self::Ndjson => None,
            Self::Csv(_) => Some("csv"),
            Self::Arrow => Some("arrows"),
            Self::Parquet => Some("parquet"),
        }
    }
}

/// Encodes the rows of an answer in its format.
pub(super) struct Encoder<L> {
    layout: L,
    state: State,
}

/// The progress of an encoder.
enum State {
    Json { is_first: bool },
    Ndjson,
    Csv(Mark),
    Arrow(Option<StreamWriter<Vec<u8>>>),
    Parquet(Option<(ArrowWriter<Tap>, Tap)>),
}

/// Rows of a row group of a Parquet file: one group is held in memory, compressed column by column.
const ROW_GROUP: usize = 65_536;
/// Bytes of it that are held in memory; a group of rows with much data has fewer rows.
const ROW_GROUP_BYTES: usize = 16 << 20;

impl<L: Layout> Encoder<L> {
    /// An encoder without any rows so far.
    pub fn new(format: Format, layout: L) -> Self {
        let state = match format {
            Format::Json => State::Json { is_first: true },
            Format::Ndjson => State::Ndjson,
            Format::Csv(mark) => State::Csv(mark),
            Format::Arrow => State::Arrow(None),
            Format::Parquet => State::Parquet(None),
        };
        Self { layout, state }
    }

    /// Rows that are encoded at a time. Each Arrow batch has a fixed cost, so it is as large as those of the database;
    /// the other formats are text, with data of usual length a few hundred kilobytes.
    pub fn rows_per_step(&self) -> usize {
        match self.state {
            State::Arrow(_) => 8_192,
            _ => 512,
        }
    }

    /// The layout of the rows.
    pub fn layout(&mut self) -> &mut L {
        &mut self.layout
    }

    /// Writes the part before the first row.
    ///
    /// # Errors
    ///
    /// When the format's writer fails.
    pub fn begin(&mut self, end: &End, out: &mut JsonWriter) -> Result<(), Problem> {
        match &mut self.state {
            State::Json { .. } => out.raw("{\"items\":["),
            State::Ndjson => {}
            State::Csv(_) => out.raw(self.layout.csv_header()),
            State::Arrow(writer) => {
                let metadata = [("trawl.begin".to_owned(), end.json().to_string())].into();
                let schema = Schema::new(self.layout.schema().fields().clone()).with_metadata(metadata);
                let started =
                    StreamWriter::try_new(Vec::new(), &schema).map_err(|error| Problem::not_encoded(&error))?;
                take(writer.insert(started), out);
            }
            State::Parquet(writer) => {
                let tap = Tap::default();
                let properties = WriterProperties::builder()
                    .set_compression(Compression::ZSTD(ZstdLevel::default()))
                    .set_max_row_group_row_count(Some(ROW_GROUP))
                    .build();
                let started = ArrowWriter::try_new(tap.clone(), self.layout.schema(), Some(properties));
                *writer = Some((started.map_err(|error| Problem::not_encoded(&error))?, tap));
            }
        }
        Ok(())
    }

    /// The bytes of a batch that can be sent unchanged, after the text so far; `None` if it has to be encoded.
    pub fn message(&self, batch: &Batch<L::Row>) -> Option<Bytes> {
        if matches!(self.state, State::Arrow(_)) { self.layout.message(batch) } else { None }
    }

    /// Encodes some rows of a batch.
    ///
    /// # Errors
    ///
    /// When the format's writer fails.
    pub fn rows(&mut self, batch: &Batch<L::Row>, rows: Range<usize>, out: &mut JsonWriter) -> Result<(), Problem> {
        let (view, layout) = (batch.view(), &self.layout);
        match &mut self.state {
            State::Json { is_first } => {
                for row in rows {
                    if !std::mem::replace(is_first, false) {
                        out.raw(",");
                    }
                    layout.write_json(out, &view, row);
                }
            }
            State::Ndjson => {
                for row in rows {
                    layout.write_json(out, &view, row);
                    out.raw("\n");
                }
            }
            State::Csv(_) => rows.for_each(|row| layout.write_csv(out, &view, row)),
            State::Arrow(writer) => {
                let writer = writer.as_mut().ok_or(Problem::Internal)?;
                writer.write(&layout.columns(batch, rows)?).map_err(|error| Problem::not_encoded(&error))?;
                take(writer, out);
            }
            State::Parquet(writer) => {
                let (writer, tap) = writer.as_mut().ok_or(Problem::Internal)?;
                writer.write(&layout.columns(batch, rows)?).map_err(|error| Problem::not_encoded(&error))?;
                if writer.in_progress_size() > ROW_GROUP_BYTES {
                    writer.flush().map_err(|error| Problem::not_encoded(&error))?;
                }
                out.raw(tap.take());
            }
        }
        Ok(())
    }

    /// Writes the part after the last row, with the end mark if the format can hold one.
    ///
    /// # Errors
    ///
    /// When the format's writer fails.
    pub fn end(self, end: &End, out: &mut JsonWriter) -> Result<(), Problem> {
        let mark = end.json();
        match self.state {
            State::Json { .. } => out.raw(format!("],\"end\":{mark}}}\n")),
            State::Ndjson => out.raw(format!("{{\"end\":{mark}}}\n")),
            State::Csv(Mark::Line) => out.raw(format!("# {mark}\n")),
            State::Csv(Mark::Off) => {}
            State::Arrow(writer) => {
                let mut writer = writer.ok_or(Problem::Internal)?;
                writer.finish().map_err(|error| Problem::not_encoded(&error))?;
                take(&mut writer, out);
            }
            State::Parquet(writer) => {
                let (mut writer, tap) = writer.ok_or(Problem::Internal)?;
                writer.append_key_value_metadata(KeyValue::new("trawl.end".into(), mark.to_string()));
                writer.close().map_err(|error| Problem::not_encoded(&error))?;
                out.raw(tap.take());
            }
        }
        Ok(())
    }
}

fn take(writer: &mut StreamWriter<Vec<u8>>, out: &mut JsonWriter) {
    let next = Vec::with_capacity(writer.get_ref().len());
    out.whole(std::mem::replace(writer.get_mut(), next));
}

/// The output of a Parquet writer that has not been sent yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Tap(Arc<Mutex<Vec<u8>>>);

impl Tap {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
