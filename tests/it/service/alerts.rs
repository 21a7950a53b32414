//! The rules and the dashboard that operators copy: they ask for metrics that there are.

use anyhow::ensure;
use serde_json::Value;
use trawl_metrics::{Kind, Scope, list};
use xtask::workspace;

use super::metrics_listed::{promtool, promtool_of_any_run};

const RULES: &str = "ops/prometheus/rules.yml";
const RULES_TEST: &str = "ops/prometheus/rules_test.yml";
const DASHBOARD: &str = "ops/grafana/trawl.json";

/// The names of metrics in an expression: words that start as those of ours do.
fn names(expression: &str) -> Vec<&str> {
    let words = expression.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.filter(|word| word.starts_with("trawl_") || word.starts_with("process_")).collect()
}

/// Whether a program answers with a series of this name.
fn is_listed(series: &str) -> bool {
    let mut metrics = list::GROUPS.iter().flat_map(|group| group.metrics);
    metrics.any(|metric| match metric.kind {
        Kind::Histogram(_) => {
            ["_bucket", "_sum", "_count"].iter().any(|end| series.strip_suffix(end) == Some(metric.name))
        }
        _ => series == metric.name,
    })
}

/// All the expressions below a value, whose key is `expr`.
fn expressions(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(expressions).collect(),
        Value::Object(fields) => {
            let own = fields.get("expr").and_then(Value::as_str).map(str::to_owned);
            own.into_iter().chain(fields.values().flat_map(expressions)).collect()
        }
        _ => Vec::new(),
    }
}

fn asks_for_what_is_listed(file: &str, parse: fn(&str) -> anyhow::Result<Value>, least: usize) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(workspace::root().join(file))?;
    let expressions = expressions(&parse(&text)?);
    ensure!(expressions.len() >= least, "{file} has {} expressions", expressions.len());
    for expression in &expressions {
        let names = names(expression);
        ensure!(!names.is_empty() || expression.starts_with("up{"), "{file}: no metric in {expression}");
        let unlisted: Vec<_> = names.into_iter().filter(|name| !is_listed(name)).collect();
        ensure!(unlisted.is_empty(), "{file}: {unlisted:?} in {expression}");
    }
    Ok(())
}

#[test]
fn rules_ask_for_what_is_listed() -> anyhow::Result<()> {
    asks_for_what_is_listed(RULES, |text| Ok(serde_saphyr::from_str(text)?), 15)?;
    promtool(&["check", "rules", &workspace::root().join(RULES).display().to_string()], "")
}

/// Prometheus' own unit tests of the rules: one of each.
#[test]
fn rules_fire_for_what_they_say() -> anyhow::Result<()> {
    let read = |file: &str| anyhow::Ok(std::fs::read_to_string(workspace::root().join(file))?);
    let (rules, tests) = (read(RULES)?, read(RULES_TEST)?);
    for name in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let fires = format!("        alertname: {name}\n        exp_alerts:\n          - exp_labels");
        ensure!(tests.contains(&fires), "{RULES_TEST} has no case in which {name} fires");
    }
    promtool_of_any_run(&["test", "rules", &workspace::root().join(RULES_TEST).display().to_string()], "")
}

#[test]
fn the_dashboard_asks_for_what_is_listed() -> anyhow::Result<()> {
    asks_for_what_is_listed(DASHBOARD, |text| Ok(serde_json::from_str(text)?), 20)
}

/// Metrics that `trawl-api` has for each chain are summed by chain, and their legends name it.
#[test]
fn the_dashboard_tells_chains_apart() -> anyhow::Result<()> {
    let groups = list::GROUPS.iter().filter(|group| group.scope == Scope::Chain);
    let by_chain: Vec<&str> = groups.flat_map(|group| group.metrics).map(|metric| metric.name).collect();
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(workspace::root().join(DASHBOARD))?)?;
    let panels = dashboard["panels"].as_array().into_iter().flatten();
    let mut found = 0;
    for target in panels.flat_map(|panel| panel["targets"].as_array().into_iter().flatten()) {
        let (expression, legend) = (target["expr"].as_str().unwrap_or_default(), target["legendFormat"].as_str());
        if !names(expression).iter().any(|name| by_chain.iter().any(|metric| name.starts_with(metric))) {
            continue;
        }
        let sums = expression.split(" by (").skip(1).map(|rest| rest.split(')').next().unwrap_or_default());
        ensure!(sums.clone().all(|labels| labels.split(", ").any(|label| label == "chain")), "{expression}");
        ensure!(legend.is_some_and(|legend| legend.contains("{{chain}}")), "{expression}: {legend:?}");
        found += 1;
    }
    ensure!(found > 12, "{found} expressions");
    Ok(())
}

#[test]
fn names_are_found_in_expressions() {
    assert_eq!(names("rate(trawl_x_total{a=\"b\"}[5m]) / process_y > up"), ["trawl_x_total", "process_y"]);
    assert!(is_listed("trawl_statement_duration_seconds_bucket") && is_listed("trawl_ready"));
    assert!(!is_listed("trawl_statement_duration_seconds") && !is_listed("trawl_none"));
}
