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
            "1 while /health/ready is 200: readers see a head, and there are no problems.",
        ),
        Metric::flag("trawl_ingest_problem", &[open("kind")], "1 while there is a problem of this kind."),
        Metric::gauge("trawl_ingest_node_block", &[], "Newest block of the nodes."),
        Metric::gauge("trawl_ingest_node_silence_seconds", &[], "Time since a node last answered."),
        Metric::gauge("trawl_ingest_head_block", &[], "Newest published block."),
        Metric::gauge("trawl_ingest_lag_blocks", &[], "Number of blocks that readers are behind the nodes."),
        Metric::gauge("trawl_ingest_head_age_seconds", &[], "Time since readers first saw the newest block."),
        Metric::gauge("trawl_ingest_finalized_block", &[], "Newest final block of the node; 0 until one is known."),
        Metric::gauge("trawl_ingest_settled_block", &[], "Newest block settled by this run."),
        Metric::gauge("trawl_ingest_settled_age_seconds", &[], "Time since this run last settled a block."),
        Metric::gauge("trawl_ingest_watch_age_seconds", &[], "Time since problems of following were last checked."),
        Metric::counter("trawl_ingest_reorganisations_total", &[], "Reorganisations."),
        Metric::sizes(
            "trawl_ingest_reorganisation_depth_blocks",
            &[],
            &DEPTHS,
            "Blocks removed from the chain by a reorganisation.",
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
            "Blocks written: to the settled tables, and as newest blocks.",
        ),
        Metric::counter("trawl_ingest_rows_total", &[open("table")], "Rows accepted by ClickHouse."),
        Metric::counter(
            "trawl_ingest_written_bytes_total",
            &[open("table")],
            "Size of these rows as columns in memory, uncompressed.",
        ),
        Metric::durations(
            "trawl_ingest_batch_duration_seconds",
            &[label("to", &["settled", "newest"])],
            "Time to write a batch, from its intent to its commit, or a head with its blocks.",
        ),
        Metric::durations("trawl_ingest_insert_duration_seconds", &[], "Time until ClickHouse has accepted an insert."),
        Metric::counter(
            "trawl_ingest_retries_total",
            &[label("cause", &["unreachable", "disk_full", "refused"])],
            "Statements sent again, by cause of the failure.",
        ),
        Metric::counter(
            "trawl_ingest_refused_blocks_total",
            &[open("check")],
            "Refused blocks, by failed check; decode for blocks that cannot be decoded.",
        ),
        Metric::gauge(
            "trawl_ingest_queue_length",
            &[label("of", &["fetch", "check", "write"])],
            "Blocks being fetched or checked, including those that wait for an earlier one; batches being written or \
             waiting.",
        ),
        Metric::gauge(
            "trawl_ingest_queue_capacity",
            &[label("of", &["fetch", "check", "write"])],
            "Maximum length of the queue; the last queue that stays full belongs to the bottleneck.",
        ),
        Metric::flag("trawl_ingest_lease_held", &[], "1 while this run holds the lease to write."),
    ],
};
