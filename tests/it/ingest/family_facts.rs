//! What REST tells readers of transactions and blocks of other chains, against the source's JSON and rules written down
//! here.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xtask::{http, workspace};

use super::load;
use crate::env;

/// The chain's name and coin, by its documents.
const NAMES: [(u64, &str, &str); 7] = [
    (421_614, "Arbitrum Sepolia", "ETH"),
    (100, "Gnosis", "xDAI"),
    (10, "OP Mainnet", "ETH"),
    (420, "OP Goerli", "ETH"),
    (11_155_420, "OP Sepolia", "ETH"),
    (80_001, "Polygon Mumbai", "MATIC"),
    (534_352, "Scroll", "ETH"),
];

/// Compares names, types, parts of fees and facts of all transactions and blocks.
pub(super) fn are_served(url: &str, chain_id: u64, lines: &[Value]) -> anyhow::Result<()> {
    let get = |path: &str| http::get(&http::agent(), &format!("{url}{path}"))?.json();
    let served = get(&format!("/assets/chains/eip155-{chain_id}.json"))?;
    let (_, name, coin) = NAMES.iter().find(|(id, _, _)| *id == chain_id).context("a name")?;
    ensure!(served["name"] == *name && served["nativeCurrency"]["symbol"] == *coin, "{served}");
    for line in lines {
        let block = &line["block"];
        let receipts = line["receipts"].as_array();
        for (position, transaction) in block["transactions"].as_array().into_iter().flatten().enumerate() {
            let receipt = receipts.and_then(|receipts| receipts.get(position));
            let shown = get(&format!("/api/v2/transactions/{}", text(&transaction["hash"])?))?;
            of_transaction(transaction, receipt, &shown).with_context(|| format!("{chain_id}: {shown}"))?;
            let summary = get(&format!("/api/v2/transactions/{}/summary", text(&transaction["hash"])?))?;
            of_summary(transaction, receipt, &summary).with_context(|| format!("{chain_id}: {summary}"))?;
        }
        let shown = get(&format!("/api/v2/blocks/{}", text(&block["hash"])?))?;
        let facts = &shown["chain_facts"];
        match block["sendCount"].as_str() {
            Some(_) => {
                let on_l1 = json!({"hash": null, "status": null, "timestamp": null});
                let expected = json!({"l1_block_number": quantity(&block["l1BlockNumber"]),
                    "send_count": quantity(&block["sendCount"]), "send_root": block["sendRoot"], "status": null,
                    "batch_number": null, "commitment_transaction": on_l1, "confirmation_transaction": on_l1});
                ensure!(shown["arbitrum"] == expected, "{shown}");
                let height = expected["l1_block_number"].to_string();
                ensure!(facts[0]["value"] == height.as_str(), "{facts}");
                ensure!(facts[2]["value"] == expected["send_root"], "{facts}");
            }
            None => ensure!(shown.get("arbitrum").is_none(), "{shown}"),
        }
        if let Some(step) = quantity(&block["auraStep"]) {
            ensure!(*facts == json!([{"name": "Step", "unit": "number", "value": step.to_string()}]), "{facts}");
        }
    }
    Ok(())
}

fn of_transaction(transaction: &Value, receipt: Option<&Value>, shown: &Value) -> anyhow::Result<()> {
    let zero = format!("0x{}", "0".repeat(40));
    let from = text(&transaction["from"])?;
    let has_signature = transaction["r"].as_str().is_some_and(|r| r.len() > 40);
    let kind = match transaction["type"].as_str().unwrap_or("0x0") {
        "0x7e" if transaction["queueIndex"].is_string() => Some("L1 message"),
        "0x7e" if from == "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001" => Some("L1 attributes"),
        "0x7e" => Some("deposit"),
        "0x6a" => Some("internal"),
        "0x0" if from == zero && transaction["to"] == zero => Some("state sync"),
        "0x0" if !has_signature => Some("L1 message"),
        _ => None,
    };
    let facts = &shown["chain_facts"];
    ensure!(facts.is_null() || facts["type"] == json!(kind), "not {kind:?}");
    ensure!(kind.is_none() || facts.is_object(), "not {kind:?}");
    let types = shown["transaction_types"].as_array().context("types")?;
    let creates = transaction["to"].is_null();
    ensure!(types.contains(&json!("contract_creation")) == creates, "{types:?}");
    let fact = |name: &str| {
        let mut all = facts["facts"].as_array().into_iter().flatten();
        all.find(|fact| fact["name"] == name).map(|fact| fact["value"].clone())
    };
    let decimal = |value: &Value| quantity(value).map(|number| json!(number.to_string()));
    if transaction["sourceHash"].is_string() {
        ensure!(fact("Minted") == decimal(&transaction["mint"]), "minted");
        ensure!(fact("Source on L1").as_ref() == Some(&transaction["sourceHash"]), "source");
    }
    if transaction["queueIndex"].is_string() && transaction["type"] == "0x7e" {
        ensure!(shown["scroll"]["queue_index"] == json!(quantity(&transaction["queueIndex"])), "index in the queue");
    }
    if let Some(found) = shown.get("arbitrum") {
        on_l1_is_unknown(transaction, found)?;
    }
    let Some(receipt) = receipt else { return Ok(()) };
    let gas = quantity(&receipt["gasUsed"]).context("gas")?;
    let price = quantity(&receipt["effectiveGasPrice"]).or(quantity(&transaction["gasPrice"])).unwrap_or(0);
    let of_l1 = quantity(&receipt["l1Fee"]).or(quantity(&receipt["gasUsedForL1"]).map(|gas| gas * price));
    if let Some(of_l1) = of_l1 {
        let execution = if receipt["gasUsedForL1"].is_string() { gas * price - of_l1 } else { gas * price };
        let part = |name: &str, wei: u128| json!({"name": name, "unit": "wei", "value": wei.to_string()});
        ensure!(facts["fee"] == json!([part("execution", execution), part("data on L1", of_l1)]), "parts of the fee");
        ensure!(shown["fee"]["value"] == (execution + of_l1).to_string(), "the fee is not the sum of its parts");
    }
    Ok(())
}

/// Clients read members of what a transaction of Arbitrum has on L1 without asking whether it is there.
fn on_l1_is_unknown(transaction: &Value, found: &Value) -> anyhow::Result<()> {
    let on_l1 = json!({"hash": null, "status": null, "timestamp": null});
    ensure!(found["commitment_transaction"] == on_l1 && found["confirmation_transaction"] == on_l1, "{found}");
    ensure!(found["status"].is_null() && found["batch_number"].is_null(), "{found}");
    let is_incoming = matches!(transaction["type"].as_str(), Some("0x64" | "0x66" | "0x69"));
    let (way, status) = if is_incoming { ("incoming".into(), "relayed".into()) } else { (Value::Null, Value::Null) };
    let message = json!({"message_id": quantity(&transaction["requestId"]), "message_status": status,
        "associated_l1_transaction_hash": null});
    ensure!(found["contains_message"] == way && found["message_related_info"] == message, "{found}, {message}");
    Ok(())
}

/// The sentence of a bridge's log, read here once more; of all others that no sender is nobody.
fn of_summary(transaction: &Value, receipt: Option<&Value>, summary: &Value) -> anyhow::Result<()> {
    ensure!(summary["success"] == true, "no answer");
    let first = &summary["data"]["summaries"][0];
    let template = first["summary_template"].as_str().unwrap_or_default();
    let is_nobody = transaction["from"] == format!("0x{}", "0".repeat(40));
    ensure!(!(is_nobody && template.contains("sender_address")), "the zero address sends nothing");
    let events = [
        ("Deposited", "0xb0444523268717a02698be47d0803aa7468c00acbed2f8bd93a0459cde61dd89"),
        ("Withdrew", "0x73d170910aba9e6d50b102db522b1dbcd796216f5128b445aa2135272886497e"),
    ];
    let logs = receipt.and_then(|receipt| receipt["logs"].as_array()).into_iter().flatten();
    let of_bridge = logs.filter(|log| log["address"] == "0x4200000000000000000000000000000000000010");
    for log in of_bridge {
        let Some((action, _)) = events.iter().find(|(_, event)| log["topics"][0] == *event) else { continue };
        let variables = &first["summary_template_variables"];
        ensure!(variables["action_type"]["value"] == *action, "not {action}");
        let words = text(&log["data"])?;
        let wei = u128::from_str_radix(&words[66..130], 16)?;
        let shown = variables["amount"]["value"].as_str().context("an amount")?;
        let (whole, rest) = shown.split_once('.').unwrap_or((shown, ""));
        ensure!(format!("{whole}{rest:0<18}").parse::<u128>()? == wei, "{shown} is not {wei} wei");
        let to = text(&variables["to_address"]["value"]["hash"])?.to_lowercase();
        ensure!(to == format!("0x{}", &words[26..66]), "to {to}");
    }
    Ok(())
}

/// Blocks whose receipts were not at hand: types and facts all the same, and nothing of a fee.
#[test]
fn blocks_without_receipts_have_facts_and_no_fees() -> anyhow::Result<()> {
    for (name, chain_id) in [("arbitrum", 421_614), ("scroll", 534_352), ("optimism", 11_155_420)] {
        let database = env::migrate(&format!("family_facts_{name}"))?;
        let path = workspace::fixture(&format!("chains/{name}-without-receipts-{chain_id}.ndjson"));
        let lines = std::fs::read_to_string(&path)?;
        let lines: Vec<Value> = lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        let ends = [lines.first(), lines.last()].map(|line| line.and_then(|line| quantity(&line["block"]["number"])));
        let [first, last] = ends.map(|number| number.unwrap_or_default().to_string());
        let (file, id) = (path.display().to_string(), chain_id.to_string());
        load(&database, &file, &["--chain-id", &id, "--from", &first, "--to", &last], 0)?;
        let api = env::start_api(&database, &["--chain-name", "Ours", "--coin", "OUR"])?;
        for transaction in lines.iter().filter_map(|line| line["block"]["transactions"].as_array()).flatten() {
            let path = format!("{}/api/v2/transactions/{}", api.url, text(&transaction["hash"])?);
            let shown = http::get(&http::agent(), &path)?.json()?;
            of_transaction(transaction, None, &shown).with_context(|| format!("{name}: {shown}"))?;
            ensure!(shown["chain_facts"]["fee"] == json!([]) && shown["fee"]["type"] == "maximum", "{name}: {shown}");
        }
        let named = http::get(&http::agent(), &format!("{}/assets/chains/eip155-{id}.json", api.url))?.json()?;
        ensure!(named["name"] == "Ours" && named["nativeCurrency"]["symbol"] == "OUR", "{named}");
    }
    Ok(())
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().with_context(|| format!("{value} is no text"))
}

/// A number that fits; none where there is none.
fn quantity(value: &Value) -> Option<u128> {
    u128::from_str_radix(value.as_str()?.strip_prefix("0x")?, 16).ok()
}
