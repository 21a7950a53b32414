//! What happens on the chain: contracts that are created in every way, destroyed and undone; accounts that delegate;
//! coins that go back; data sent to where no code is.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::OnceLock;

use serde_json::{Value, json};
use xtask::{http, process, workspace};

use super::anvil::{Anvil, Call};
use crate::env;

/// The chain, and APIs over it.
pub struct Scene {
    pub node: Anvil,
    /// Over the chain with all its state.
    pub api: String,
    /// Over the chain as a follower has it that was given no genesis: call frames, and what transactions changed.
    pub frames_only: Option<String>,
    /// Addresses by what became of them.
    pub addresses: BTreeMap<&'static str, String>,
}

/// Runtime that does nothing, for gas: `PUSH1 0, POP, STOP`.
const PLAIN: &str = "60005000";
/// Runtime that destroys itself: `CALLER, SELFDESTRUCT`.
const DESTROYS: &str = "33ff";
/// Calls the address in word 0 with its value; reverts if word 1 is not 0.
const PAYER: &str = "6000600060006000346000355af150602035601657005b60006000fd";
/// Calls the address in word 0 with the rest of its data and its value, and succeeds whatever comes of it.
const CATCHER: &str = "6020360360206000376000600060203603\
6000346000355af100";
/// CREATE of what stands behind word 0. If that is 1 it calls the contract, if 2 it reverts.
const MAKER: &str = "6020360360206000376020360360006000f0600035600114602557600035600214603457005b\
60006000600060006000855af1005b60006000fd";
/// The same with CREATE2 and a salt; it never reverts.
const SALTED_MAKER: &str = "60203603602060003760076020360360006000f5600035600114601e57005b\
60006000600060006000855af100";
/// Calls the precompile of the identity.
const CALLS: &str = "6000600060006000600060045af150";
/// `LOG0` of nothing.
const LOGS: &str = "60006000a0";
/// `REVERT` with nothing.
const REVERTS: &str = "60006000fd";

/// An account that only ever receives something.
pub const RECEIVER: &str = "0x00000000000000000000000000000000000e0a00";
/// `transfer(address,uint256)` of a token, to an account and with an amount.
pub const TRANSFER: &str = "0xa9059cbb00000000000000000000000000000000000000000000000000000000000e0a00\
0000000000000000000000000000000000000000000000000000000000000007";
/// A message in words.
pub const MESSAGE: &str = "0x68656c6c6f2c20776f726c64";
/// The precompile of the identity.
pub const PRECOMPILE: &str = "0x0000000000000000000000000000000000000004";

/// The chain by the rules of Prague.
pub fn prague() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| start("prague").unwrap_or_else(|error| panic!("the scene: {error:?}")))
}

/// The chain by the rules of Shanghai, in which a contract can end at any time.
pub fn shanghai() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| start("shanghai").unwrap_or_else(|error| panic!("the scene: {error:?}")))
}

fn start(hardfork: &'static str) -> anyhow::Result<Scene> {
    let mut scene = Play { node: Anvil::start(hardfork)?, addresses: BTreeMap::new() };
    scene.contracts()?;
    scene.creations()?;
    scene.payments()?;
    if hardfork == "prague" {
        scene.delegations()?;
    }
    scene.deliveries()?;
    let Play { node, addresses } = scene;
    let database = format!("lifecycle_{hardfork}");
    env::create_tables(&database)?;
    let genesis = genesis(hardfork)?;
    let path = genesis.path().display().to_string();
    env::run(env::ingest(&database, &["load", "--rpc-url", &node.url, "--genesis", &path]), 0)?;
    let frames_only = if hardfork == "prague" { Some(followed("lifecycle_followed", &node)?) } else { None };
    Ok(Scene { api: env::start_shared_api(&database)?, node, frames_only, addresses })
}

/// The genesis of the node by the rules of a fork.
pub fn genesis(hardfork: &str) -> anyhow::Result<tempfile::NamedTempFile> {
    let text = std::fs::read_to_string(workspace::fixture("devchain/genesis.json"))?;
    let mut genesis: Value = serde_json::from_str(&text)?;
    if hardfork == "shanghai" {
        for rule in ["cancunTime", "pragueTime"] {
            genesis["config"].as_object_mut().map(|rules| rules.remove(rule));
        }
        // The system contract of Prague.
        genesis["alloc"].as_object_mut().map(|alloc| alloc.remove("0x0000f90827f1c53a10cb7a02335b175320002935"));
    }
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), genesis.to_string())?;
    Ok(file)
}

/// The addresses of two APIs over the blocks of a node by the rules of Prague: with state, and without.
pub fn with_and_without_state(node: &Anvil, database: &str) -> anyhow::Result<[String; 2]> {
    let genesis = genesis("prague")?;
    let path = genesis.path().display().to_string();
    let load = |database: &str, state: [&str; 2]| -> anyhow::Result<String> {
        env::create_tables(database)?;
        env::run(env::ingest(database, &["load", "--rpc-url", &node.url, state[0], state[1]]), 0)?;
        env::start_shared_api(database)
    };
    Ok([load(database, ["--genesis", &path])?, load(&format!("{database}_stateless"), ["--state", "off"])?])
}

/// An API over a database that follows the node to the end of the test run, views of it no later than the API.
fn followed(database: &str, node: &Anvil) -> anyhow::Result<String> {
    env::create_tables(database)?;
    let mut command = env::ingest(database, &["follow", "--rpc-url", &node.url, "--hot-tables-interval", "20ms"]);
    command.stderr(Stdio::null());
    env::keep_child(process::spawn(command)?);
    let api = env::start_shared_api(database)?;
    env::eventually(env::SOON, || {
        let head = http::rpc(&http::agent(), &format!("{api}/api/eth-rpc"), "eth_blockNumber", &json!([]))?;
        Ok(head["result"] == format!("{:#x}", node.height()))
    })?;
    Ok(api)
}

/// Code that does something first and then leaves a runtime.
fn creation_of(first: &str, runtime: &str) -> String {
    let (size, offset) = (runtime.len() / 2, first.len() / 2 + 11);
    format!("{first}60{size:02x}8060{offset:02x}6000396000f3{runtime}")
}

/// Words before some code.
fn data(words: &[&str], code: &str) -> String {
    let word = |text: &&str| format!("{:0>64}", text.trim_start_matches("0x"));
    format!("0x{}{code}", words.iter().map(word).collect::<String>())
}

/// The chain in the making.
struct Play {
    node: Anvil,
    addresses: BTreeMap<&'static str, String>,
}

impl Play {
    fn create(&mut self, name: &'static str, code: &str) -> anyhow::Result<()> {
        self.node.send(name, Call { data: format!("0x{code}"), ..Call::default() })
    }

    fn call(&mut self, name: &'static str, to: &str, data: String, value: u64) -> anyhow::Result<()> {
        self.node.send(name, Call { to: Some(to), data, value, ..Call::default() })
    }

    fn mine(&mut self) -> anyhow::Result<()> {
        self.node.mine()
    }

    /// Contracts that transactions create, or do not.
    fn contracts(&mut self) -> anyhow::Result<()> {
        // Two that accounts delegate to: their addresses are signed.
        self.create("created", &creation_of("", PLAIN))?;
        self.create("second", &creation_of("", PLAIN))?;
        for (name, runtime) in [
            ("payer", PAYER),
            ("catcher", CATCHER),
            ("maker", MAKER),
            ("salted maker", SALTED_MAKER),
            ("destroyed later", DESTROYS),
        ] {
            self.create(name, &creation_of("", runtime))?;
        }
        self.create("undone with its transaction", &format!("{CALLS}{REVERTS}"))?;
        self.create("created without code", &format!("{CALLS}{LOGS}00"))?;
        self.create("destroyed in its constructor", &format!("{CALLS}{DESTROYS}"))?;
        self.mine()?;
        for name in self.node.hashes.clone().into_keys() {
            self.addresses.insert(name, self.node.contract(name)?);
        }
        self.addresses.insert("there from genesis on", "0x4e59b44847b379578588920ca78fbf26c0b4956c".into());
        self.addresses.insert("receiver", RECEIVER.into());
        Ok(())
    }

    /// Contracts that contracts create, or do not; and what is created again.
    fn creations(&mut self) -> anyhow::Result<()> {
        let to = |play: &Self, name: &str| play.addresses[name].clone();
        let (maker, salted) = (to(self, "maker"), to(self, "salted maker"));
        let (catcher, ends) = (to(self, "catcher"), to(self, "destroyed later"));
        let undone = data(&["0"], &format!("{CALLS}{REVERTS}"));
        self.call("undone by its constructor", &maker, undone, 0)?;
        self.call("destroyed by its transaction", &maker, data(&["1"], &creation_of("", DESTROYS)), 0)?;
        let caught = data(&[&maker, "2"], &creation_of(CALLS, PLAIN));
        self.call("undone by a frame around it", &catcher, caught, 0)?;
        self.call("created again", &salted, data(&["1"], &creation_of("", DESTROYS)), 0)?;
        self.mine()?;
        self.call("destroys", &ends, "0x".into(), 0)?;
        self.call("creates again", &salted, data(&["0"], &creation_of("", DESTROYS)), 0)?;
        self.mine()?;
        for name in [
            "undone by its constructor",
            "destroyed by its transaction",
            "undone by a frame around it",
            "created again",
        ] {
            self.addresses.insert(name, self.node.inner_contract(name)?);
        }
        Ok(())
    }

    /// The coins of blockscout#8349: 100 and 1 arrive, 200 and 300 go back.
    fn payments(&mut self) -> anyhow::Result<()> {
        let (payer, catcher) = (self.addresses["payer"].clone(), self.addresses["catcher"].clone());
        self.call("pays 100", &payer, data(&[RECEIVER, "0"], ""), 100)?;
        self.call("pays 1", &catcher, data(&[&payer, RECEIVER, "0"], ""), 1)?;
        self.call("fails with 200", &payer, data(&[RECEIVER, "1"], ""), 200)?;
        self.call("catches 300", &catcher, data(&[&payer, RECEIVER, "1"], ""), 300)?;
        self.mine()
    }

    /// Accounts that delegate (EIP-7702).
    fn delegations(&mut self) -> anyhow::Result<()> {
        let own =
            [("delegates", 7), ("delegates to itself", 8), ("revoked its delegation", 9), ("delegates to no code", 6)];
        for (name, account) in own {
            self.addresses.insert(name, self.node.accounts[account].clone());
        }
        for authorizations in [&AUTHORIZATIONS[..4], &AUTHORIZATIONS[4..]] {
            let list = authorizations.iter().map(signed).collect();
            let name = if authorizations.len() == 4 { "sets delegations" } else { "changes delegations" };
            let call = Call { to: Some(RECEIVER), data: "0x".into(), authorizations: list, ..Call::default() };
            self.node.send(name, call)?;
            self.mine()?;
        }
        Ok(())
    }

    /// Data that is sent to where there is code, and to where there is none.
    fn deliveries(&mut self) -> anyhow::Result<()> {
        let later = self.node.next_contract(1)?;
        self.call("coins to a later contract", &later, "0x".into(), 3)?;
        let mut targets = vec![
            ("transfer to an account", RECEIVER.to_owned(), TRANSFER),
            ("message to an account", RECEIVER.to_owned(), MESSAGE),
            ("transfer to a later contract", later.clone(), TRANSFER),
            ("transfer to a precompile", PRECOMPILE.to_owned(), TRANSFER),
        ];
        let of = |what: &str| self.addresses.get(what).cloned();
        for (name, what) in DELIVERIES {
            targets.extend(of(what).map(|address| (name, address, TRANSFER)));
        }
        for (name, to, data) in targets {
            self.call(name, &to, data.into(), 0)?;
        }
        self.mine()?;
        let creation = Call { data: format!("0x{}", creation_of("", PLAIN)), from: 1, ..Call::default() };
        self.node.send("creates later", creation)?;
        self.mine()?;
        self.addresses.insert("created later", later);
        Ok(())
    }
}

/// Transactions with the data of a transfer, and to what they go.
const DELIVERIES: [(&str, &str); 9] = [
    ("call of a contract", "created"),
    ("call of what may be destroyed", "destroyed later"),
    ("transfer to what was undone", "undone by its constructor"),
    ("transfer to what was destroyed at once", "destroyed by its transaction"),
    ("transfer to what has no code", "created without code"),
    ("call of a delegation", "delegates"),
    ("call of a delegation to itself", "delegates to itself"),
    ("transfer to a delegation to nothing", "delegates to no code"),
    ("transfer to a revoked delegation", "revoked its delegation"),
];

/// Authorizations of the accounts of the node (EIP-7702): nonce, delegate, parity, r, s, as viem 2.57.1 signed them
/// (`signAuthorization`, chain 31337): of accounts 7, 8, 9 and 6, then again of 7 and 9.
pub const AUTHORIZATIONS: [(u64, &str, u8, &str, &str); 6] = [
    (
        0,
        "0x5fbdb2315678afecb367f032d93f642f64180aa3",
        1,
        "0x967e309658a3cb4aa6ea7a5efa9fcb646fcc598efdfa2d0085e9d98e056b9ae",
        "0x44922228af3b31d754050291d08a52a98dff28d633132932e8c7ab9984c27542",
    ),
    (
        0,
        "0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f",
        0,
        "0x8a4e1526ac00a2c0b41ca8773455d02d1b6d13a6b2fd8c0ec9b5acdef2b4e2b5",
        "0x5c47eaced8c501ccadac775ab96db8d8860ddd44caf2b3859d7c68adb7933fc2",
    ),
    (
        0,
        "0x5fbdb2315678afecb367f032d93f642f64180aa3",
        1,
        "0xe5e728aeb5c6f862c68397ba00550e42306a68523fa093146658a9c418fe0378",
        "0x35616386433402ceb66c04d31293c90004546429aad22550d306614d3a1591ab",
    ),
    (
        0,
        "0x00000000000000000000000000000000000e0a00",
        0,
        "0xb87c8825192bf9b4ce3fa8d3d9cc7226012afc50ff53bf2a6cbcfb5496be036d",
        "0x704f5b9e94b8fce1fb973e7abfbdd9cd06ac53b6bef02457aafffb2b624f0a9b",
    ),
    (
        1,
        "0xe7f1725e7734ce288f8367e1bb143e90bb3f0512",
        0,
        "0x14cdf4ee3cebd275fdde8d5de8fd9f1259485e92d0808b814c39117dfacbee97",
        "0x4c409947aa4585933b4d5bc33efd55137cb330808fbcb40485e8f0ccd2009c74",
    ),
    (
        1,
        "0x0000000000000000000000000000000000000000",
        1,
        "0xbcf9ff2579fb4bc777446b9d26d5441753f8d97d5ef191710b44169a9bdfea42",
        "0x3456d12286f05632f9533fe8b84f64ce7816d137bdeb3c51f99aeca2a370d91a",
    ),
];

/// An authorization as a node takes it.
pub fn signed((nonce, address, parity, r, s): &(u64, &str, u8, &str, &str)) -> Value {
    let quantity = |number: u64| format!("{number:#x}");
    json!({"chainId": "0x7a69", "nonce": quantity(*nonce), "address": address, "yParity": quantity((*parity).into()), "r": r, "s": s})
}
