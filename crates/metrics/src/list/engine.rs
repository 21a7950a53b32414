//! What `trawl-engine` measures.

use crate::metric::{Group, Label, Metric, Program, Scope, label, open};

/// The workloads of statements.
const WORKLOAD: &[Label] = &[label("workload", &["ingest", "short", "call", "scan", "reader"])];

pub(super) const ENGINE: Group = Group {
    title: "The embedded engine",
    programs: &[Program::Engine],
    scope: Scope::Process,
    metrics: &[
        Metric::gauge("trawl_engine_slots", WORKLOAD, "Maximum number of statements that run at the same time."),
        Metric::gauge("trawl_engine_statements_running", WORKLOAD, "Running statements."),
        Metric::gauge("trawl_engine_statements_waiting", WORKLOAD, "Statements waiting for a slot."),
        Metric::counter("trawl_engine_statements_total", WORKLOAD, "Statements that got a slot."),
        Metric::counter("trawl_engine_statements_refused_total", WORKLOAD, "Statements that got no slot."),
        Metric::durations("trawl_engine_statement_duration_seconds", WORKLOAD, "Time that a statement held its slot."),
        Metric::counter(
            "trawl_engine_errors_total",
            &[open("code")],
            "Requests answered with an error, including errors in mid-stream, by ClickHouse error code.",
        ),
        Metric::counter("trawl_engine_logins_refused_total", &[], "Requests with an unknown user or a wrong password."),
        Metric::counter(
            "trawl_engine_query_log_left_out_total",
            &[],
            "Statements missing from system.query_log: too many were waiting, or the log could not be written.",
        ),
        Metric::gauge("trawl_engine_broken_parts", &[], "Parts of tables found broken at the start."),
        Metric::gauge(
            "trawl_engine_parts",
            &[label("state", &["active", "inactive"])],
            "Parts of tables: active ones, and merged ones that are not removed yet.",
        ),
        Metric::gauge("trawl_engine_parts_bytes", &[], "Size on disk of the active parts."),
        Metric::gauge("trawl_engine_disk_free_bytes", &[open("disk")], "Free space of a disk."),
        Metric::gauge("trawl_engine_disk_size_bytes", &[open("disk")], "Size of a disk."),
        Metric::gauge(
            "trawl_engine_memory_tracked_bytes",
            &[],
            "Memory allocated by the engine, as tracked by itself.",
        ),
        Metric::gauge("trawl_engine_merges_running", &[], "Running merges and mutations."),
        Metric::counter("trawl_engine_merges_total", &[], "Started merges."),
        Metric::counter("trawl_engine_merged_rows_total", &[], "Rows read by merges."),
        Metric::counter("trawl_engine_inserted_rows_total", &[], "Inserted rows."),
        Metric::counter("trawl_engine_inserted_bytes_total", &[], "Inserted bytes, uncompressed."),
        Metric::counter("trawl_engine_selected_rows_total", &[], "Rows read by statements."),
        Metric::counter("trawl_engine_selected_bytes_total", &[], "Bytes read by statements, uncompressed."),
        Metric::flag(
            "trawl_engine_figures_missing",
            &[],
            "1 if system tables could not be read, so that metrics of disks, parts and merges are out of date.",
        ),
    ],
};
