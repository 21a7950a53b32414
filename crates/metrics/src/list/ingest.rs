//! What `trawl-ingest` measures of following and of writing.

use crate::metric::{Group, Metric, Program, Scope, label, open};

/// Bounds of the depth of reorganisations.
const DEPTHS: [f64; 8] = [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0];

pub(super) const FOLLOWING: Group = Group {
    title: "Following",
    programs: &[Program::Ingest],
    scope: Scope::Process,
    metrics: &[
        Metric::flag(
            "trawl_ingest_ready",
            &[],
            "1 while /health/ready is 200: readers see a head, and nothing is wrong.",
        ),
        Metric::flag("trawl_ingest_problem", &[open("kind")], "1 while something of this kind is wrong."),
        Metric::gauge("trawl_ingest_node_block", &[], "Newest block of the nodes."),
        Metric::gauge("trawl_ingest_node_silence_seconds", &[], "Time since a node answered."),
        Metric::gauge("trawl_ingest_head_block", &[], "Newest block that was published."),
        Metric::gauge("trawl_ingest_lag_blocks", &[], "Blocks that readers are behind the nodes."),
        Metric::gauge("trawl_ingest_head_age_seconds", &[], "Time since readers see the newest block."),
        Metric::gauge("trawl_ingest_finalized_block", &[], "Newest final block of the node; 0 while none is known."),
        Metric::gauge("trawl_ingest_settled_block", &[], "Newest block that this run has settled."),
        Metric::gauge("trawl_ingest_settled_age_seconds", &[], "Time since this run settled a block."),
        Metric::gauge("trawl_ingest_watch_age_seconds", &[], "Time since what holds following up was looked at."),
        Metric::counter("trawl_ingest_reorganisations_total", &[], "Reorganisations."),
        Metric::sizes(
            "trawl_ingest_reorganisation_depth_blocks",
            &[],
            &DEPTHS,
            "Blocks that a reorganisation took off the chain.",
        ),
    ],
};

pub(super) const WRITING: Group = Group {
    title: "Reading and writing blocks",
    programs: &[Program::Ingest],
    scope: Scope::Process,
    metrics: &[
        Metric::counter(
            "trawl_ingest_blocks_total",
            &[label("to", &["settled", "newest"])],
            "Blocks that were written: to the settled tables, and as the newest ones.",
        ),
        Metric::counter("trawl_ingest_rows_total", &[open("table")], "Rows that ClickHouse has taken."),
        Metric::counter(
            "trawl_ingest_written_bytes_total",
            &[open("table")],
            "Bytes of these rows, as columns in memory and uncompressed.",
        ),
        Metric::durations(
            "trawl_ingest_batch_duration_seconds",
            &[label("to", &["settled", "newest"])],
            "Time to write a batch, from its announcement to its commit, or a head with its blocks.",
        ),
        Metric::durations("trawl_ingest_insert_duration_seconds", &[], "Time until ClickHouse has taken an insert."),
        Metric::counter(
            "trawl_ingest_retries_total",
            &[label("cause", &["unreachable", "disk_full", "refused"])],
            "Statements that were sent again, by what ClickHouse did.",
        ),
        Metric::counter(
            "trawl_ingest_refused_blocks_total",
            &[open("check")],
            "Blocks that were refused, by the check that they failed; decode for those that cannot be read.",
        ),
        Metric::gauge(
            "trawl_ingest_queue_length",
            &[label("of", &["fetch", "check", "write"])],
            "Blocks that are requested from a node or checked, with those that wait for one before them; batches \
             that are written or wait.",
        ),
        Metric::gauge(
            "trawl_ingest_queue_capacity",
            &[label("of", &["fetch", "check", "write"])],
            "Items that the queue takes; the last queue that stays full is of the stage that limits the load.",
        ),
        Metric::flag("trawl_ingest_lease_held", &[], "1 while this run has the right to write."),
    ],
};
