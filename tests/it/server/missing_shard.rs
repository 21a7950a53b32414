//! A shard that does not answer: what needs it is 503, and nothing is short.

use std::time::{Duration, Instant};

use anyhow::ensure;
use xtask::{http, process};

use super::cluster::Cluster;
use super::questions::{ask, questions};
use crate::damage::questions::{Answer, Question};
use crate::env;

/// Requests without the shard, in the long run.
const REQUESTS: usize = 10_000;

fn ready(api: &str) -> anyhow::Result<(u16, String)> {
    let answer = http::get(&http::agent(), &format!("{api}/health/ready"))?;
    Ok((answer.status, answer.text()))
}

/// Probes name the last shard: addresses of the others have their answers.
fn says_which_shard_is_missing(api: &str, cluster: &Cluster) -> anyhow::Result<()> {
    let last = cluster.shards();
    let detail = format!("shard {last} of the cluster ({}) does not answer", cluster.server(last - 1));
    let expected = (200, format!("ready, but {detail}\n"));
    // A probe that reuses a connection from before it hung learns nothing, and the connection goes.
    env::eventually(Duration::from_secs(30), || {
        let started = Instant::now();
        let found = ready(api)?;
        ensure!(
            found.0 == 200 && started.elapsed() < Duration::from_secs(4),
            "{found:?} after {:?}",
            started.elapsed()
        );
        Ok(found == expected)
    })?;
    let health = http::get(&http::agent(), &format!("{api}/api/health"))?.json()?;
    let problem = &health["problems"][0];
    ensure!(problem["kind"] == "shard_missing" && problem["detail"] == detail, "{health}");
    Ok(())
}

pub fn gives_right_answers_or_none(cluster: &mut Cluster) -> anyhow::Result<()> {
    let url = cluster.nodes[0].url.clone();
    let no_caches = ["--cache-size", "0", "--settled-cache-size", "0"];
    let one = env::start_api_at(&url, Cluster::SINGLE, &no_caches)?;
    let distributed = env::start_api_at(&url, Cluster::DISTRIBUTED, &no_caches)?;
    let questions = questions(cluster)?;
    env::eventually(env::SOON, || Ok(ready(&distributed.url)?.1 == "ready\n"))?;
    cluster.stop_the_last()?;
    says_which_shard_is_missing(&distributed.url, cluster)?;
    let (mut right, mut refused) = (0, 0);
    // What says how healthy it is names the shard.
    let is_health = |question: &Question| matches!(question, Question::Path(path) if path.contains("/health"));
    let questions = questions.into_iter().filter(|question| !is_health(question));
    let questions: Vec<_> = questions.step_by(env::amount(7, 1)).collect();
    let answers: Vec<Answer> = questions.iter().map(|question| ask(&one.url, question)).collect();
    let requests = env::amount(questions.len(), REQUESTS);
    for (question, expected) in questions.iter().zip(&answers).cycle().take(requests) {
        let found = ask(&distributed.url, question);
        match &found {
            _ if found == *expected => right += 1,
            // An answer that had begun is cut off, which a client sees.
            Answer::Rest(503, _) | Answer::Nothing => refused += 1,
            Answer::Rpc(envelope) if envelope["error"]["code"] == -32005 => refused += 1,
            _ => anyhow::bail!("{question:?} without a shard: {found:?}\ninstead of\n{expected:?}"),
        }
    }
    println!("{requests} requests: {right} right, {refused} refused");
    ensure!(right > requests / 5 && refused > requests / 5, "{right} right, {refused} refused");
    one.stop()?;
    distributed.stop()?;
    Ok(())
}

/// A shard that hangs costs an answer its time limit and no more, and is read at once when it goes on.
pub fn that_hangs_costs_the_time_limit(cluster: &Cluster) -> anyhow::Result<()> {
    let (url, last, shards) = (&cluster.nodes[0].url, cluster.last().id(), cluster.shards());
    let flags = ["--cache-size", "0", "--settled-cache-size", "0", "--query-timeout", "3s"];
    let distributed = env::start_api_at(url, Cluster::DISTRIBUTED, &flags)?;
    let on_the_last = format!(
        "SELECT '0x' || lower(hex(any(address))) FROM logs WHERE modulo(cityHash64(address), {shards}) = {shards} - 1"
    );
    let address = env::sql_at(url, Cluster::SINGLE, &on_the_last)?;
    let question = Question::Path(format!("/api/v2/addresses/{address}/logs"));
    let expected = ask(&distributed.url, &question);
    ensure!(!expected.is_error(), "{expected:?}");
    process::signal(last, libc::SIGSTOP)?;
    says_which_shard_is_missing(&distributed.url, cluster)?;
    let started = Instant::now();
    let found = ask(&distributed.url, &question);
    process::signal(last, libc::SIGCONT)?;
    ensure!(matches!(found, Answer::Rest(503 | 504, _)), "{found:?}");
    ensure!(started.elapsed() < Duration::from_secs(15), "it took {:?}", started.elapsed());
    ensure!(ask(&distributed.url, &question) == expected, "after it went on");
    distributed.stop()?;
    Ok(())
}
