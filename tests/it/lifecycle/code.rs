//! Which addresses are contracts: each way to become one and to be none any more, against the code that the node has.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::http;

use super::scene::{Scene, prague, shanghai};

/// What became of an address: whether it is a contract, what became of its creation, and the transaction that created
/// it.
type Outcome = (&'static str, bool, Option<&'static str>, Option<&'static str>);

const SUCCESS: Option<&str> = Some("success");
const DESTROYED: Option<&str> = Some("selfdestructed");

/// By the rules of both forks.
const OUTCOMES: [Outcome; 12] = [
    ("created", true, SUCCESS, Some("created")),
    ("maker", true, SUCCESS, Some("maker")),
    ("undone with its transaction", false, None, None),
    ("undone by its constructor", false, None, None),
    ("undone by a frame around it", false, None, None),
    ("created without code", false, SUCCESS, Some("created without code")),
    ("destroyed in its constructor", false, DESTROYED, Some("destroyed in its constructor")),
    ("destroyed by its transaction", true, DESTROYED, Some("destroyed by its transaction")),
    ("created again", true, SUCCESS, Some("creates again")),
    ("created later", true, SUCCESS, Some("creates later")),
    ("there from genesis on", true, SUCCESS, None),
    ("receiver", false, None, None),
];
/// EIP-6780: since Cancun a contract ends in the transaction that created it, or not at all.
const SINCE_CANCUN: [Outcome; 5] = [
    ("destroyed later", true, SUCCESS, Some("destroyed later")),
    ("delegates", true, None, None),
    ("delegates to itself", true, None, None),
    ("delegates to no code", true, None, None),
    ("revoked its delegation", false, None, None),
];
const BEFORE_CANCUN: [Outcome; 1] = [("destroyed later", true, DESTROYED, Some("destroyed later"))];

fn get(api: &str, path: &str) -> anyhow::Result<(u16, Value)> {
    let answer = http::get(&http::agent(), &format!("{api}/{path}"))?;
    Ok((answer.status, answer.json()?))
}

#[test]
fn contracts_are_those_that_the_node_has() -> anyhow::Result<()> {
    for (scene, own) in [(prague(), &SINCE_CANCUN[..]), (shanghai(), &BEFORE_CANCUN[..])] {
        for outcome in OUTCOMES.iter().chain(own) {
            ensure_is(scene, outcome).with_context(|| format!("{outcome:?}"))?;
        }
    }
    Ok(())
}

fn ensure_is(scene: &Scene, (name, is_contract, status, created_by): &Outcome) -> anyhow::Result<()> {
    let (address, head) = (&scene.addresses[name], scene.node.height());
    let codes: Vec<String> = (0..=head).map(|block| scene.node.code(address, block)).collect::<Result<_, _>>()?;
    ensure_same_code(scene, address, &codes)?;
    let had_code = codes.iter().any(|code| code != "0x");
    let has_code = codes.last().is_some_and(|code| code != "0x");
    // What the node has decides; of a contract that lasted less than a block it has nothing, and a revoked delegation
    // is none.
    ensure!(*is_contract || !has_code, "the node has code");
    ensure!(!is_contract || had_code || *status == DESTROYED, "the node never had code");

    let (_, page) = get(&scene.api, &format!("api/v2/addresses/{address}"))?;
    ensure!(page["is_contract"] == *is_contract && page["creation_status"] == json!(status), "{page}");
    let creator = created_by.map(|by| scene.node.hashes[by].clone());
    ensure!(page["creation_transaction_hash"] == json!(creator), "{page}");
    ensure!(page["creator_address_hash"].is_string() == creator.is_some(), "{page}");

    let (code, contract) = get(&scene.api, &format!("api/v2/smart-contracts/{address}"))?;
    ensure!(code == if *is_contract { 200 } else { 404 }, "{code}: {contract}");
    ensure!(!has_code || contract["deployed_bytecode"] == codes[codes.len() - 1], "{contract}");
    ensure!(!is_contract || contract["creation_status"] == json!(status), "{contract}");

    let (_, found) = get(&scene.api, &format!("api/v2/search/quick?q={address}"))?;
    ensure!(found[0]["type"] == if *is_contract { "contract" } else { "address" }, "{found}");
    let query = format!("api?module=contract&action=getcontractcreation&contractaddresses={address}");
    let (_, creation) = get(&scene.api, &query)?;
    ensure!(creation["result"][0]["txHash"] == json!(creator), "{creation}");
    let creator_now = http::rpc(&http::agent(), &rpc(&scene.api), "ots_getContractCreator", &json!([address]))?;
    ensure!(creator_now["result"]["hash"] == json!(creator.filter(|_| has_code)), "{creator_now}");
    Ok(())
}

fn rpc(api: &str) -> String {
    format!("{api}/api/eth-rpc")
}

/// The code after each block is that of the node.
fn ensure_same_code(scene: &Scene, address: &str, codes: &[String]) -> anyhow::Result<()> {
    let quantities: Vec<String> = (0..codes.len()).map(|block| format!("{block:#x}")).collect();
    let questions: Vec<(&str, Value)> =
        quantities.iter().map(|block| ("eth_getCode", json!([address, block]))).collect();
    let answers = crate::scenario::answers(&rpc(&scene.api), &questions)?;
    for (block, (answer, code)) in answers.iter().zip(codes).enumerate() {
        ensure!(answer["result"] == json!(code), "after block {block}: {answer}, the node has {code}");
    }
    Ok(())
}

/// Without the genesis nothing is reported about an address that may be in it.
#[test]
fn what_was_undone_is_no_contract_without_state_either() -> anyhow::Result<()> {
    let scene = prague();
    let api = scene.frames_only.as_deref().context("a follower")?;
    for (name, is_contract, status, created_by) in OUTCOMES.iter().chain(&SINCE_CANCUN) {
        let address = &scene.addresses[name];
        let (_, page) = get(api, &format!("api/v2/addresses/{address}"))?;
        // Known is what was created, with code or without, and what delegates or did.
        let is_known = *is_contract || status.is_some() || *name == "revoked its delegation";
        let expected = if is_known && *name != "there from genesis on" { json!(is_contract) } else { Value::Null };
        ensure!(page["is_contract"] == expected, "{name}: {page}");
        let creator = created_by.map(|by| scene.node.hashes[by].clone());
        ensure!(page["creation_transaction_hash"] == json!(creator), "{name}: {page}");
        let (_, found) = get(api, &format!("api/v2/search/quick?q={address}"))?;
        ensure!(found[0]["type"] == if expected == true { "contract" } else { "address" }, "{name}: {found}");
    }
    Ok(())
}
