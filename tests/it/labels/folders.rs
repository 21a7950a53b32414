//! Folders as tools leave them: each kind becomes the same ABI and name.

use anyhow::ensure;
use serde_json::{Value, json};

use super::{GOLD, NOISE, fixture, labels, scenario, written};
use crate::env;

/// Names and entries of the ABIs that count, by contract.
fn stored(database: &str) -> anyhow::Result<String> {
    env::sql(
        database,
        "SELECT lower(hex(address)), anyIf(value, label_type = 'contract_name'), anyIf(value, label_type = 'abi') \
         FROM address_labels GROUP BY address ORDER BY address FORMAT TSVRaw",
    )
}

#[test]
fn folders_of_tools_are_read() -> anyhow::Result<()> {
    let abis: Value = serde_json::from_str(&std::fs::read_to_string(fixture("abis.json"))?)?;
    let both = json!({GOLD: abis[GOLD], NOISE: abis[NOISE]});
    let one = env::directory()?;
    let database = &scenario("labels_of_tools")?;
    labels(database, &[&written(&one, "both.json", &both.to_string())?], 0)?;
    let expected = stored(database)?;
    ensure!(expected.lines().count() == 2 && expected.contains("\tCoin\t0x"), "{expected}");
    let (coin, noise) = (&abis[GOLD]["abi"], &abis[NOISE]["abi"]);
    let metadata = |name: &str, abi: &Value| {
        json!({"compiler": {}, "output": {"abi": abi}, "settings": {"compilationTarget": {"a.sol": name}}}).to_string()
    };
    let artifact = |name: &str, abi: &Value| json!({"contractName": name, "abi": abi, "bytecode": "0x"}).to_string();
    let created = |name: &str, address: &str| json!({"transactionType": "CREATE", "contractName": name, "contractAddress": address});
    let run = json!({"transactions": [created("Coin", GOLD), created("Noise", NOISE)], "chain": 31337, "receipts": []});
    let other = json!({"transactions": [created("Coin", NOISE)], "chain": 1});
    let deployment = |address: &str, abi: &Value| json!({"address": address, "abi": abi, "args": []}).to_string();
    let truffle = |name: &str, address: &str, abi: &Value| {
        json!({"contractName": name, "abi": abi, "networks": {"31337": {"address": address}}}).to_string()
    };
    let record =
        |name: &str, value: &str, address: &str, abi: &Value| json!({"address": address, name: value, "abi": abi});
    let records =
        json!([record("contract_name", "Coin", GOLD, coin), record("name", "Noise", NOISE, noise)]).to_string();
    let tools: Vec<(&str, Vec<(String, String)>)> = vec![
        (
            "sourcify",
            vec![
                (format!("contracts/full_match/31337/{GOLD}/metadata.json"), metadata("Coin", coin)),
                (format!("contracts/full_match/31337/{GOLD}/sources/x.json"), "not json".into()),
                (format!("contracts/partial_match/31337/{NOISE}/metadata.json"), metadata("Noise", noise)),
                (format!("contracts/full_match/1/{NOISE}/metadata.json"), metadata("Other", coin)),
            ],
        ),
        ("records", vec![("labels.json".into(), records)]),
        (
            "hardhat_deploy",
            vec![
                ("deployments/local/.chainId".into(), "31337".into()),
                ("deployments/local/Coin.json".into(), deployment(GOLD, coin)),
                ("deployments/local/Noise.json".into(), deployment(NOISE, noise)),
                ("deployments/mainnet/.chainId".into(), "1".into()),
                ("deployments/mainnet/Other.json".into(), deployment(NOISE, coin)),
                ("package.json".into(), "{}".into()),
            ],
        ),
        (
            "ignition",
            vec![
                (
                    "deployments/chain-31337/deployed_addresses.json".into(),
                    json!({"All#Coin": GOLD, "All#Noise": NOISE}).to_string(),
                ),
                ("deployments/chain-31337/artifacts/All#Coin.json".into(), artifact("Coin", coin)),
                ("deployments/chain-31337/artifacts/All#Noise.json".into(), artifact("Noise", noise)),
            ],
        ),
        (
            "foundry",
            vec![
                ("broadcast/Deploy.s.sol/31337/run-latest.json".into(), run.to_string()),
                ("broadcast/Deploy.s.sol/1/run-latest.json".into(), other.to_string()),
                ("out/Coin.sol/Coin.json".into(), json!({"abi": coin, "bytecode": {}}).to_string()),
                ("out/Noise.sol/Noise.json".into(), json!({"abi": noise, "bytecode": {}}).to_string()),
                ("cache/solidity-files-cache.json".into(), "not json".into()),
            ],
        ),
        (
            "truffle",
            vec![
                ("build/contracts/Coin.json".into(), truffle("Coin", GOLD, coin)),
                ("build/contracts/Noise.json".into(), truffle("Noise", NOISE, noise)),
            ],
        ),
    ];
    for (tool, files) in tools {
        env::sql(database, "TRUNCATE TABLE address_labels")?;
        ensure!(stored(database)?.is_empty(), "{tool} would find what the one before left");
        let folder = env::directory()?;
        for (name, text) in files {
            written(&folder, &name, &text)?;
        }
        let output = labels(database, &[&folder.path().display().to_string()], 0)?;
        let found = stored(database)?;
        ensure!(found == expected, "{tool}: {found} instead of {expected}; {output}");
    }
    // An artifact without an address gets one on the command line.
    env::sql(database, "TRUNCATE TABLE address_labels")?;
    ensure!(stored(database)?.is_empty());
    let file = |name: &str, abi: &Value| written(&one, &format!("{name}.json"), &json!({"abi": abi}).to_string());
    let named = [format!("{GOLD}={}", file("Coin", coin)?), format!("{NOISE}={}", file("Noise", noise)?)];
    labels(database, &[&named[0], &named[1]], 0)?;
    ensure!(stored(database)? == expected);
    // A file that names a chain is not loaded before it is known which chain this is.
    let _database = env::migrate("labels_tool_empty")?;
    let stderr = labels("labels_tool_empty", &[&fixture("labels.csv")], 2)?;
    ensure!(stderr.contains("give --chain-id") && stderr.contains("of chain 31337"), "{stderr}");
    labels("labels_tool_empty", &["--chain-id", "31337", &fixture("labels.csv")], 0)?;
    Ok(())
}
