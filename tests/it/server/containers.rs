//! What the nightly workflow runs over ClickHouse in containers, run over the library's server code.

use std::process::Command;

use anyhow::ensure;
use xtask::workspace;

use super::cluster::Cluster;
use crate::chains::dump;
use crate::env;

#[test]
fn answers_over_three_shards_are_compared_by_the_workflows_script() -> anyhow::Result<()> {
    if !env::is_slow_run() {
        return Ok(());
    }
    let cluster = Cluster::start(3)?;
    let output = Command::new("python3")
        .arg(workspace::root().join("tests/containers/cluster/compare.py"))
        .args(["--dump", &dump("devchain")])
        .args(["--stop", &format!("kill {}; sleep 1", cluster.last().id())])
        .arg("--programs")
        .arg(env::program("trawl-api").parent().expect("a folder of programs"))
        .args(cluster.nodes.iter().map(|node| &node.url))
        .output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    ensure!(printed.contains("0 answers differ") && printed.contains("0 neither right nor refused"), "{printed}");
    Ok(())
}
