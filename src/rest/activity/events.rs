//! The logs of a contract by event.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::activity_query::{ActivityQuery, day};
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, B256};
use trawl_core::store::Head;
use trawl_json::activity::Events;
use trawl_json::vocabulary::decoded::well_known_events;
use trawl_query::labels;
use trawl_query::stats::charts::events::{newest, sums};

/// Events whose names are looked up: the most frequent ones.
const MAX_NAMED: usize = 100;

/// The points, by the first days of their periods and events.
pub(super) async fn points(
    app: &App,
    head: &Head,
    contract: &Address,
    query: &ActivityQuery,
) -> Result<Vec<(u64, Events)>, Problem> {
    let settled = query.sums(app, head, |ranges| sums(contract, ranges));
    let newest = query.newest(app, |span| newest(contract, span));
    let (settled, newest) = tokio::try_join!(settled, newest)?;
    let mut points: BTreeMap<(u64, Option<B256>), u64> = BTreeMap::new();
    for row in settled {
        let topic = (row.has_topic == 1).then_some(row.topic0);
        *points.entry((query.period(row.day), topic)).or_default() += row.logs;
    }
    for row in newest {
        let topic = (row.topics_count > 0).then_some(row.topic0);
        *points.entry((query.period(day(row.block_timestamp)), topic)).or_default() += 1;
    }
    let names = names(app, head, &points).await?;
    let point = |((first, topic0), logs): ((u64, Option<B256>), u64)| {
        let signature = topic0.and_then(|topic| names.get(&topic).cloned());
        (first, Events { topic0, signature, logs })
    };
    Ok(points.into_iter().map(point).collect())
}

/// The signatures of the most frequent events, as far as they are known.
async fn names(
    app: &App,
    head: &Head,
    points: &BTreeMap<(u64, Option<B256>), u64>,
) -> Result<HashMap<B256, String>, Problem> {
    let mut totals: BTreeMap<B256, u64> = BTreeMap::new();
    for ((_, topic), logs) in points {
        if let Some(topic) = topic {
            *totals.entry(*topic).or_default() += logs;
        }
    }
    let ranked: BTreeSet<(u64, B256)> = totals.into_iter().map(|(topic, logs)| (logs, topic)).collect();
    let topics: Vec<B256> = ranked.into_iter().rev().take(MAX_NAMED).map(|(_, topic)| topic).collect();
    let mut names = HashMap::new();
    if head.labels > 0 && !topics.is_empty() {
        for known in app.reader().rows(&labels::events(&topics)).await? {
            names.entry(known.hash).or_insert(known.signature);
        }
    }
    for topic in topics {
        if let Some(known) = well_known_events(&topic).into_iter().next() {
            names.entry(topic).or_insert(known);
        }
    }
    Ok(names)
}
