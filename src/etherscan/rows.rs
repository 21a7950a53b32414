//! Lists that are written while their rows are read: memory does not grow with them.

use std::sync::Arc;

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use trawl_serve::Client;

use super::answer::envelope;
use super::window::Window;
use crate::app::App;
use crate::error::Problem;
use crate::http::body::{BodySender, ResponseBudget, StreamError, body};
use crate::limits::Slot;
use trawl_json::JsonWriter;
use trawl_json::etherscan::{write_list_end, write_list_start};

/// Rows of a list in parts.
pub(crate) trait Parts: Send + 'static {
    /// Writes the next part, from its first row on; `false` if there is none.
    fn write(&mut self, list: &mut ListBody) -> impl Future<Output = Result<bool, StreamError>> + Send;
}

/// The body of a list.
pub(crate) struct ListBody {
    sender: BodySender,
    writer: JsonWriter,
    is_first: bool,
}

impl ListBody {
    /// The writer for the next row.
    pub fn row(&mut self) -> &mut JsonWriter {
        if !std::mem::replace(&mut self.is_first, false) {
            self.writer.raw(",");
        }
        &mut self.writer
    }

    /// Sends what was written, if that is a chunk.
    pub async fn send_if_full(&mut self) -> Result<(), StreamError> {
        Ok(self.sender.flush_if_full(&mut self.writer).await?)
    }
}

/// The client that requests a list, and the slot that its reads take.
pub(crate) struct ListRequester {
    pub client: Client,
    pub slot: Slot,
}

/// The answer of a list: status 1 with its rows, 0 without any, 2 if there may be others in blocks that are not loaded.
/// `empty` is the message without rows.
pub(crate) fn respond<P: Parts>(
    app: &App,
    requester: ListRequester,
    window: &Window,
    parts: Option<P>,
    empty: &str,
) -> Response {
    let problem = (!window.missing.is_empty()).then(|| Problem::BlocksMissing(window.missing.clone()));
    let (status, message) = match (&problem, &parts) {
        (Some(problem), _) => ("2", problem.message()),
        (None, Some(_)) => ("1", "OK".into()),
        (None, None) => ("0", empty.to_owned()),
    };
    let Some(mut parts) = parts else {
        return envelope(status, &message, |writer| writer.array(|_| {}));
    };
    let taker = ResponseBudget { limits: Arc::clone(app.limits()), client: requester.client };
    let written = body(taker, move |sender| async move {
        let _slot = requester.slot;
        let mut list = ListBody { sender, writer: JsonWriter::new(), is_first: true };
        write_list_start(&mut list.writer, status, &message);
        if let Err(StreamError::Problem(problem)) = write(&mut parts, &mut list).await {
            list.sender.abort(&problem).await;
        }
    });
    ([(CONTENT_TYPE, HeaderValue::from_static("application/json"))], written).into_response()
}

async fn write<P: Parts>(parts: &mut P, list: &mut ListBody) -> Result<(), StreamError> {
    while parts.write(list).await? {}
    write_list_end(&mut list.writer);
    Ok(list.sender.flush(&mut list.writer).await?)
}
