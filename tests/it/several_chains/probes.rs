//! Probes and metrics of several chains: one that is not ready takes nothing from the others.

use std::collections::BTreeSet;

use anyhow::ensure;
use trawl_metrics::{Kind, Program, Scope, list};

use super::{get, shared, start};
use crate::chains::chain;
use crate::env;

#[test]
fn a_chain_that_is_not_ready_leaves_the_others_as_they_are() -> anyhow::Result<()> {
    let several = shared();
    let ready = get(&format!("{several}/health/ready"))?;
    ensure!(ready.status == 200, "{}", ready.text());
    ensure!(ready.text() == "mainnet: ready\ndev: ready\nnone: schema-older\n", "{}", ready.text());
    ensure!(get(&format!("{several}/none/health/ready"))?.text() == "schema-older\n");
    let health = get(&format!("{several}/api/health"))?;
    let body = health.json()?;
    ensure!(health.status == 200 && body["healthy"] == false, "{body}");
    ensure!(body["chains"]["mainnet"]["healthy"] == true && body["chains"]["none"]["state"] == "not ready", "{body}");
    for path in ["/health/ready", "/api/health", "/api/v2/blocks"] {
        ensure!(get(&format!("{several}/none{path}"))?.status == 503, "{path}");
        ensure!(get(&format!("{several}/mainnet{path}"))?.status == 200, "{path}");
    }
    ensure!(get(&format!("{several}/health/live"))?.status == 200);
    Ok(())
}

/// 503 only while no chain can be answered for; a database that comes later is served without a restart.
#[test]
fn a_chain_is_served_once_its_database_is_there() -> anyhow::Result<()> {
    let name = "several_late";
    let api = start(&["--chain", &format!("late={name}"), "--chain", "none=not_there"], &[])?;
    env::eventually(env::SOON, || {
        Ok(get(&format!("{}/health/ready", api.url))?.text().contains("late: schema-older"))
    })?;
    ensure!(get(&format!("{}/health/ready", api.url))?.status == 503);
    ensure!(get(&format!("{}/api/health", api.url))?.status == 503);
    let _database = env::migrate(name)?;
    env::commit(name, 3)?;
    env::eventually(env::SOON, || Ok(get(&format!("{}/late/health/ready", api.url))?.status == 200))?;
    ensure!(get(&format!("{}/health/ready", api.url))?.status == 200);
    api.stop()?;
    Ok(())
}

#[test]
fn figures_of_a_chain_have_its_name() -> anyhow::Result<()> {
    let names = ["mainnet", "dev"];
    let chains = format!("mainnet={},dev={}", chain("mainnet").name, chain("devchain").name);
    let api = start(&["--chain", &chains], &names)?;
    let address = chain("mainnet").lines[1]["block"]["miner"].as_str().unwrap_or_default();
    for name in names {
        for path in ["/api/v2/blocks", "/api/v2/transactions", &format!("/api/v2/addresses/{address}/logs"), "/x"] {
            get(&format!("{}/{name}{path}", api.url))?;
        }
        get(&format!("{}/{name}/api/v2/scan/logs?limit=10", api.url))?;
        xtask::http::post(&xtask::http::agent(), &format!("{}/{name}/rpc", api.url), b"[{\"method\":\"eth_call\"}]")?;
    }
    let text = get(&format!("{}/metrics", api.url))?.text();
    let of_chains = list::GROUPS.iter().filter(|group| group.programs.contains(&Program::Api));
    let of_chains = of_chains.filter(|group| group.scope == Scope::Chain).flat_map(|group| group.metrics);
    // Requests at paths of no chain, and addresses, which all chains share.
    let shared: BTreeSet<&str> =
        ["trawl_http_requests_total", "trawl_http_request_duration_seconds", "trawl_rate_addresses"].into();
    for metric in of_chains {
        let series: Vec<&str> = text.lines().filter(|line| is_of(line, metric.name)).collect();
        for name in names {
            let is_known = matches!(metric.kind, Kind::Gauge) || metric.known_series().is_empty();
            let label = format!("chain=\"{name}\"");
            ensure!(is_known || series.iter().any(|line| line.contains(&label)), "{} lacks {label}", metric.name);
        }
        let bare = series.iter().find(|line| !line.contains("chain=\""));
        ensure!(bare.is_none() || shared.contains(metric.name), "of no chain: {bare:?}");
    }
    for series in [
        "trawl_ready{chain=\"dev\"} 1",
        "trawl_head_block{source=\"db\",chain=\"mainnet\"}",
        "trawl_http_requests_total{route=\"/api/v2/blocks\",method=\"GET\",status=\"200\",chain=\"dev\"}",
        "trawl_rpc_requests_total{method=\"eth_call\",outcome=\"ok\",chain=\"dev\"}",
        "process_resident_memory_bytes ",
    ] {
        ensure!(text.contains(series), "{series}: {text}");
    }
    ensure!(get(&format!("{}/dev/metrics", api.url))?.status == 404, "those of all are at /metrics");
    api.stop()?;
    Ok(())
}

fn is_of(line: &str, name: &str) -> bool {
    let rest = line.strip_prefix(name).unwrap_or_default();
    ["{", " ", "_bucket", "_sum", "_count"].iter().any(|next| rest.starts_with(next))
}
