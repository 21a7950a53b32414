//! A shard that does not answer: what needs it is 503, and nothing is short.

use anyhow::ensure;

use super::cluster::Cluster;
use super::questions::questions;
use crate::damage::questions::{Answer, ask};
use crate::env;

pub fn gives_right_answers_or_none(cluster: &mut Cluster) -> anyhow::Result<()> {
    let url = cluster.nodes[0].url.clone();
    let no_caches = ["--cache-size", "0", "--settled-cache-size", "0"];
    let one = env::start_api_at(&url, Cluster::ONE, &no_caches)?;
    let spread = env::start_api_at(&url, Cluster::SPREAD, &no_caches)?;
    let questions = questions(&url, Cluster::ONE)?;
    cluster.stop_the_second()?;
    let (mut right, mut refused) = (0, 0);
    for question in &questions {
        let (wanted, found) = (ask(&one.url, question), ask(&spread.url, question));
        match &found {
            _ if found == wanted => right += 1,
            // An answer that had begun is cut off, which a client sees.
            Answer::Rest(503, _) | Answer::Nothing => refused += 1,
            Answer::Rpc(envelope) if envelope["error"]["code"] == -32005 => refused += 1,
            _ => anyhow::bail!("{question:?} without a shard: {found:?}\ninstead of\n{wanted:?}"),
        }
    }
    ensure!(right > questions.len() / 5 && refused > questions.len() / 5, "{right} right, {refused} refused");
    one.stop()?;
    spread.stop()?;
    Ok(())
}
