//! Source code of contracts: what solc says of one is loaded in the forms of services and tools, and compiled again
//! from the answers of the API.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::process::Server;
use xtask::{http, workspace};

use super::{GOLD, NOISE, get, labels, scenario, written};
use crate::env;

/// What solc says of the contract at [`GOLD`], and the texts that it read.
pub(super) static COIN: LazyLock<Value> = LazyLock::new(|| solc(&[], None).expect("solc compiles"));

/// Runs the script that compiles.
pub(super) fn solc(arguments: &[&str], input: Option<&Value>) -> anyhow::Result<Value> {
    let folder = workspace::fixture("devchain/node");
    let mut node = Command::new("node")
        .arg("source.mjs")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("node")?;
    let text = input.map(Value::to_string).unwrap_or_default();
    node.stdin.take().context("a pipe")?.write_all(text.as_bytes())?;
    let output = node.wait_with_output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

pub(super) fn metadata() -> Value {
    serde_json::from_str(COIN["metadata"].as_str().unwrap_or_default()).expect("metadata is JSON")
}

/// The texts as compilers' input has them.
pub(super) fn literal() -> Value {
    let texts = COIN["texts"].as_object().into_iter().flatten();
    texts.map(|(path, text)| (path.clone(), json!({ "content": text }))).collect::<serde_json::Map<_, _>>().into()
}

/// The settings without the target that metadata has.
pub(super) fn settings() -> Value {
    let mut settings = metadata()["settings"].clone();
    settings.as_object_mut().expect("settings").remove("compilationTarget");
    settings
}

/// Sourcify's folder of the contract: files have the names that it gives them.
fn folder_of_sourcify(match_type: &str) -> anyhow::Result<TempDir> {
    let folder = env::directory()?;
    let contract = format!("contracts/{match_type}/31337/{GOLD}");
    written(&folder, &format!("{contract}/metadata.json"), COIN["metadata"].as_str().context("text")?)?;
    written(
        &folder,
        &format!("{contract}/constructor-args.txt"),
        COIN["constructorArguments"].as_str().context("text")?,
    )?;
    for (path, text) in COIN["texts"].as_object().context("texts")? {
        let path = path.replace('@', "_");
        written(&folder, &format!("{contract}/sources/{path}"), text.as_str().context("text")?)?;
    }
    Ok(folder)
}

fn path_of(folder: &TempDir) -> String {
    folder.path().display().to_string()
}

/// What is stored of the current source, but for who verified it.
fn stored(database: &str) -> anyhow::Result<String> {
    env::sql(
        database,
        "SELECT name, file_path, language, compiler_version, JSONExtractInt(settings, 'optimizer', 'runs'), \
             JSONExtractString(settings, 'evmVersion'), length(paths), \
             hex(groupBitXor(cityHash64(path, hash))), countIf(hash IN (SELECT content_hash FROM source_contents)) \
         FROM contract_sources ARRAY JOIN paths AS path, content_hashes AS hash \
         WHERE (address, generation) IN (SELECT address, generation FROM address_labels WHERE label_type = 'source' \
             AND value != '') \
         GROUP BY ALL FORMAT TSVRaw",
    )
}

#[test]
fn a_source_is_served_as_it_was_compiled() -> anyhow::Result<()> {
    let database = "sources_served";
    let _database = scenario(database)?;
    let output = labels(database, &[&path_of(&folder_of_sourcify("full_match")?)], 0)?;
    ensure!(output == "1 labels, 1 new; 1 ABIs, 1 new; 1 sources, 1 new; 0 signatures, 0 new\n", "{output}");
    let api = env::start_api(database, &[])?;
    ensure_page(&get(&api, &format!("smart-contracts/{GOLD}"))?)?;
    let listed = get(&api, "smart-contracts")?["items"][0].clone();
    ensure!(listed["language"] == "solidity" && listed["compiler_version"] == "v0.8.37+commit.f401782d", "{listed}");
    ensure!(listed["license_type"].is_null() && listed["optimization_enabled"] == true, "{listed}");
    ensure_etherscan(&api)?;
    ensure_files(&api)?;
    super::sourcify::ensure_api(&api)?;
    api.stop()?;
    Ok(())
}

/// Blockscout's members, against solc's metadata.
fn ensure_page(page: &Value) -> anyhow::Result<()> {
    let texts = COIN["texts"].as_object().context("texts")?;
    ensure!(page["name"] == "Coin" && page["file_path"] == "Tokens.sol" && page["language"] == "solidity", "{page}");
    ensure!(page["source_code"] == texts["Tokens.sol"] && page["compiler_version"] == "v0.8.37+commit.f401782d");
    let others = page["additional_sources"].as_array().context("a list")?;
    ensure!(others.len() == texts.len() - 1, "{} files", others.len());
    for file in others {
        let path = file["file_path"].as_str().context("text")?;
        ensure!(path != "Tokens.sol" && file["source_code"] == texts[path], "{path}");
    }
    ensure!(page["compiler_settings"] == settings() && page["evm_version"] == "prague", "{page}");
    ensure!(page["optimization_enabled"] == true && page["optimization_runs"] == 200 && page["license_type"] == "mit");
    ensure!(page["constructor_args"] == COIN["constructorArguments"] && page["has_constructor_args"] == true);
    let (code, arguments) = (COIN["bytecode"].as_str(), COIN["constructorArguments"].as_str());
    let code = format!("0x{}{}", code.context("code")?, &arguments.context("arguments")?[2..]);
    ensure!(page["creation_bytecode"] == code, "solc's code and the arguments are not what created it");
    ensure!(page["is_fully_verified"] == true && page["is_partially_verified"] == false);
    ensure!(page["is_verified_via_sourcify"] == true && page["verified_at"].is_null(), "{page}");
    Ok(())
}

/// Etherscan's answer, whose source is compiled again to the code that created the contract.
fn ensure_etherscan(api: &Server) -> anyhow::Result<()> {
    let url = format!("{}/api?module=contract&action=getsourcecode&address={GOLD}", api.url);
    let item = http::get(&http::agent(), &url)?.json()?["result"][0].clone();
    ensure!(item["ContractName"] == "Coin" && item["CompilerVersion"] == "v0.8.37+commit.f401782d", "{item}");
    ensure!(item["OptimizationUsed"] == "1" && item["Runs"] == "200" && item["EVMVersion"] == "prague", "{item}");
    ensure!(item["LicenseType"] == "MIT" && item["Library"] == "", "{item}");
    let arguments = COIN["constructorArguments"].as_str().context("text")?;
    ensure!(item["ConstructorArguments"] == arguments[2..], "{item}");
    let code = item["SourceCode"].as_str().context("text")?;
    ensure!(code.starts_with("{{") && code.ends_with("}}"), "{code:.80}");
    let again = solc(&["again"], Some(&serde_json::from_str(&code[1..code.len() - 1])?))?;
    ensure!(again["bytecode"] == COIN["bytecode"], "the source of the answer compiles to other code");
    Ok(())
}

/// Sourcify's repository: metadata with the hashes that solc names, and each text.
fn ensure_files(api: &Server) -> anyhow::Result<()> {
    let folder = format!("{}/sourcify/contracts/full_match/31337/{GOLD}", api.url);
    let served = http::get(&http::agent(), &format!("{folder}/metadata.json"))?.json()?;
    let metadata = metadata();
    ensure!(served["settings"] == metadata["settings"] && served["compiler"] == metadata["compiler"], "{served}");
    ensure!(served["language"] == "Solidity" && served["output"]["abi"] == metadata["output"]["abi"]);
    for (path, source) in metadata["sources"].as_object().context("sources")? {
        ensure!(served["sources"][path]["keccak256"] == source["keccak256"], "{path}");
    }
    let path = "@openzeppelin/contracts/utils/Context.sol";
    for typed in [path.to_owned(), path.replace('@', "%40")] {
        let file = http::get(&http::agent(), &format!("{folder}/sources/{typed}"))?;
        ensure!(file.status == 200 && file.text() == COIN["texts"][path].as_str().context("text")?, "{typed}");
        ensure!(file.header("content-type").starts_with("text/plain"), "{file:?}");
        ensure!(file.header("x-content-type-options") == "nosniff", "{file:?}");
    }
    for missing in ["sources/Other.sol", "sources/", "sources/../metadata.json"] {
        ensure!(http::get(&http::agent(), &format!("{folder}/{missing}"))?.status == 404, "{missing}");
    }
    Ok(())
}

#[test]
fn every_form_of_a_source_is_the_same_source() -> anyhow::Result<()> {
    let database = "sources_forms";
    let _database = scenario(database)?;
    labels(database, &[&path_of(&folder_of_sourcify("partial_match")?)], 0)?;
    let expected = stored(database)?;
    ensure!(expected.lines().count() == 1 && expected.contains("0.8.37+commit.f401782d"), "{expected}");
    let api = env::start_api(database, &[])?;
    let blockscout = get(&api, &format!("smart-contracts/{GOLD}"))?;
    ensure!(blockscout["is_partially_verified"] == true && blockscout["is_fully_verified"] == false);
    api.stop()?;
    for (form, folder, argument) in forms(&blockscout)? {
        for table in ["address_labels", "contract_sources", "source_contents"] {
            env::sql(database, &format!("TRUNCATE TABLE {table}"))?;
        }
        let output = labels(database, &[&argument], 0)?;
        let found = stored(database)?;
        ensure!(found == expected, "{form}: {found} instead of {expected}; {output}");
        drop(folder);
    }
    Ok(())
}

/// The source in other forms than Sourcify's folder: name, the folder of the files, and what is given to the program.
fn forms(blockscout: &Value) -> anyhow::Result<Vec<(&'static str, TempDir, String)>> {
    let (abi, metadata) = (&COIN["abi"], &COIN["metadata"]);
    let compilation = json!({"language": "Solidity", "compiler": "solc", "compilerVersion": "0.8.37+commit.f401782d",
        "compilerSettings": settings(), "name": "Coin", "fullyQualifiedName": "Tokens.sol:Coin"});
    let sourcify = json!({"match": "exact_match", "chainId": "31337", "address": GOLD, "abi": abi, "sources": literal(),
        "verifiedAt": "2024-07-24T12:00:00Z", "compilation": compilation});
    let input = json!({"language": "Solidity", "sources": literal(), "settings": settings()});
    let etherscan = json!({"status": "1", "message": "OK", "result": [{"SourceCode": format!("{{{input}}}"),
        "ABI": abi.to_string(), "ContractName": "Coin", "CompilerVersion": "v0.8.37+commit.f401782d",
        "OptimizationUsed": "1", "Runs": "200", "ConstructorArguments": "", "EVMVersion": "prague", "Library": "",
        "LicenseType": "MIT", "Proxy": "0", "Implementation": "", "SwarmSource": ""}]});
    let created = json!({"transactionType": "CREATE", "contractName": "Coin", "contractAddress": GOLD});
    let texts = || COIN["texts"].as_object().into_iter().flatten();
    let named = |folder: TempDir, value: &Value| -> anyhow::Result<(TempDir, String)> {
        let file = written(&folder, "contract.json", &value.to_string())?;
        Ok((folder, format!("{GOLD}={file}")))
    };
    let mut forms = Vec::new();
    for (form, value) in [("Sourcify's API", &sourcify), ("Etherscan", &etherscan), ("Blockscout", blockscout)] {
        let (folder, argument) = named(env::directory()?, value)?;
        forms.push((form, folder, argument));
    }
    let foundry = env::directory()?;
    written(
        &foundry,
        "broadcast/Deploy.s.sol/31337/run-latest.json",
        &json!({"transactions": [created], "chain": 31337}).to_string(),
    )?;
    written(&foundry, "out/Tokens.sol/Coin.json", &json!({"abi": abi, "metadata": self::metadata()}).to_string())?;
    for (path, text) in texts() {
        let folder = if path.starts_with('@') { "node_modules/" } else { "" };
        written(&foundry, &format!("{folder}{path}"), text.as_str().context("text")?)?;
    }
    let argument = path_of(&foundry);
    forms.push(("Foundry", foundry, argument));
    let deploy = env::directory()?;
    let deployment = json!({"address": GOLD, "abi": abi, "metadata": metadata, "solcInputHash": "00ff"});
    written(&deploy, "deployments/local/Coin.json", &deployment.to_string())?;
    written(&deploy, "deployments/local/solcInputs/00ff.json", &input.to_string())?;
    let argument = path_of(&deploy);
    forms.push(("hardhat-deploy", deploy, argument));
    Ok(forms)
}

/// A text that the compiler did not read is not its source; then there is the ABI alone.
#[test]
fn a_source_is_whole_or_not_there() -> anyhow::Result<()> {
    let database = "sources_whole";
    let _database = scenario(database)?;
    let folder = folder_of_sourcify("full_match")?;
    let file = format!("contracts/full_match/31337/{GOLD}/sources/Tokens.sol");
    let text = COIN["texts"]["Tokens.sol"].as_str().context("text")?;
    written(&folder, &file, &text.replace("Coin", "Gain"))?;
    let output = labels(database, &[&path_of(&folder)], 0)?;
    ensure!(output == "1 labels, 1 new; 1 ABIs, 1 new; 0 signatures, 0 new\n", "{output}");
    let api = env::start_api(database, &[])?;
    let page = get(&api, &format!("smart-contracts/{GOLD}"))?;
    ensure!(page["is_verified"] == true && page["source_code"].is_null() && page["is_fully_verified"].is_null());
    // Paths of files elsewhere are not followed, whatever hash they state.
    let secret = written(&folder, "secret.txt", "secret")?;
    let hash = alloy_primitives::keccak256("secret");
    for path in ["../../../../secret.txt", &secret] {
        let hostile = json!({"compiler": {"version": "0.8.1"}, "language": "Solidity", "output": {"abi": COIN["abi"]},
            "settings": {"compilationTarget": {path: "Coin"}}, "sources": {path: {"keccak256": hash}}});
        let given = written(&folder, "a/b/c/d/hostile.json", &hostile.to_string())?;
        let output = labels(database, &[&format!("{NOISE}={given}")], 0)?;
        ensure!(!output.contains("sources"), "{output}");
    }
    // The right text makes it whole, and taking it back leaves nothing to be shown.
    written(&folder, &file, text)?;
    let output = labels(database, &[&path_of(&folder)], 0)?;
    ensure!(output == "1 labels, 0 new; 1 ABIs, 0 new; 1 sources, 1 new; 0 signatures, 0 new\n", "{output}");
    env::eventually(Duration::from_secs(30), || {
        Ok(get(&api, &format!("smart-contracts/{GOLD}"))?["source_code"] == text)
    })?;
    labels(database, &["--remove", &path_of(&folder)], 0)?;
    env::eventually(Duration::from_secs(30), || {
        let page = get(&api, &format!("smart-contracts/{GOLD}"))?;
        Ok(page["is_verified"] == false && page["source_code"].is_null())
    })?;
    api.stop()?;
    Ok(())
}

/// A table that lost its rows gets them by the same command, though the labels that name them are there.
#[test]
fn lost_parts_of_contracts_are_loaded_again() -> anyhow::Result<()> {
    let database = "sources_lost";
    let _database = scenario(database)?;
    let folder = folder_of_sourcify("full_match")?;
    labels(database, &[&path_of(&folder)], 0)?;
    let whole = stored(database)?;
    let entries = || env::sql(database, "SELECT countDistinct(position) FROM contract_abis FORMAT TSVRaw");
    let all = entries()?;
    for (table, due) in [
        ("contract_sources", "1 ABIs, 0 new; 1 sources, 1 new"),
        ("source_contents", "1 ABIs, 0 new; 1 sources, 0 new"),
        ("contract_abis", "1 ABIs, 1 new; 1 sources, 0 new"),
    ] {
        env::sql(database, &format!("TRUNCATE TABLE {table}"))?;
        let output = labels(database, &[&path_of(&folder)], 0)?;
        ensure!(output.contains(due), "{table}: {output}");
        ensure!(stored(database)? == whole && entries()? == all, "{table}");
        let output = labels(database, &[&path_of(&folder)], 0)?;
        ensure!(output.contains("1 ABIs, 0 new; 1 sources, 0 new"), "{table}: {output}");
    }
    Ok(())
}

/// How the implementation of a minimal proxy was created and verified is not said of the proxy.
#[test]
fn a_minimal_proxy_has_the_source_of_its_implementation() -> anyhow::Result<()> {
    let database = "sources_proxy";
    let _database = scenario(database)?;
    let text = std::fs::read_to_string(workspace::fixture("devchain/node/expected.json"))?;
    let expected: Value = serde_json::from_str(&text)?;
    let address = |name: &str| expected["addresses"][name].as_str().context("an address");
    let implementation = address("CounterV1")?;
    let code = "contract CounterV1 {}";
    let answer = json!({"result": [{"SourceCode": code, "ABI": COIN["abi"].to_string(), "ContractName": "CounterV1",
        "CompilerVersion": "v0.8.37+commit.f401782d", "OptimizationUsed": "0", "ConstructorArguments": "00ff"}]});
    let folder = env::directory()?;
    let file = written(&folder, "contract.json", &answer.to_string())?;
    labels(database, &[&format!("{implementation}={file}")], 0)?;
    let api = env::start_api(database, &[])?;
    let own = get(&api, &format!("smart-contracts/{implementation}"))?;
    ensure!(own["source_code"] == code && own["constructor_args"] == "0x00ff", "{own}");
    ensure!(own["is_verified_via_sourcify"] == false && own["optimization_enabled"] == false, "{own}");
    // `Made(address clone, bytes32 salt)` of the first kind of clones, which is EIP-1167's.
    let made = get(&api, &format!("addresses/{}/logs", address("CloneMaker")?))?;
    let made = made["items"].as_array().context("logs")?.iter().filter_map(|log| log["data"].as_str());
    let made = made.into_iter().find(|data| data.ends_with("01")).context("a clone")?;
    let proxy = format!("0x{}", &made[26..66]);
    let copy = get(&api, &format!("smart-contracts/{proxy}"))?;
    ensure!(copy["verified_twin_address_hash"] == implementation && copy["source_code"] == code, "{copy}");
    ensure!(copy["constructor_args"].is_null() && copy["is_verified_via_sourcify"].is_null(), "{copy}");
    let url = format!("{}/api?module=contract&action=getsourcecode&address={proxy}", api.url);
    let item = http::get(&http::agent(), &url)?.json()?["result"][0].clone();
    ensure!(item["SourceCode"] == code && item["ConstructorArguments"] == "", "{item}");
    let copy = super::sourcify::contract(&api, &format!("31337/{proxy}?fields=compilation.name,sources"))?.json()?;
    ensure!(copy["match"].is_null() && copy["verifiedAt"].is_null(), "{copy}");
    ensure!(copy["compilation"]["name"] == "CounterV1", "{copy}");
    let texts = copy["sources"].as_object().into_iter().flatten().map(|(_, file)| &file["content"]);
    ensure!(texts.collect::<Vec<_>>() == [code], "{copy}");
    api.stop()?;
    Ok(())
}
