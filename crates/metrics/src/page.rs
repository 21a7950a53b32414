//! The reference page, made from the list.

use std::fmt::Write as _;

use crate::list::GROUPS;
use crate::metric::{Kind, Label, Metric, Scope};

const HEAD: &str = "# Metrics

Made by `cargo xtask docs` from [the list](../../crates/metrics/src/list.rs). Where they are served and which deserve an
alert: [observe](../operate/observe.md).

Counters, flags and histograms are there from 0 on where their labels are known before; a gauge is there once it is known.
A histogram has `_bucket`, `_sum` and `_count`.
";

/// What the series of a chain have beside the labels in the table.
const BY_CHAIN: &str = "; where `trawl-api` [serves several chains](../operate/several-chains.md), also by `chain`";

/// The reference page as Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for group in GROUPS {
        let programs = group.programs.iter().map(|program| format!("`{}`", program.name())).collect::<Vec<_>>();
        // Writing to a String cannot fail.
        let _ = write!(
            page,
            "\n## {}\n\nOf {}{}.\n\n| metric | kind | labels | help |\n|---|---|---|---|\n",
            group.title,
            programs.join(", "),
            if group.scope == Scope::Chain { BY_CHAIN } else { "" }
        );
        group.metrics.iter().for_each(|metric| page += &row(metric));
    }
    page
}

fn row(metric: &Metric) -> String {
    let kind = match metric.kind {
        Kind::Counter => "counter",
        Kind::Gauge => "gauge",
        Kind::Flag => "flag",
        Kind::Histogram(_) => "histogram",
    };
    let labels = metric.labels.iter().map(labelled).collect::<Vec<_>>().join("; ");
    format!("| `{}` | {kind} | {labels} | {} |\n", metric.name, metric.help)
}

fn labelled(label: &Label) -> String {
    let values = label.values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>();
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    format!("`{}`{values}", label.name)
}
