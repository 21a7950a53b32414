//! Statements that read the tables of a chain give over two and three shards what they give over one engine.
//! `distributed_product_mode` is `deny`, so that a
//! subquery over a `Distributed` table without `GLOBAL` is an error and no short answer.

use anyhow::ensure;

use super::cluster::Cluster;
use super::questions::{ask, is_of_third, most_topics, questions};
use super::{missing_shard, pruning, views};
use crate::damage::questions::{self as golden, Question};
use crate::env;

/// Asks APIs over both databases of a cluster the same.
pub fn same_answers(cluster: &Cluster, questions: &[Question]) -> anyhow::Result<()> {
    same_answers_of(&cluster.nodes[0].url, cluster, questions)
}

/// The same of one node.
fn same_answers_of(node: &str, cluster: &Cluster, questions: &[Question]) -> anyhow::Result<()> {
    let one = env::start_api_at(&cluster.nodes[0].url, Cluster::SINGLE, &[])?;
    let distributed = env::start_api_at(node, Cluster::DISTRIBUTED, &[])?;
    let (mut different, mut answered) = (Vec::new(), 0);
    for question in questions {
        let (expected, found) = (ask(&one.url, question), ask(&distributed.url, question));
        answered += usize::from(!expected.is_error());
        if expected != found {
            different.push(format!("{question:?}\n  {found:?}\n  instead of\n  {expected:?}"));
        }
    }
    let count = questions.len();
    ensure!(different.is_empty(), "{} of {count} differ\n{}", different.len(), different.join("\n"));
    ensure!(answered * 2 > count, "{answered} of {count} questions have an answer");
    one.stop()?;
    distributed.stop()?;
    Ok(())
}

/// The statements of both databases that failed, whatever became of them.
fn refused_statements(cluster: &Cluster) -> anyhow::Result<String> {
    let url = &cluster.nodes[0].url;
    env::sql_at(url, "default", "SYSTEM FLUSH LOGS")?;
    // What is not there yet is requested before the first migration, and an API that stops cancels its look at the
    // head, or is gone when that is answered.
    let refused = "SELECT DISTINCT exception, query FROM system.query_log
                   WHERE exception_code NOT IN (0, 60, 81, 394) AND type != 'QueryStart'
                     AND NOT (exception_code = 210 AND position(exception, 'while writing to socket') > 0)
                   FORMAT Vertical";
    env::sql_at(url, "default", refused)
}

fn same_over_shards(cluster: &Cluster, mut questions: Vec<Question>) -> anyhow::Result<()> {
    ensure!(questions.len() > env::amount(60, 120), "{} questions", questions.len());
    questions.push(most_topics());
    let answers = same_answers(cluster, &questions);
    let further: Vec<_> = questions.into_iter().step_by(env::amount(20, 1)).collect();
    same_answers_of(&cluster.last().url, cluster, &further)?;
    let refused = refused_statements(cluster)?;
    ensure!(refused.is_empty(), "{refused}\n{answers:?}");
    answers
}

#[test]
fn answers_of_devchain_are_those_of_one_engine_and_lists_ask_one_shard() -> anyhow::Result<()> {
    let mut cluster = Cluster::with("devchain", 3)?;
    views::are_those_of_one_server(&cluster)?;
    let (all, golden) = (questions(&cluster)?.into_iter(), golden::questions()?.into_iter());
    // The other chain has no tokens, whose questions would be in no third.
    let is_of_tokens = |question: &Question| matches!(question, Question::Path(path) if ["token", "nft", "instances"].iter().any(|word| path.contains(word)));
    let all = all.filter(|question| is_of_third(question, 0) || is_of_tokens(question));
    same_over_shards(&cluster, all.chain(golden.step_by(env::amount(23, 1))).collect())?;
    pruning::each_read_asks_the_shards_it_needs(&cluster)?;
    an_order_made_later_has_the_same_rows(&cluster)?;
    missing_shard::that_hangs_costs_the_time_limit(&cluster)?;
    missing_shard::gives_right_answers_or_none(&mut cluster)?;
    cluster.stop()
}

#[test]
fn answers_of_hive_are_those_of_one_engine() -> anyhow::Result<()> {
    let cluster = Cluster::with("hive", 2)?;
    // In the ordinary run the test of the other chain, this one and that of the newest blocks ask a third each.
    let questions = questions(&cluster)?.into_iter().filter(|question| is_of_third(question, 1));
    same_over_shards(&cluster, questions.collect())?;
    cluster.stop()
}

/// An order that a new database leaves out is filled from each shard, and an account's rows are on one.
fn an_order_made_later_has_the_same_rows(cluster: &Cluster) -> anyhow::Result<()> {
    let (with, first) = (["migrate", "--with", "logs_by_topic"], &cluster.nodes[0].url);
    env::run(env::ingest_at(first, Cluster::SINGLE, &with), 0)?;
    let plan = String::from_utf8(env::run(cluster.ingest(&[&with[..], &["--plan"]].concat()), 0)?.stdout)?;
    let logs = cluster.sql(0, "SELECT count() FROM logs_by_block")?;
    ensure!(plan.contains(&format!("INSERT INTO logs_by_topic …: {logs} rows of logs_by_block")), "{plan}");
    env::run(cluster.ingest(&with), 0)?;
    let rows = "SELECT count(), sum(cityHash64(*)) FROM logs_by_topic";
    let (whole, found) = (env::sql_at(first, Cluster::SINGLE, rows)?, cluster.sql(0, rows)?);
    ensure!(whole == found && !whole.starts_with("0\t"), "{found} instead of {whole}");
    let scattered = "SELECT count() FROM \
        (SELECT topic FROM logs_by_topic GROUP BY topic HAVING uniq(_shard_num) > 1)";
    ensure!(cluster.sql(0, scattered)? == "0", "accounts on several shards");
    Ok(())
}
