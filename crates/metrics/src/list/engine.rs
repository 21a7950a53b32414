//! What `trawl-engine` measures.

use crate::metric::{Group, Label, Metric, Program, Scope, label, open};

/// The workloads of statements.
const WORKLOAD: &[Label] = &[label("workload", &["ingest", "short", "call", "scan", "reader"])];

pub(super) const ENGINE: Group = Group {
    title: "The embedded engine",
    programs: &[Program::Engine],
    scope: Scope::Process,
    metrics: &[
        Metric::gauge("trawl_engine_slots", WORKLOAD, "Statements that may run at a time."),
        Metric::gauge("trawl_engine_statements_running", WORKLOAD, "Statements that run."),
        Metric::gauge("trawl_engine_statements_waiting", WORKLOAD, "Statements that wait for a slot."),
        Metric::counter("trawl_engine_statements_total", WORKLOAD, "Statements that got a slot."),
        Metric::counter("trawl_engine_statements_refused_total", WORKLOAD, "Statements that got no slot."),
        Metric::durations("trawl_engine_statement_duration_seconds", WORKLOAD, "Time that a statement held its slot."),
        Metric::counter(
            "trawl_engine_errors_total",
            &[open("code")],
            "Requests that were answered with an error, also in mid-stream, by the code of ClickHouse.",
        ),
        Metric::counter(
            "trawl_engine_logins_refused_total",
            &[],
            "Requests with a user that is not there or a wrong password.",
        ),
        Metric::counter(
            "trawl_engine_query_log_left_out_total",
            &[],
            "Statements that system.query_log had no time for.",
        ),
        Metric::gauge("trawl_engine_broken_parts", &[], "Parts of tables that were broken at the start."),
        Metric::gauge(
            "trawl_engine_parts",
            &[label("state", &["active", "inactive"])],
            "Parts of tables: those that are read, and those that were merged and are not removed yet.",
        ),
        Metric::gauge("trawl_engine_parts_bytes", &[], "Size on disk of the parts that are read."),
        Metric::gauge("trawl_engine_disk_free_bytes", &[open("disk")], "Free space of a disk."),
        Metric::gauge("trawl_engine_disk_size_bytes", &[open("disk")], "Size of a disk."),
        Metric::gauge(
            "trawl_engine_memory_tracked_bytes",
            &[],
            "Memory that the engine has allocated, by its own count.",
        ),
        Metric::gauge("trawl_engine_merges_running", &[], "Merges and mutations that run."),
        Metric::counter("trawl_engine_merges_total", &[], "Merges that were started."),
        Metric::counter("trawl_engine_merged_rows_total", &[], "Rows that merges have read."),
        Metric::counter("trawl_engine_inserted_rows_total", &[], "Rows that were inserted."),
        Metric::counter("trawl_engine_inserted_bytes_total", &[], "Bytes that were inserted, uncompressed."),
        Metric::counter("trawl_engine_selected_rows_total", &[], "Rows that statements have read."),
        Metric::counter("trawl_engine_selected_bytes_total", &[], "Bytes that statements have read, uncompressed."),
        Metric::flag(
            "trawl_engine_figures_missing",
            &[],
            "1 if the tables of the system did not answer, so that figures of disks, parts and merges are old.",
        ),
    ],
};
