//! What `trawl-api` measures of requests, and of the chain that it reads.

use crate::metric::{Group, Metric, Program, Scope, label, open};

pub(super) const REQUESTS: Group = Group {
    title: "Requests to the API",
    programs: &[Program::Api],
    scope: Scope::Chain,
    metrics: &[
        Metric::counter(
            "trawl_http_requests_total",
            &[open("route"), open("method"), open("status")],
            "Requests that were answered.",
        ),
        Metric::durations("trawl_http_request_duration_seconds", &[open("route")], "Time until the head of an answer."),
        Metric::counter(
            "trawl_rpc_requests_total",
            &[open("method"), label("outcome", &["ok", "error"])],
            "JSON-RPC calls, those of a batch one by one.",
        ),
        Metric::gauge("trawl_websocket_connections", &[], "WebSockets that are open."),
        Metric::counter(
            "trawl_refused_total",
            &[
                label("what", &["reads", "computations", "scans", "statements", "slow", "bodies", "answers"]),
                label("limit", &["all", "client"]),
            ],
            "Requests that were refused because all clients, or one, had what they may have.",
        ),
        Metric::gauge(
            "trawl_slots_taken",
            &[label("of", &["reads", "computations", "proofs", "scans"])],
            "Requests that are being answered, of those that take turns.",
        ),
        Metric::gauge(
            "trawl_queue_length",
            &[label("of", &["reads", "computations", "proofs", "scans"])],
            "Requests that wait for their turn.",
        ),
        Metric::counter(
            "trawl_rate_limited_total",
            &[label("by", &["address", "key"])],
            "Requests and calls that were refused because there were too many of an address, or of a key, in a time.",
        ),
        Metric::gauge("trawl_rate_addresses", &[], "Addresses whose requests are counted for --rate-limit."),
        Metric::gauge(
            "trawl_memory_taken_bytes",
            &[label("of", &["bodies", "answers"])],
            "Memory that is taken of --body-memory and --answer-memory.",
        ),
        Metric::counter(
            "trawl_cache_requests_total",
            &[label("outcome", &["hit", "miss"])],
            "Requests for answers that the cache may have.",
        ),
        Metric::gauge("trawl_cache_bytes", &[], "Size of the cache of answers."),
        Metric::counter(
            "trawl_settled_cache_requests_total",
            &[label("outcome", &["hit", "miss"])],
            "Lookups of rows of settled blocks that the cache may have.",
        ),
        Metric::counter(
            "trawl_address_pages_total",
            &[label("read", &["alone", "together"])],
            "Pages of addresses read from tables: one by a statement, or together with others that waited.",
        ),
        Metric::gauge("trawl_settled_cache_bytes", &[], "Size of the cache of rows of settled blocks."),
    ],
};

pub(super) const HEAD: Group = Group {
    title: "The chain as the API sees it",
    programs: &[Program::Api],
    scope: Scope::Chain,
    metrics: &[
        Metric::flag("trawl_ready", &[], "1 while /health/ready is 200."),
        Metric::flag(
            "trawl_not_ready",
            &[open("reason")],
            "1 for the reason why /health/ready is 503; 0 for reasons that are over.",
        ),
        Metric::gauge(
            "trawl_head_block",
            &[label("source", &["db", "node"])],
            "Newest block: that readers see (db), and that follow saw at the node.",
        ),
        Metric::gauge("trawl_head_lag_blocks", &[], "Blocks that readers are behind the node."),
        Metric::gauge(
            "trawl_head_age_seconds",
            &[],
            "Time since readers see the newest block, by the clock of ClickHouse.",
        ),
        Metric::gauge("trawl_follow_node_silence_seconds", &[], "Time since a node answered follow."),
        Metric::gauge("trawl_follow_report_age_seconds", &[], "Time since follow reported."),
        Metric::flag("trawl_problem", &[open("kind")], "1 while something of this kind is wrong."),
        Metric::gauge("trawl_damaged_tables", &[], "Tables that lost rows; 0 if all rows are there."),
        Metric::gauge(
            "trawl_newest_blocks",
            &[label("place", &["memory", "tables"])],
            "Blocks that are not settled: in memory, and beyond --hot-memory in the hot tables.",
        ),
        Metric::gauge("trawl_newest_bytes", &[], "Memory of the newest blocks."),
    ],
};
