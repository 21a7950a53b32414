//! Flags of several chains: in the configuration file too, and refused where they do not fit.

use std::process::Command;

use anyhow::ensure;
use xtask::process::Server;

use super::get;
use crate::chains::chain;
use crate::env;

#[test]
fn chains_that_do_not_fit_are_wrong_usage() -> anyhow::Result<()> {
    let two = ["--chain", "a=x,b=y"];
    for (arguments, reason) in [
        (&["--chain", "api=x"][..], "/api is a path of the server itself"),
        (&["--chain", "A=x"], "a name has 1 to 32 lower-case letters, digits and hyphens"),
        (&["--chain", "a"], "write NAME=DATABASE"),
        (&["--chain", "a=x,a=y"], "--chain names a twice"),
        (&[two[0], two[1], "--chain-id", "1"], "cannot be used with"),
        (&[two[0], two[1], "--upstream-rpc-url", "http://127.0.0.1:1"], "cannot be used with"),
        (&[two[0], two[1], "--chain-setting", "c.coin=X"], "--chain-setting c.coin: there is no --chain of that name"),
        (&[two[0], two[1], "--chain-setting", "a.max-reads=1"], "--chain-setting a.max-reads: unexpected argument"),
        (&[two[0], two[1], "--chain-setting", "a.chain-id=x"], "--chain-setting a.chain-id: invalid value 'x'"),
        (&[two[0], two[1], "--chain-setting", "a.upstream-rpc-url=ftp://x"], "is not an http or https URL"),
        (&["--chain-setting", "a.coin=X"], "--chain"),
    ] {
        let output = env::run(env::api_at(env::store(), "not_there", arguments), 2)?;
        let error = String::from_utf8_lossy(&output.stderr);
        ensure!(error.contains(reason), "{arguments:?}: {error}");
    }
    Ok(())
}

#[test]
fn a_file_has_chains_with_what_is_their_own() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let file = folder.path().join("trawl.toml").display().to_string();
    let text = format!(
        "[clickhouse]\nurl = \"{}\"\ndatabase = \"of_ingest\"\n[api]\nlisten = \"127.0.0.1:0\"\n\
         chain = [\"mainnet={}\", \"dev={}\"]\n\
         chain-setting = [\"dev.chain-name=A chain; of ours\", \"dev.coin=OURS\"]\n",
        env::store(),
        chain("mainnet").name,
        chain("devchain").name
    );
    // A semicolon parts settings, also in a list.
    std::fs::write(&file, text.replace("; of", " of"))?;
    let mut command = Command::new(env::program("trawl-api"));
    command.args(["--config-file", &file]);
    let api = Server::start(command)?;
    let asset = |name: &str, id: u64| get(&format!("{}/{name}/assets/chains/eip155-{id}.json", api.url));
    env::eventually(env::SOON, || Ok(asset("dev", 31337)?.status == 200 && asset("mainnet", 1)?.status == 200))?;
    let (dev, mainnet) = (asset("dev", 31337)?.json()?, asset("mainnet", 1)?.json()?);
    ensure!(dev["name"] == "A chain of ours" && dev["nativeCurrency"]["symbol"] == "OURS", "{dev}");
    ensure!(mainnet["name"] == "Ethereum" && mainnet["nativeCurrency"]["symbol"] == "ETH", "{mainnet}");
    api.stop()?;
    Ok(())
}
