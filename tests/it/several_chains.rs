//! A server of several chains: two that are loaded, and one whose database is not there
//! (docs/operate/several-chains.md).

use std::sync::LazyLock;

use anyhow::ensure;
use xtask::http::{self, Answer};
use xtask::process::Server;

use crate::chains::chain;
use crate::env;

mod answers;
mod chain_ids;
mod flags;
mod limits;
mod page;
mod probes;

/// A server of these chains, once those that are loaded are ready.
fn start(arguments: &[&str], ready: &[&str]) -> anyhow::Result<Server> {
    let api = Server::start(env::api_at(env::store(), "not_there", arguments))?;
    for name in ready {
        let is_ready = || Ok(get(&format!("{}/{name}/health/ready", api.url))?.status == 200);
        env::eventually(env::SOON, is_ready)?;
    }
    Ok(api)
}

/// Mainnet as `mainnet`, the scenario chain as `dev`, and `none`, whose database is not there and whose id is stated.
fn shared() -> &'static str {
    static URL: LazyLock<String> = LazyLock::new(|| {
        let databases = [chain("mainnet").name, chain("devchain").name];
        let chains = format!("mainnet={},dev={},none=not_there", databases[0], databases[1]);
        let arguments = ["--chain", &chains, "--chain-setting", "none.chain-id=77"];
        let api = start(&arguments, &["mainnet", "dev"]).unwrap_or_else(|error| panic!("{error:#}"));
        let url = api.url.clone();
        env::keep(api);
        url
    });
    &URL
}

fn get(url: &str) -> anyhow::Result<Answer> {
    http::get(&http::agent(), url)
}

/// The chains with their servers of their own: name and address.
fn own() -> [(&'static str, &'static str); 2] {
    [("mainnet", &chain("mainnet").api), ("dev", &chain("devchain").api)]
}

/// Whether two answers are the same: status, kind and every byte.
fn same(one: &Answer, other: &Answer, what: &str) -> anyhow::Result<()> {
    ensure!(one.status == other.status, "{what}: {} and {}: {}", one.status, other.status, one.text());
    for name in ["content-type", "etag", "cache-control", "access-control-allow-origin", "trawl-newest-block"] {
        ensure!(
            one.header(name) == other.header(name),
            "{what}: {name}: {} and {}",
            one.header(name),
            other.header(name)
        );
    }
    ensure!(one.body == other.body, "{what}: {}\n\n{}", one.text(), other.text());
    Ok(())
}
