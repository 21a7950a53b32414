//! Servers of ClickHouse that do not answer or lag behind: shards of a cluster, and addresses that are not in use.

use trawl_core::store::{EndpointStatus, Lag, Shard, StoreAddress};

use super::following::within;
use super::problem::Problem;
use crate::app::App;

/// What is wrong with the servers that this API may need. Takes no longer than a probe waits.
pub(crate) async fn problems(app: &App) -> Vec<Problem> {
    let (shards, addresses) = tokio::join!(within(app.reader().missing_shards()), app.reader().endpoint_statuses());
    // Not every account may look at clusters.
    let shards = shards.unwrap_or_default();
    shards.iter().map(of_shard).chain(addresses.iter().filter_map(of_address)).collect()
}

/// The same as the end of a line, if there is any.
pub(crate) async fn in_words(app: &App) -> Option<String> {
    let problems = problems(app).await;
    let details: Vec<String> = problems.into_iter().map(|problem| problem.detail).collect();
    (!details.is_empty()).then(|| details.join("; "))
}

fn of_shard(shard: &Shard) -> Problem {
    let detail = format!("shard {} of the cluster ({}) does not answer", shard.shard, shard.servers);
    Problem::of_unknown_age("shard_missing", detail)
}

fn of_address((address, status): &(StoreAddress, EndpointStatus)) -> Option<Problem> {
    let host = address.host();
    let (kind, detail) = match status {
        EndpointStatus::Whole => return None,
        EndpointStatus::Silent => ("address_missing", format!("ClickHouse at {host} does not answer")),
        EndpointStatus::Refuses => ("address_missing", format!("ClickHouse at {host} refuses to read its tables")),
        EndpointStatus::Behind(Lag { blocks, heads }) => (
            "address_lags",
            format!(
                "ClickHouse at {host} lags: it is missing {blocks} blocks and {heads} heads that were already served"
            ),
        ),
    };
    Some(Problem::of_unknown_age(kind, detail))
}
