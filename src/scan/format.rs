//! The formats of a scan, and how each says that it is whole.

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
    /// A row a line, and the mark as the last line: `{"end": {…}}`.
    Ndjson,
    /// A header, a row a line, and the mark as the last line, behind `# `.
    Csv,
    /// An Arrow stream: whole if its end-of-stream message is there; what was asked is in the metadata of its schema.
    Arrow,
    /// Whole if its footer is there, which holds the mark as `trawl.end`.
    Parquet,
}

impl Format {
    /// By the parameter `format`.
    ///
    /// # Errors
    ///
    /// When there is no such format.
    pub fn of_request(name: &str) -> Result<Self, Problem> {
        let known = "is one of json, ndjson, csv, arrow, parquet";
        Self::named(name).ok_or_else(|| Problem::invalid_parameter("format", known))
    }

    /// By the name a request gives.
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "json" => Self::Json,
            "ndjson" | "jsonl" => Self::Ndjson,
            "csv" => Self::Csv,
            "arrow" => Self::Arrow,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }

    /// The first that a client accepts; JSON if it says nothing that is known here.
    pub fn accepted(accept: Option<&str>) -> Self {
        let media = |offer: &str| offer.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let known = |offer: &str| match media(offer).as_str() {
            "application/json" => Some(Self::Json),
            "application/x-ndjson" | "application/jsonl" | "application/x-jsonlines" => Some(Self::Ndjson),
            "text/csv" => Some(Self::Csv),
            "application/vnd.apache.arrow.stream" => Some(Self::Arrow),
            "application/vnd.apache.parquet" => Some(Self::Parquet),
            _ => None,
        };
        accept.and_then(|accept| accept.split(',').find_map(known)).unwrap_or(Self::Json)
    }

    pub fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Arrow => "application/vnd.apache.arrow.stream",
            Self::Parquet => "application/vnd.apache.parquet",
        }
    }

    /// The ending of a file that a browser saves; none of what it shows.
    pub fn ending(self) -> Option<&'static str> {
        match self {
            Self::Json | Self::Ndjson => None,
            Self::Csv => Some("csv"),
            Self::Arrow => Some("arrows"),
            Self::Parquet => Some("parquet"),
        }
    }
}

/// Writes an answer in its format.
pub(super) struct Encoder<L> {
    layout: L,
    state: State,
}

/// How far the format is.
enum State {
    Json { is_first: bool },
    Ndjson,
    Csv,
    Arrow(Option<StreamWriter<Vec<u8>>>),
    Parquet(Option<(ArrowWriter<Tap>, Tap)>),
}

/// Rows of a row group of a Parquet file: one is held in memory, compressed column by column.
const ROW_GROUP: usize = 65_536;

impl<L: Layout> Encoder<L> {
    pub fn new(format: Format, layout: L) -> Self {
        let state = match format {
            Format::Json => State::Json { is_first: true },
            Format::Ndjson => State::Ndjson,
            Format::Csv => State::Csv,
            Format::Arrow => State::Arrow(None),
            Format::Parquet => State::Parquet(None),
        };
        Self { layout, state }
    }

    /// Rows that are encoded at a time. A batch of Arrow costs the same whatever is in it, so it is that of the engine;
    /// the others are text, with data of usual length a few hundred kilobytes.
    pub fn rows_at_once(&self) -> usize {
        match self.state {
            State::Arrow(_) => 8_192,
            _ => 512,
        }
    }

    /// How the rows are laid out.
    pub fn layout(&mut self) -> &mut L {
        &mut self.layout
    }

    /// What comes before the first row.
    pub fn begin(&mut self, end: &End, out: &mut JsonWriter) -> Result<(), Problem> {
        match &mut self.state {
            State::Json { .. } => out.raw("{\"items\":["),
            State::Ndjson => {}
            State::Csv => out.raw(self.layout.csv_header()),
            State::Arrow(writer) => {
                let asked = [("trawl.begin".to_owned(), end.json().to_string())].into();
                let schema = Schema::new(self.layout.schema().fields().clone()).with_metadata(asked);
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

    /// A batch that is handed on as it came, behind what was written.
    pub fn message(&self, batch: &Batch<L::Row>) -> Option<Bytes> {
        if matches!(self.state, State::Arrow(_)) { self.layout.message(batch) } else { None }
    }

    /// Some rows of a batch.
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
            State::Csv => rows.for_each(|row| layout.write_csv(out, &view, row)),
            State::Arrow(writer) => {
                let writer = writer.as_mut().ok_or(Problem::Internal)?;
                writer.write(&layout.columns(batch, rows)?).map_err(|error| Problem::not_encoded(&error))?;
                take(writer, out);
            }
            State::Parquet(writer) => {
                let (writer, tap) = writer.as_mut().ok_or(Problem::Internal)?;
                writer.write(&layout.columns(batch, rows)?).map_err(|error| Problem::not_encoded(&error))?;
                out.raw(tap.take());
            }
        }
        Ok(())
    }

    /// What comes behind the last row: the mark, as far as the format has a place for it.
    pub fn end(self, end: &End, out: &mut JsonWriter) -> Result<(), Problem> {
        let mark = end.json();
        match self.state {
            State::Json { .. } => out.raw(format!("],\"end\":{mark}}}\n")),
            State::Ndjson => out.raw(format!("{{\"end\":{mark}}}\n")),
            State::Csv => out.raw(format!("# {mark}\n")),
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

/// What a Parquet writer has written and nobody has taken yet.
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
