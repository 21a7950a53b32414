//! `module=logs&action=getLogs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::response::Response;

use super::answer::Refused;
use super::log_union::{Log, LogUnion};
use super::params::Params;
use super::rows::{Asker, ListBody, Parts, respond};
use super::transaction_gas::gas;
use super::window::Window;
use crate::app::App;
use crate::http::body::Broken;
use trawl_core::primitives::{Address, B256, LogFilter};
use trawl_core::readable::Span;
use trawl_core::store::Head;
use trawl_json::etherscan::write_log;

/// Most logs of an answer.
const MOST_LOGS: u64 = 1_000;

/// The first logs in some blocks of an address, with topics, or both.
pub(super) async fn list(app: &App, head: &Arc<Head>, params: &Params, asker: Asker) -> Result<Response, Refused> {
    for name in ["fromBlock", "toBlock"] {
        params.required(name)?;
    }
    let filters = filters(params)?;
    let window = Window::of_logs(params, app, head)?;
    let filters = if window.blocks.is_empty() { Vec::new() } else { filters };
    let logs = LogUnion::open(app, filters, &window.blocks, MOST_LOGS).await?;
    let logs = (!logs.is_empty()).then(|| Logs { app: app.clone(), blocks: window.blocks.clone(), logs });
    Ok(respond(app, asker, &window, (logs, "No logs found")))
}

/// Emitter and topics, one of them at least: alternatives, of which a log has to meet one.
fn filters(params: &Params) -> Result<Vec<LogFilter>, Refused> {
    let addresses = params.text("address").map(|_| params.address("address")).transpose()?;
    let addresses: Vec<Address> = addresses.into_iter().collect();
    let mut topics: [Option<B256>; 4] = [None; 4];
    for (position, topic) in topics.iter_mut().enumerate() {
        let name = format!("topic{position}");
        *topic = params.text(&name).map(|_| params.hash(&name)).transpose()?;
    }
    if addresses.is_empty() && topics.iter().all(Option::is_none) {
        return Err(Refused::Sentence("Query parameter 'address' or one of 'topic0' to 'topic3' is required".into()));
    }
    let of_group = |group: Vec<usize>| {
        let positions = group.last().map_or(0, |last| last + 1);
        let topic = |position: usize| topics[position].filter(|_| group.contains(&position)).into_iter().collect();
        LogFilter { addresses: addresses.clone(), topics: (0..positions).map(topic).collect() }
    };
    Ok(groups(params, &topics)?.into_iter().map(of_group).collect())
}

/// The positions of topics that have to be met together: `and` joins two of them, and of the groups one is enough. Each pair of
/// topics needs an operator.
fn groups(params: &Params, topics: &[Option<B256>; 4]) -> Result<Vec<Vec<usize>>, Refused> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for position in (0..4).filter(|position| topics[*position].is_some()) {
        let mut joined = None;
        for (place, group) in groups.iter().enumerate() {
            let operators: Vec<bool> =
                group.iter().map(|other| is_and(params, *other, position)).collect::<Result<_, _>>()?;
            let is_joined = operators.iter().all(|is_and| *is_and);
            if is_joined && joined.is_none() {
                joined = Some(place);
            } else if is_joined || operators.contains(&true) {
                let text =
                    "The operators contradict each other: topics that 'and' joins have the same one with every other";
                return Err(Refused::Sentence(text.into()));
            }
        }
        match joined {
            Some(place) => groups[place].push(position),
            None => groups.push(vec![position]),
        }
    }
    Ok(if groups.is_empty() { vec![Vec::new()] } else { groups })
}

/// Whether both of two topics have to be met, and not only one.
fn is_and(params: &Params, one: usize, other: usize) -> Result<bool, Refused> {
    let name = format!("topic{one}_{other}_opr");
    match &*params.choice(&name) {
        "and" => Ok(true),
        "or" => Ok(false),
        "" => Err(Refused::Sentence(format!("Query parameter '{name}' is required"))),
        _ => Err(Refused::Sentence(format!("Invalid {name}: use 'and' or 'or'"))),
    }
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
    async fn write(&mut self, list: &mut ListBody) -> Result<bool, Broken> {
        let logs = self.logs.next(ROWS_OF_PART).await?;
        let place = |(batch, row): &Log| (batch.view().block_number[*row], batch.view().transaction_index[*row]);
        let places: BTreeSet<_> = logs.iter().map(place).collect();
        if places.is_empty() {
            return Ok(false);
        }
        let gas = gas(&self.app, &places, &self.blocks).await?;
        for log in &logs {
            write_log(list.row(), &log.0.view(), log.1, gas.get(&place(log)));
            list.send_if_full().await?;
        }
        Ok(true)
    }
}
