//! Streams the rows of a scan to the client, in any format.

use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, TRAILER};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};

use super::end::{END, End};
use super::format::{Encoder, Format};
use super::layout::Layout;
use crate::http::body::{BodySender, ResponseBudget, StreamError, body};
use crate::limits::ScanSlot;
use crate::read::page_source::PageSource;
use crate::read::row_stream::RowStream;
use trawl_json::JsonWriter;

/// The header with the hash of the filter, which cursors contain.
const FILTER: HeaderName = HeaderName::from_static("x-trawl-filter");

/// A scan in progress: who takes it, its slot among the scans, its mark, and the hash of its filter.
pub(super) struct Scan {
    pub taker: ResponseBudget,
    pub slot: ScanSlot,
    pub end: End,
    pub fingerprint: u64,
}

/// An answer that is written while its rows are read; it is aborted if a read fails.
pub(super) fn respond<P: PageSource, L: Layout<Row = P::Row>>(
    stream: Option<RowStream<P>>,
    format: Format,
    layout: L,
    scan: Scan,
) -> Response {
    let Scan { taker, slot, end, fingerprint } = scan;
    let stem = layout.stem();
    let encoder = Encoder::new(format, layout);
    let written = body(taker, move |sender| async move {
        let _slot = slot;
        if let Err(StreamError::Problem(problem)) = write(stream, encoder, end, fingerprint, &sender).await {
            sender.abort(&problem).await;
        }
    });
    let mut response = ([(CONTENT_TYPE, HeaderValue::from_static(format.media_type()))], written).into_response();
    let headers = response.headers_mut();
    headers.insert(TRAILER, HeaderValue::from_name(END));
    if let Ok(value) = HeaderValue::from_str(&format!("{fingerprint:016x}")) {
        headers.insert(FILTER, value);
    }
    let file = format.ending().map(|ending| format!("attachment; filename=\"{stem}.{ending}\""));
    if let Some(Ok(value)) = file.map(|file| HeaderValue::from_str(&file)) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    response
}

async fn write<P: PageSource, L: Layout<Row = P::Row>>(
    stream: Option<RowStream<P>>,
    mut encoder: Encoder<L>,
    mut end: End,
    fingerprint: u64,
    sender: &BodySender,
) -> Result<(), StreamError> {
    let mut out = JsonWriter::new();
    encoder.begin(&end, &mut out)?;
    if let Some(mut stream) = stream {
        while let Some(batch) = stream.next().await? {
            encoder.layout().prepare(&batch).await?;
            end.count::<P, L>(&batch, encoder.layout(), fingerprint);
            if let Some(message) = encoder.message(&batch) {
                sender.flush(&mut out).await?;
                sender.send(message).await?;
                continue;
            }
            for first in (0..batch.len()).step_by(encoder.rows_per_step()) {
                let rows = first..batch.len().min(first + encoder.rows_per_step());
                encoder.layout().prepare_rows(&batch, rows.clone()).await?;
                encoder.rows(&batch, rows, &mut out)?;
                sender.flush_if_full(&mut out).await?;
            }
        }
    }
    encoder.end(&end, &mut out)?;
    sender.flush(&mut out).await?;
    sender.send_trailers(end.trailers()).await?;
    Ok(())
}
