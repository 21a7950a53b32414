//! Foundry's `cast` asks Trawl and the node that made the chain, and prints the same.

use std::process::Command;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use xtask::workspace;

use crate::env;
use crate::scenario::scenario;

/// Commands whose whole output is the same. `$NAME` is a contract of the scenario, `$0` to `$9` its accounts, `$tx` and
/// `$failed` transactions.
const COMMANDS: &[&str] = &[
    "chain-id",
    "block-number",
    "block latest",
    "block 40 --full",
    "block 40 --raw",
    "base-fee",
    "gas-price",
    "age latest",
    "find-block 1700000300",
    "tx $tx",
    "tx $tx --raw",
    "tx $failed",
    "balance $0",
    "balance $0 --block 30",
    "balance $3 --ether",
    "nonce $0",
    "nonce $0 --block 12",
    "code $DUSD",
    "codesize $DUSD",
    "storage $DUSD 2",
    "storage $DUSD 3 --block 20",
    "implementation $uupsProxy",
    "admin $transparentProxy",
    "call $DUSD balanceOf(address)(uint256) $0",
    "call $DUSD balanceOf(address)(uint256) $0 --block 30",
    "call $GLD name()(string)",
    "call $Art ownerOf(uint256)(address) 4",
    "call $Items balanceOf(address,uint256)(uint256) $1 1",
    "call --trace $DUSD decimals()(uint8)",
    "erc20-token balance $DUSD $0",
    "run $tx",
    "estimate --from $0 $DUSD transfer(address,uint256) $1 5",
    "estimate --from $0 $1 --value 1",
    "access-list --from $0 $DUSD transfer(address,uint256) $1 5",
    "logs --from-block 1 --to-block 91 --address $DUSD",
    "logs --from-block 1 --to-block 91 Transfer(address,address,uint256)",
    "logs --from-block 1 --to-block latest --address $DUSD --json Transfer(address,address,uint256) $0",
    "logs --from-block 10 --to-block 60 --json Transfer(address,address,uint256) $1 $2",
    "rpc eth_chainId",
    "rpc eth_getBalance $0 0x10",
    "rpc eth_getBlockTransactionCountByNumber 0x5",
];

/// Commands that print what the server says, and members that anvil alone has.
const OBJECTS: &[(&str, &[&str])] = &[
    ("block 40 --json", &["totalDifficulty"]),
    ("rpc eth_getBlockByNumber 0x5 true", &["totalDifficulty"]),
    ("rpc eth_getTransactionByHash $tx", &[]),
    ("rpc eth_getLogs {\"fromBlock\":\"0x3\",\"toBlock\":\"0x9\"}", &[]),
    ("receipt $tx --json", &["blobGasPrice", "blockTimestamp"]),
    ("receipt $failed --json", &["blobGasPrice", "blockTimestamp", "revertReason"]),
];

/// What one command comes to.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    has_succeeded: bool,
    output: String,
    errors: String,
}

fn cast(command: &str, rpc: &str) -> anyhow::Result<Outcome> {
    let program = workspace::root().join("tests/clients/node_modules/@foundry-rs/cast-linux-amd64/bin/cast");
    let home = env::directory()?;
    let output = Command::new(program)
        .args(command.split(' ').map(meaning).collect::<anyhow::Result<Vec<_>>>()?)
        .args(["--rpc-url", rpc])
        // No configuration and no cache of whoever runs this.
        .env("HOME", home.path())
        .env("FOUNDRY_DISABLE_NIGHTLY_WARNING", "1")
        .current_dir(home.path())
        .output()
        .context("cast does not start; `cargo xtask test` installs it")?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Outcome { has_succeeded: output.status.success(), output: text(&output.stdout), errors: text(&output.stderr) })
}

/// What stands for a word of a command.
fn meaning(word: &str) -> anyhow::Result<String> {
    let Some(name) = word.strip_prefix('$') else { return Ok(word.into()) };
    let expected = &scenario().expected;
    let transaction = |label: &str| {
        let mut all = expected["transactions"].as_array().into_iter().flatten();
        all.find(|transaction| transaction["label"] == label).map(|transaction| &transaction["hash"])
    };
    let found = match (name, name.parse::<usize>()) {
        ("tx", _) => transaction("60 transfers in one tx"),
        ("failed", _) => transaction("transfer without funds (fails)"),
        (_, Ok(position)) => expected["accounts"].get(position),
        (contract, _) => expected["addresses"].get(contract),
    };
    found.and_then(Value::as_str).map(str::to_owned).with_context(|| format!("nothing is called {word}"))
}

/// Every so many of the commands.
pub fn prints_the_same(trawl: &str, step: usize) -> anyhow::Result<()> {
    let node = &scenario().node;
    let mut differing = Vec::new();
    for command in COMMANDS.iter().step_by(step) {
        let (found, expected) = (cast(command, trawl)?, cast(command, node)?);
        ensure!(
            expected.has_succeeded && !expected.output.trim().is_empty(),
            "the node has no answer to {command}: {expected:?}"
        );
        if (found.has_succeeded, &found.output) != (true, &expected.output) {
            differing.push(format!("{command}: {found:#?} instead of {expected:#?}"));
        }
    }
    for (command, of_anvil) in OBJECTS.iter().step_by(step) {
        let object = |rpc: &str| -> anyhow::Result<Value> {
            let outcome = cast(command, rpc)?;
            let mut object: Value = serde_json::from_str(&outcome.output).with_context(|| format!("{outcome:?}"))?;
            if let Some(members) = object.as_object_mut() {
                of_anvil.iter().for_each(|name| drop(members.remove(*name)));
            }
            Ok(object)
        };
        let (found, expected) = (object(trawl)?, object(node)?);
        if found != expected {
            differing.push(format!("{command}: {found} instead of {expected}"));
        }
    }
    ensure!(differing.is_empty(), "{} differ: {}", differing.len(), differing.join("\n"));
    // A revert, with its data; the words before that are each node's own.
    let command = "call $DUSD transfer(address,uint256) $0 100000000000000000000";
    let (found, expected) = (cast(command, trawl)?, cast(command, node)?);
    let data = |outcome: &Outcome| outcome.errors.split("data: ").nth(1).map(|data| data.trim().to_owned());
    ensure!(!found.has_succeeded && found.errors.contains("error code 3: execution reverted"), "{found:?}");
    ensure!(data(&found).is_some() && data(&found) == data(&expected), "{found:?} and {expected:?}");
    Ok(())
}
