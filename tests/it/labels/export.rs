//! The export of Sourcify's database: its contracts, texts and signatures are loaded, part by part, or refused.

use std::fs;
use std::path::Path;
use std::time::Duration;

use alloy_primitives::{Address, keccak256};
use anyhow::ensure;
use arrow::array::{BinaryArray, StringArray};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use xtask::workspace;

use super::{GOLD, NOISE, fixture, labels};
use crate::env;
use tables::{Compilation, Export, Match, Signature};

mod tables;

/// The chain of the fixtures.
const CHAIN: i64 = 31_337;

fn contract(name: &str) -> anyhow::Result<String> {
    Ok(fs::read_to_string(workspace::fixture("devchain/node/contracts").join(name))?)
}

/// Two contracts of the chain, with compilations of the same texts; another chain has contracts at their addresses.
fn export() -> anyhow::Result<Export> {
    let abis: Value = serde_json::from_str(&fs::read_to_string(fixture("abis.json"))?)?;
    let (tokens, scenes) = (contract("Tokens.sol")?, contract("Scenes.sol")?);
    let artifacts = |abi: &Value| json!({"abi": abi, "devdoc": {}, "sources": {"x": {"id": 0}}}).to_string();
    let coin = Compilation {
        name: "Coin",
        settings: json!({"optimizer": {"runs": 200, "enabled": true}}).to_string(),
        artifacts: artifacts(&abis[GOLD]["abi"]),
        files: vec![("contracts/Tokens.sol", tokens.clone())],
    };
    let noise = Compilation {
        name: "Noise",
        settings: "{}".into(),
        artifacts: artifacts(&abis[NOISE]["abi"]),
        files: vec![("contracts/Scenes.sol", scenes), ("contracts/Tokens.sol", tokens)],
    };
    let wrong = Compilation {
        name: "Wrong",
        artifacts: artifacts(&json!([])),
        settings: "{}".into(),
        files: vec![("x", "x".into())],
    };
    let (gold, other): (Address, Address) = (GOLD.parse()?, NOISE.parse()?);
    let matches = vec![
        Match { chain_id: 1, address: gold, compilation: 2, is_exact: true, day: 20_001, ..Match::default() },
        // The newer match is not as good.
        Match {
            chain_id: CHAIN,
            address: gold,
            compilation: 0,
            is_exact: true,
            day: 20_000,
            constructor_arguments: Some("0x00ff"),
        },
        Match { chain_id: CHAIN, address: gold, compilation: 2, day: 20_005, ..Match::default() },
        // The newer match is as good.
        Match { chain_id: CHAIN, address: other, compilation: 2, day: 20_000, ..Match::default() },
        Match { chain_id: CHAIN, address: other, compilation: 1, day: 20_002, ..Match::default() },
    ];
    let signature = |text, kinds: &[&'static str]| Signature { text, kinds: kinds.to_vec() };
    let signatures = vec![
        signature("Moved(address,uint256)", &["event"]),
        signature("move(address,uint256)", &["function"]),
        signature("Unmoved(address)", &["error"]),
        signature("bare(uint8)", &[]),
        signature("of(Library.Kind storage)", &["function"]),
    ];
    Ok(Export { matches, compilations: vec![coin, noise, wrong], signatures })
}

/// Loads the export in a folder and returns what the program says.
fn load(database: &str, folder: &Path, code: i32) -> anyhow::Result<String> {
    labels(database, &["--chain-id", &CHAIN.to_string(), &folder.display().to_string()], code)
}

fn count(database: &str, table: &str) -> anyhow::Result<u64> {
    Ok(env::sql(database, &format!("SELECT count() FROM {table}"))?.trim().parse()?)
}

#[test]
fn contracts_of_the_chain_are_loaded() -> anyhow::Result<()> {
    let database = &env::migrate("labels_export")?;
    let folder = env::directory()?;
    export()?.write(folder.path())?;
    let output = load(database, folder.path(), 0)?;
    ensure!(output == "2 labels, 2 new; 2 ABIs, 2 new; 2 sources, 2 new; 5 signatures, 5 new\n", "{output}");
    let sources = env::sql(
        database,
        "SELECT '0x' || lower(hex(address)), name, file_path, language, compiler_version, settings, verifier, \
                match_type, lower(hex(constructor_arguments)), toDate(verified_at), \
                arrayMap(hash -> lower(hex(hash)), content_hashes), paths \
         FROM contract_sources ORDER BY name FORMAT TSVRaw",
    )?;
    let (tokens, scenes) = (contract("Tokens.sol")?, contract("Scenes.sol")?);
    let hash = |text: &str| alloy_primitives::hex::encode(keccak256(text));
    let version = "Solidity\t0.8.28+commit.7893614a";
    let expected = [
        format!(
            "{}\tCoin\tcontracts/Tokens.sol\t{version}\t{{\"optimizer\":{{\"enabled\":true,\"runs\":200}}}}\t\
             sourcify\texact\t00ff\t2024-10-04\t['{}']\t['contracts/Tokens.sol']",
            GOLD.to_lowercase(),
            hash(&tokens)
        ),
        format!(
            "{}\tNoise\tcontracts/Scenes.sol\t{version}\t{{}}\tsourcify\tpartial\t\t2024-10-06\t['{}','{}']\t\
             ['contracts/Scenes.sol','contracts/Tokens.sol']",
            NOISE.to_lowercase(),
            hash(&scenes),
            hash(&tokens)
        ),
    ];
    ensure!(sources.lines().eq(&expected), "{sources} instead of {}", expected.join("\n"));
    let texts = env::sql(
        database,
        "SELECT lower(hex(content_hash)) FROM source_contents WHERE length(content) > 1000 ORDER BY 1",
    )?;
    let mut hashes = [hash(&tokens), hash(&scenes)];
    hashes.sort();
    ensure!(texts.lines().eq(&hashes), "{texts}");
    let names = "SELECT value FROM address_labels WHERE label_type = 'contract_name' ORDER BY value";
    ensure!(env::sql(database, names)? == "Coin\nNoise");
    let events = env::sql(database, "SELECT signature FROM event_signatures WHERE generation > 0 ORDER BY 1")?;
    ensure!(events.lines().map(|event| event.split('(').next()).eq([Some("Moved"), Some("bare")]), "{events}");
    let functions = env::sql(database, "SELECT signature FROM function_signatures WHERE generation > 0 ORDER BY 1")?;
    ensure!(functions == "Unmoved(address)\nbare(uint8)\nmove(address, uint256)", "{functions}");
    // The ABIs are those of the fixture.
    let output = labels(database, &[&fixture("abis.json")], 0)?;
    ensure!(output.contains("5 ABIs, 3 new"), "{output}");
    // And again there is nothing new.
    let output = load(database, folder.path(), 0)?;
    ensure!(output == "2 labels, 0 new; 2 ABIs, 0 new; 2 sources, 0 new; 5 signatures, 0 new\n", "{output}");
    Ok(())
}

#[test]
fn damage_and_absence_are_refused() -> anyhow::Result<()> {
    let database = &env::migrate("labels_export_refused")?;
    let folder = env::directory()?;
    let folder = folder.path();
    export()?.write(folder)?;
    // Without a chain nobody knows which contracts are meant.
    let error = labels(database, &[&folder.display().to_string()], 2)?;
    ensure!(error.contains("give --chain-id"), "{error}");
    // A text that is not the one of its hash.
    let tokens = contract("Tokens.sol")?;
    let stated = keccak256(&tokens);
    let columns: [(&str, arrow::array::ArrayRef); 3] = [
        ("source_hash", std::sync::Arc::new(BinaryArray::from_iter_values([Sha256::digest(&tokens)]))),
        ("source_hash_keccak", std::sync::Arc::new(BinaryArray::from_iter_values([stated]))),
        ("content", std::sync::Arc::new(StringArray::from_iter_values([tokens.replace("Coin", "Goin")]))),
    ];
    tables::write(folder, "sources", &columns)?;
    let error = load(database, folder, 3)?;
    ensure!(error.contains("sources_0_1000000.parquet") && error.contains("download it again"), "{error}");
    // A column of a type that no version has.
    let times: arrow::array::ArrayRef = std::sync::Arc::new(arrow::array::Float64Array::from(vec![1.0]));
    tables::write(folder, "sources", &[("source_hash", times), columns[1].clone(), columns[2].clone()])?;
    let error = load(database, folder, 3)?;
    let words = ["`source_hash`", "`sources`", "Float64", "bytes or text"];
    ensure!(words.iter().all(|word| error.contains(word)), "{error}");
    // A column that is not there.
    tables::write(folder, "sources", &columns[1..])?;
    let error = load(database, folder, 3)?;
    ensure!(error.contains("no column `source_hash`"), "{error}");
    // A table that is not there.
    fs::remove_file(tables::file(folder, "sources"))?;
    let error = load(database, folder, 3)?;
    ensure!(error.contains("no file of the table `sources`"), "{error}");
    ensure!(count(database, "label_loads")? == 0 && count(database, "address_labels")? == 0);
    // Contracts whose texts the export lacks are loaded without their source; signatures alone are loaded too.
    tables::write_texts(folder, &[])?;
    let output = load(database, folder, 0)?;
    ensure!(output == "2 labels, 2 new; 2 ABIs, 2 new; 5 signatures, 5 new\n", "{output}");
    let alone = env::directory()?;
    fs::copy(tables::file(folder, "signatures"), alone.path().join("signatures_0_1000000_zstd.parquet"))?;
    let output = labels(database, &[&alone.path().display().to_string()], 0)?;
    // Without the table of kinds, each counts as an event and as a function.
    ensure!(output.contains("8 signatures, 3 new"), "{output}");
    Ok(())
}

/// A load that is killed between two parts left rows that nobody reads; the next one loads everything.
#[test]
fn a_killed_load_is_repeated() -> anyhow::Result<()> {
    let database = &env::migrate("labels_export_killed")?;
    let folder = env::directory()?;
    let mut export = export()?;
    let clones = (1..=12_000_u64).map(|number| Match {
        chain_id: CHAIN,
        address: Address::left_padding_from(&number.to_be_bytes()),
        compilation: 1,
        day: 20_000,
        ..Match::default()
    });
    export.matches.extend(clones);
    export.write(folder.path())?;
    let mut command = env::ingest(database, &["labels", "--chain-id", &CHAIN.to_string()]);
    let mut child = command.arg(folder.path()).spawn()?;
    env::eventually(Duration::from_secs(60), || Ok(count(database, "address_labels")? > 0))?;
    child.kill()?;
    child.wait()?;
    ensure!(count(database, "label_loads")? == 0, "the load was at its end before it was killed");
    let output = load(database, folder.path(), 0)?;
    let expected = "12002 labels, 12002 new; 12002 ABIs, 12002 new; 12002 sources, 12002 new; 5 signatures, 5 new\n";
    ensure!(output == expected, "{output}");
    let read =
        "SELECT uniqExact(address) FROM contract_sources WHERE generation IN (SELECT generation FROM label_loads)";
    ensure!(env::sql(database, read)?.trim() == "12002");
    // Texts are stored once, whichever load brought them.
    ensure!(count(database, "source_contents")? == 2);
    Ok(())
}
