//! What people who write SQL get over shards: views, functions and the dictionary, on each node.

use std::fs;

use anyhow::ensure;
use xtask::workspace;

use super::cluster::Cluster;
use crate::env;

/// The queries of a first day, and each view whole.
fn statements(cluster: &Cluster) -> anyhow::Result<Vec<String>> {
    let mut statements = Vec::new();
    for entry in fs::read_dir(workspace::root().join("sql/analysts/queries"))? {
        statements.push(fs::read_to_string(entry?.path())?);
    }
    for (database, shown) in [(Cluster::SINGLE, "{database}"), ("single_views", "{database}_views")] {
        let views =
            "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'View' ORDER BY name";
        let views = env::sql_at(&cluster.nodes[0].url, database, views)?;
        ensure!(views.lines().count() >= 30, "{views}");
        let sum =
            |view: &str| format!("SELECT count(), sum(cityHash64(formatRowNoNewline('TSV', *))) FROM {shown}.{view}");
        // Text views select from the others and do no more.
        let step = if database == Cluster::SINGLE { 1 } else { env::amount(6, 1) };
        statements.extend(views.lines().step_by(step).map(sum));
    }
    Ok(statements)
}

pub fn are_those_of_one_server(cluster: &Cluster) -> anyhow::Result<()> {
    let mut different = Vec::new();
    for (index, statement) in statements(cluster)?.iter().step_by(env::amount(2, 1)).enumerate() {
        let of = |database: &str| statement.replace("{database}", database);
        let expected = env::sql_at(&cluster.nodes[0].url, Cluster::SINGLE, &of(Cluster::SINGLE))?;
        // In turn, the second node first: it has no row of coordinating tables.
        let node = &cluster.nodes[(index + 1) % cluster.shards()].url;
        match env::sql_at(node, Cluster::DISTRIBUTED, &of(Cluster::DISTRIBUTED)) {
            Ok(found) if found == expected => {}
            found => different.push(format!("{statement}\n{found:?}\ninstead of\n{expected}")),
        }
    }
    ensure!(different.is_empty(), "{} differ\n{}", different.len(), different.join("\n\n"));
    Ok(())
}
