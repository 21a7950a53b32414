//! `trawl-ingest follow` over two shards: the newest blocks and a reorganisation give the answers of one server.

use anyhow::ensure;
use serde_json::json;
use xtask::process;

use super::cluster::Cluster;
use super::questions::{is_of_third, questions};
use super::shards::same_answers;
use crate::damage::questions::Question;
use crate::env;
use crate::ingest::follow::{hashes, reaches, tip};
use crate::ingest::node::Node;

#[test]
fn newest_blocks_over_shards_are_those_of_one_server() -> anyhow::Result<()> {
    let cluster = Cluster::start(env::amount(2, 3))?;
    let first = &cluster.nodes[0].url;
    env::run(env::ingest_at(first, Cluster::SINGLE, &["migrate"]), 0)?;
    cluster.migrate()?;
    let node = Node::start("hive", &["--finality", "20"])?;
    let follow = ["follow", "--rpc-url", &node.url, "--poll-interval-ms", "50"];
    let mut followers =
        [process::spawn(env::ingest_at(first, Cluster::SINGLE, &follow))?, process::spawn(cluster.ingest(&follow))?];
    let apis = [Cluster::SINGLE, Cluster::DISTRIBUTED].map(|database| env::start_api_at(first, database, &[]));
    let [one, distributed] = apis;
    let (one, distributed) = (one?, distributed?);
    for branch in ["main", "depth17"] {
        node.control(&json!({ "branch": branch }))?;
        for api in [&one, &distributed] {
            reaches(&api.url, tip(&hashes(branch)?))?;
        }
    }
    let unsettled = "SELECT count() > 10 FROM hot_rows";
    ensure!(cluster.sql(0, unsettled)? == "1", "blocks that are not settled");
    // Ages differ between two moments.
    let is_age = |question: &Question| matches!(question, Question::Path(path) if path == "/api/health");
    let is_asked = |question: &Question| !is_age(question) && is_of_third(question, 2);
    same_answers(&cluster, &questions(&cluster)?.into_iter().filter(is_asked).collect::<Vec<_>>())?;
    for follower in &mut followers {
        process::end(follower)?;
    }
    // What began as the branch that went is not there any more.
    let below = 30;
    ensure!(
        env::contents_below(first, Cluster::DISTRIBUTED, below)? == env::contents_below(first, Cluster::SINGLE, below)?
    );
    env::run(cluster.ingest(&["verify"]), 0)?;
    one.stop()?;
    distributed.stop()?;
    cluster.stop()
}
