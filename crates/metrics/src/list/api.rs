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
            "Answered requests.",
        ),
        Metric::durations("trawl_http_request_duration_seconds", &[open("route")], "Time until the head of an answer."),
        Metric::counter(
            "trawl_rpc_requests_total",
            &[open("method"), label("outcome", &["ok", "error"])],
            "JSON-RPC calls; each call of a batch counts.",
        ),
        Metric::gauge("trawl_websocket_connections", &[], "Open WebSocket connections."),
        Metric::counter(
            "trawl_refused_total",
            &[
                label("what", &["reads", "computations", "scans", "statements", "slow", "bodies", "answers"]),
                label("limit", &["all", "client"]),
            ],
            "Requests refused because all clients together, or one client, reached a limit.",
        ),
        Metric::gauge(
            "trawl_slots_taken",
            &[label("of", &["reads", "computations", "proofs", "scans"])],
            "Slots in use by running requests.",
        ),
        Metric::gauge(
            "trawl_queue_length",
            &[label("of", &["reads", "computations", "proofs", "scans"])],
            "Requests that wait for a slot.",
        ),
        Metric::counter(
            "trawl_rate_limited_total",
            &[label("by", &["address", "key"])],
            "Requests and calls refused because an address, or a key, exceeded its rate.",
        ),
        Metric::gauge("trawl_rate_addresses", &[], "Addresses currently tracked for --rate-limit."),
        Metric::gauge(
            "trawl_memory_taken_bytes",
            &[label("of", &["bodies", "answers"])],
            "Memory in use of --body-memory and --answer-memory.",
        ),
        Metric::counter(
            "trawl_cache_requests_total",
            &[label("outcome", &["hit", "miss"])],
            "Lookups in the cache of answers.",
        ),
        Metric::gauge("trawl_cache_bytes", &[], "Size of the cache of answers."),
        Metric::counter(
            "trawl_settled_cache_requests_total",
            &[label("outcome", &["hit", "miss"])],
            "Lookups in the cache of rows of settled blocks.",
        ),
        Metric::counter(
            "trawl_address_pages_total",
            &[label("read", &["alone", "together"])],
            "Pages of addresses read from tables: alone in a statement, or together with other waiting pages.",
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
            "1 for the current reason why /health/ready is 503; 0 for past reasons.",
        ),
        Metric::gauge(
            "trawl_head_block",
            &[label("source", &["db", "node"])],
            "Newest block: as seen by readers (db), and as seen by follow at the node (node).",
        ),
        Metric::gauge("trawl_head_lag_blocks", &[], "Number of blocks that readers are behind the node."),
        Metric::gauge(
            "trawl_head_age_seconds",
            &[],
            "Time since readers first saw the newest block, by the clock of ClickHouse.",
        ),
        Metric::gauge("trawl_follow_node_silence_seconds", &[], "Time since a node last answered follow."),
        Metric::gauge("trawl_follow_report_age_seconds", &[], "Time since the last report of follow."),
        Metric::flag("trawl_problem", &[open("kind")], "1 while there is a problem of this kind."),
        Metric::gauge("trawl_damaged_tables", &[], "Number of tables that lost rows."),
        Metric::gauge(
            "trawl_newest_blocks",
            &[label("place", &["memory", "tables"])],
            "Blocks that are not settled: in memory, and those beyond --hot-memory only in the hot tables.",
        ),
        Metric::gauge("trawl_newest_bytes", &[], "Memory of the newest blocks."),
    ],
};
