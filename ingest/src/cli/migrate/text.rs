//! `trawl-ingest migrate --print`.

use trawl_core::schema::OptionalTable;
use trawl_core::store::{ClusterLayout, StatementNodes, statements_of_new_database};

/// What the script leaves to `migrate`.
const NEXT: &str = "-- Then run trawl-ingest migrate: it records the version of the schema and the signatures bundled \
                    with Trawl, and makes the views as text.\n";

/// The statements that make a new database as a script. On a cluster each has a comment in front which says on which
/// nodes and in which database it runs; for one server the script selects the database.
pub fn migrate_text(database: &str, left_out: &[OptionalTable], layout: Option<&ClusterLayout>) -> String {
    let statements = statements_of_new_database(database, left_out, layout);
    let texts = statements.iter().enumerate().map(|(position, statement)| {
        let sql = statement.sql.trim_end();
        match layout {
            None if position == 0 => format!("{sql};\n\nUSE `{database}`;\n\n"),
            None => format!("{sql};\n\n"),
            Some(_) => format!("-- on {}\n{sql};\n\n", nodes(statement.nodes, database)),
        }
    });
    texts.chain([NEXT.to_owned()]).collect()
}

/// These nodes, and the database there, for people.
pub(super) fn nodes(nodes: StatementNodes, database: &str) -> String {
    match nodes {
        StatementNodes::Each => format!("each node, in {database}"),
        StatementNodes::EachInLocalDatabase => format!("each node, in {database}_local"),
        StatementNodes::First => format!("the nodes of the first shard, in {database}"),
        StatementNodes::Others => format!("the nodes of the other shards, in {database}"),
    }
}
