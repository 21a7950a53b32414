//! `module=logs&action=getLogs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::Response;

use super::answer::Refused;
use super::params::Params;
use super::rows::{Asker, ListBody, Parts, respond};
use super::transaction_gas::gas;
use super::window::Window;
use crate::app::App;
use crate::http::body::Broken;
use crate::read::row_stream::LogStream;
use trawl_core::primitives::{B256, LogFilter};
use trawl_core::readable::Span;
use trawl_core::schema::LogRow;
use trawl_core::store::{Batch, Head};
use trawl_json::etherscan::write_log;
use trawl_query::logs::LogPage;

/// Most logs of an answer.
const MOST_LOGS: u64 = 1_000;

/// The first logs in some blocks of an address, with topics, or both.
pub(super) async fn list(app: &App, head: &Arc<Head>, params: &Params, asker: Asker) -> Result<Response, Refused> {
    for name in ["fromBlock", "toBlock"] {
        params.required(name)?;
    }
    let filter = filter(params)?;
    let window = Window::of_logs(params, app, head)?;
    let page = (!window.blocks.is_empty()).then(|| LogPage::new(filter, window.blocks.clone(), 0));
    let mut stream = match page {
        Some(page) => Some(LogStream::open(app, page, Some(MOST_LOGS)).await?),
        None => None,
    };
    let first = match &mut stream {
        Some(stream) => stream.next().await?,
        None => None,
    };
    let logs = stream.zip(first).map(|(stream, first)| Logs {
        app: app.clone(),
        blocks: window.blocks.clone(),
        stream,
        first: Some(first),
    });
    Ok(respond(app, asker, &window, (logs, "No logs found")))
}

/// Emitter and topics; one of them at least.
fn filter(params: &Params) -> Result<LogFilter, Refused> {
    let addresses = params.text("address").map(|_| params.address("address")).transpose()?;
    let mut topics: [Option<B256>; 4] = [None; 4];
    for (position, topic) in topics.iter_mut().enumerate() {
        let name = format!("topic{position}");
        *topic = params.text(&name).map(|_| params.hash(&name)).transpose()?;
    }
    if addresses.is_none() && topics.iter().all(Option::is_none) {
        return Err(Refused::Sentence("Query parameter 'address' or one of 'topic0' to 'topic3' is required".into()));
    }
    require_and(params, &topics)?;
    let positions = topics.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
    let topics = topics[..positions].iter().map(|topic| topic.iter().copied().collect()).collect();
    Ok(LogFilter { addresses: addresses.into_iter().collect(), topics })
}

/// Each pair of topics needs an operator, of which `and` is served: a read of either of two topics is two reads.
fn require_and(params: &Params, topics: &[Option<B256>; 4]) -> Result<(), Refused> {
    let given: Vec<usize> = (0..4).filter(|position| topics[*position].is_some()).collect();
    for (place, one) in given.iter().enumerate() {
        for other in &given[place + 1..] {
            let name = format!("topic{one}_{other}_opr");
            match &*params.choice(&name) {
                "and" => {}
                "" => return Err(Refused::Sentence(format!("Query parameter '{name}' is required"))),
                _ => return Err(Refused::Sentence(format!("Only 'and' is served for '{name}': ask for each topic"))),
            }
        }
    }
    Ok(())
}

/// Logs with what their transactions paid.
struct Logs {
    app: App,
    blocks: Span,
    stream: LogStream,
    first: Option<Batch<LogRow>>,
}

impl Parts for Logs {
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, Broken> {
        let batch = match self.first.take() {
            Some(batch) => batch,
            None => match self.stream.next().await? {
                Some(batch) => batch,
                None => return Ok(false),
            },
        };
        let view = batch.view();
        let place = |row: usize| (view.block_number[row], view.transaction_index[row]);
        let places: BTreeSet<_> = (0..batch.len()).map(place).collect();
        let gas = gas(&self.app, &places, &self.blocks).await?;
        for row in 0..batch.len() {
            write_log(list.row(), &view, row, gas.get(&place(row)));
            list.send_if_full().await?;
        }
        Ok(true)
    }
}
