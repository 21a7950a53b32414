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
            "Calls, counting each call of a batch: with a result (ok), with an error object (error), or without an \
             answer (failed).",
        ),
        Metric::durations(
            "trawl_node_request_duration_seconds",
            &[label("outcome", &["ok", "failed"])],
            "Time until a node answered a request, which may be a batch of calls.",
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
                    "denied",
                    "other_chain",
                ],
            )],
            "Failed attempts, by cause; another one follows unless all nodes refused permanently.",
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
            "Connections refused because of --max-connections, or of the limit per client.",
        ),
        Metric::counter(
            "trawl_connections_ended_total",
            &[label("reason", &["not reading", "no request"])],
            "Connections closed because the client read nothing of an answer, or sent no request.",
        ),
        Metric::counter(
            "trawl_tls_handshakes_total",
            &[label("outcome", &["done", "failed", "timeout", "refused"])],
            "TLS handshakes; refused if too many run at the same time.",
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
            "Always 1; version and commit are in the labels.",
        ),
        Metric::counter("process_cpu_seconds_total", &[], "User and system CPU time of the process."),
        Metric::gauge("process_resident_memory_bytes", &[], "Resident memory of the process."),
        Metric::gauge("process_virtual_memory_bytes", &[], "Virtual memory of the process."),
        Metric::gauge("process_threads", &[], "Threads of the process."),
        Metric::gauge("process_open_fds", &[], "Open file descriptors."),
        Metric::gauge("process_max_fds", &[], "Maximum number of open file descriptors."),
        Metric::gauge("process_start_time_seconds", &[], "Start time of the process, as Unix time."),
    ],
};
