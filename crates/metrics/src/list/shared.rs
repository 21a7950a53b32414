//! What several programs measure.

use crate::metric::{Group, Metric, Program, Scope, label, open};

const EVERY: &[Program] = &Program::ALL;

pub(super) const STATEMENTS: Group = Group {
    title: "Statements sent to ClickHouse",
    programs: &[Program::Api, Program::Ingest],
    scope: Scope::Chain,
    metrics: &[Metric::durations(
        "trawl_statement_duration_seconds",
        &[label("workload", &["short", "call", "scan", "ingest"]), label("outcome", &["ok", "failed"])],
        "Time until the first rows of a read, or its failure.",
    )],
};

pub(super) const NODES: Group = Group {
    title: "Calls to nodes",
    programs: &[Program::Api, Program::Ingest],
    scope: Scope::Chain,
    metrics: &[
        Metric::counter(
            "trawl_node_calls_total",
            &[open("method"), label("outcome", &["ok", "error", "failed"])],
            "Calls, those of a batch one by one: with a result, with an error object, or without an answer.",
        ),
        Metric::durations(
            "trawl_node_request_duration_seconds",
            &[label("outcome", &["ok", "failed"])],
            "Time until a node has answered a request, which may be a batch of calls.",
        ),
        Metric::counter(
            "trawl_node_retries_total",
            &[label(
                "cause",
                &[
                    "unreachable",
                    "malformed",
                    "rate_limited",
                    "timeout",
                    "too_large",
                    "not_ready",
                    "unknown_block",
                    "pruned",
                    "unsupported",
                    "permanent",
                    "other_chain",
                ],
            )],
            "Attempts that failed, by their cause; another one follows unless all nodes refused for good.",
        ),
    ],
};

pub(super) const CONNECTIONS: Group = Group {
    title: "Connections",
    programs: EVERY,
    scope: Scope::Process,
    metrics: &[
        Metric::counter(
            "trawl_connections_refused_total",
            &[label("limit", &["all", "client"])],
            "Connections beyond --max-connections, or beyond those of one client.",
        ),
        Metric::counter(
            "trawl_connections_ended_total",
            &[label("reason", &["not reading", "no request"])],
            "Connections that were ended because a client took nothing of an answer, or sent no request.",
        ),
        Metric::counter(
            "trawl_tls_handshakes_total",
            &[label("outcome", &["done", "failed", "timeout", "refused"])],
            "TLS handshakes; refused are those beyond what there may be at a time.",
        ),
    ],
};

pub(super) const PROCESS: Group = Group {
    title: "The process",
    programs: EVERY,
    scope: Scope::Process,
    metrics: &[
        Metric::gauge(
            "trawl_build_info",
            &[open("program"), open("version"), open("commit")],
            "Always 1: the labels are the figure.",
        ),
        Metric::counter("process_cpu_seconds_total", &[], "CPU time of the process, in user and system mode."),
        Metric::gauge("process_resident_memory_bytes", &[], "Memory of the process that is in RAM."),
        Metric::gauge("process_virtual_memory_bytes", &[], "Address space of the process."),
        Metric::gauge("process_threads", &[], "Threads of the process."),
        Metric::gauge("process_open_fds", &[], "Open files and connections."),
        Metric::gauge("process_max_fds", &[], "Most files and connections that may be open."),
        Metric::gauge("process_start_time_seconds", &[], "When the process started, as Unix time."),
    ],
};
