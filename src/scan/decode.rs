//! Logs of one given event, with its parameters in columns of their own.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use serde_json::{Value, json};

use super::layout::{Layout, Logs};
use super::metadata;
use crate::error::Problem;
use trawl_core::primitives::B256;
use trawl_core::primitives::abi::KnownEvent;
use trawl_core::schema::{Columns, LogRow, LogView};
use trawl_core::store::Batch;
use trawl_json::JsonWriter;
use trawl_json::logs::{event_texts, write_csv_event, write_event_log};
use trawl_json::vocabulary::decoded::EventColumns;

/// Parses the signature of an event.
///
/// # Errors
///
/// When the text is not the signature of an event.
pub(super) fn event(text: &str) -> Result<EventColumns, Problem> {
    let known = KnownEvent::parse(text).map_err(|error| Problem::invalid_parameter("decode", error.to_string()))?;
    Ok(EventColumns::new(known, LogRow::names()))
}

/// The filter restricted to logs of the event, unless it selects the first topic itself.
pub(super) fn narrowed(mut filter: Value, event: &EventColumns) -> Value {
    let (Some(hash), Some(members)) = (event.topic0(), filter.as_object_mut()) else { return filter };
    let topics = members.entry("topics").or_insert(Value::Null);
    if topics.is_null() {
        *topics = json!([]);
    }
    if let Some(positions) = topics.as_array_mut() {
        let is_any = |first: &Value| match first {
            Value::Array(alternatives) => alternatives.is_empty() || alternatives.iter().any(Value::is_null),
            other => other.is_null(),
        };
        match positions.first_mut() {
            None => positions.push(json!(hash)),
            Some(first) if is_any(first) => *first = json!(hash),
            Some(_) => {}
        }
    }
    filter
}

/// The columns of logs, followed by the parameters of the event.
pub(super) struct EventLogs(pub EventColumns);

impl Layout for EventLogs {
    type Row = LogRow;

    fn stem(&self) -> &'static str {
        Logs.stem()
    }

    fn block_hash(&self, logs: &LogView<'_>, row: usize) -> B256 {
        Logs.block_hash(logs, row)
    }

    fn write_json(&self, out: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
        write_event_log(out, logs, row, &self.0);
    }

    fn csv_header(&self) -> String {
        let mut header = Logs.csv_header();
        header.truncate(header.trim_end().len());
        for name in self.0.names() {
            header.push(',');
            header.push_str(name);
        }
        header.push('\n');
        header
    }

    fn write_csv(&self, out: &mut JsonWriter, logs: &LogView<'_>, row: usize) {
        write_csv_event(out, logs, row, &self.0);
    }

    fn schema(&self) -> SchemaRef {
        let text = |(name, ty): (&String, String)| metadata::decoded(Field::new(name, DataType::Utf8, true), &ty);
        let decoded = self.0.names().iter().zip(self.0.types()).map(text).map(Arc::new);
        let fields: Vec<_> = Logs.schema().fields().iter().cloned().chain(decoded).collect();
        Arc::new(Schema::new(fields))
    }

    fn columns(&self, batch: &Batch<LogRow>, rows: Range<usize>) -> Result<RecordBatch, Problem> {
        let logs = Logs.columns(batch, rows.clone())?;
        let view = batch.view();
        let mut columns: Vec<StringBuilder> = self.0.names().iter().map(|_| StringBuilder::new()).collect();
        for row in rows {
            let texts = event_texts(&view, row, &self.0).unwrap_or_default();
            for (position, column) in columns.iter_mut().enumerate() {
                column.append_option(texts.get(position));
            }
        }
        let columns = columns.into_iter().map(|mut column| Arc::new(column.finish()) as ArrayRef);
        let arrays = logs.columns().iter().cloned().chain(columns).collect();
        RecordBatch::try_new(self.schema(), arrays).map_err(|error| Problem::not_encoded(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_topic_is_the_event_unless_it_is_given() {
        let transfer = event("Transfer(address,address,uint256)").expect("an event");
        let hash = json!(transfer.topic0());
        let topic = json!(B256::repeat_byte(7));
        for (filter, topics) in [
            (json!({}), json!([hash])),
            (json!({"topics": null}), json!([hash])),
            (json!({"topics": [[], topic]}), json!([hash, topic])),
            (json!({"topics": [[topic, null]]}), json!([hash])),
            (json!({"topics": [topic]}), json!([topic])),
        ] {
            assert_eq!(narrowed(filter.clone(), &transfer)["topics"], topics, "{filter}");
        }
        let quiet = event("Noted(uint256 a) anonymous").expect("an event");
        assert_eq!(narrowed(json!({}), &quiet), json!({}));
        assert!(event("Noted(uint7 a)").is_err());
    }
}
