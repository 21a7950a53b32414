//! `getLogs`.

use std::collections::BTreeSet;

use axum::response::Response;

use super::filters::filters;
use super::union::{Log, LogUnion};
use crate::app::App;
use crate::etherscan::answer::{NO_RECORDS, Refusal};
use crate::etherscan::request::Request;
use crate::etherscan::rows::{ListBody, Parts, respond};
use crate::etherscan::transaction::gas::gas;
use crate::etherscan::window::Window;
use crate::http::body::StreamError;
use trawl_core::readable::Span;
use trawl_json::etherscan::write_log;

/// A page of the logs in some blocks of an address, with topics, or both.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, requester, .. } = request;
    let filters = filters(&params)?;
    let window = Window::of_logs(&params, &app, &head)?;
    let filters = if window.blocks.is_empty() { Vec::new() } else { filters };
    let mut logs = LogUnion::open(&app, filters, &window.blocks, window.skip + window.take).await?;
    logs.skip(window.skip).await?;
    let logs = (!logs.is_empty()).then(|| Logs { app: app.clone(), blocks: window.blocks.clone(), logs });
    Ok(respond(&app, requester, &window, logs, NO_RECORDS))
}

/// Logs that are written with what one round of lookups says.
const ROWS_OF_PART: u64 = 512;

/// Logs with what their transactions paid.
struct Logs {
    app: App,
    blocks: Span,
    logs: LogUnion,
}

impl Parts for Logs {
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, StreamError> {
        let logs = self.logs.next(ROWS_OF_PART).await?;
        let position = |(batch, row): &Log| (batch.view().block_number[*row], batch.view().transaction_index[*row]);
        let positions: BTreeSet<_> = logs.iter().map(position).collect();
        if positions.is_empty() {
            return Ok(false);
        }
        let gas = gas(&self.app, &positions, &self.blocks).await?;
        for log in &logs {
            write_log(list.row(), &log.0.view(), log.1, gas.get(&position(log)));
            list.send_if_full().await?;
        }
        Ok(true)
    }
}
