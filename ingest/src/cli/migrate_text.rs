//! `trawl-ingest migrate --print`.

use trawl_core::store::{ClusterLayout, StatementNodes, statements_of_new_database};

/// The statements that make a new database as a script: each has a comment in front which says where it runs, if there are several
/// nodes.
pub fn migrate_text(database: &str, left_out: &[String], layout: Option<&ClusterLayout>) -> String {
    let statements = statements_of_new_database(database, left_out, layout);
    let texts = statements.iter().map(|statement| {
        let sql = statement.sql.trim_end();
        match layout {
            None => format!("{sql};\n\n"),
            Some(_) => format!("-- on {}\n{sql};\n\n", nodes(statement.nodes, database)),
        }
    });
    texts.collect()
}

fn nodes(nodes: StatementNodes, database: &str) -> String {
    match nodes {
        StatementNodes::Each => format!("each node, in {database}"),
        StatementNodes::EachInLocalDatabase => format!("each node, in {database}_local"),
        StatementNodes::First => format!("the node of the first shard, in {database}"),
        StatementNodes::Others => format!("the nodes of the other shards, in {database}"),
    }
}
