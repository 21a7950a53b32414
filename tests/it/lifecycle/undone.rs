//! Value moves only where no frame above failed: in every list and export, the rows without an error add up to what the
//! node says an account got (blockscout#8349).

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use arrow::array::{Array as _, BooleanArray, RecordBatch, StringArray};
use arrow::ipc::reader::StreamReader;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use serde_json::{Value, json};
use xtask::http::{self, Answer};

use super::scene::{RECEIVER, Scene, prague};
use crate::env;

/// Wei of each frame that calls the receiver, and whether it was undone.
type Moves = BTreeSet<(u64, bool)>;

/// What the node says: the frames of the four payments.
fn expected_moves(scene: &Scene) -> anyhow::Result<Moves> {
    let mut moves = Moves::new();
    for name in PAYMENTS {
        let frames = scene.node.ask("trace_transaction", &json!([scene.node.hashes[name]]))?;
        let frames = frames.as_array().context("frames")?;
        let path = |frame: &Value| frame["traceAddress"].as_array().cloned().unwrap_or_default();
        let failed: Vec<Vec<Value>> = frames.iter().filter(|frame| frame["error"].is_string()).map(path).collect();
        for frame in frames.iter().filter(|frame| frame["action"]["to"] == RECEIVER) {
            let wei = frame["action"]["value"].as_str().context("wei")?.trim_start_matches("0x");
            let is_undone = failed.iter().any(|above| path(frame).starts_with(above));
            moves.insert((u64::from_str_radix(wei, 16)?, is_undone));
        }
    }
    ensure!(moves == Moves::from([(100, false), (1, false), (200, true), (300, true)]), "{moves:?}");
    // Nothing else gave it coins.
    let balance = scene.node.ask("eth_getBalance", &json!([RECEIVER, "latest"]))?;
    ensure!(balance == format!("{:#x}", 101), "{balance}");
    Ok(moves)
}

const PAYMENTS: [&str; 4] = ["pays 100", "pays 1", "fails with 200", "catches 300"];

fn ask(api: &str, path: &str) -> anyhow::Result<Answer> {
    let answer = http::get(&http::agent(), &format!("{api}/{path}"))?;
    ensure!(answer.status == 200, "{path}: {} {}", answer.status, answer.text());
    Ok(answer)
}

/// The moves that some rows tell: those of the receiver, by the members that have wei and whether the row is undone.
fn moves(rows: &Value, wei: impl Fn(&Value) -> Option<u64>, is_undone: impl Fn(&Value) -> Option<bool>) -> Moves {
    let rows = rows.as_array().into_iter().flatten();
    rows.filter_map(|row| Some((wei(row)?, is_undone(row)?))).collect()
}

fn decimal(value: &Value) -> Option<u64> {
    value.as_str()?.parse().ok()
}

/// Both APIs: settled rows, and those of blocks in memory.
fn apis(scene: &Scene) -> impl Iterator<Item = &String> {
    [&scene.api].into_iter().chain(scene.frames_only.as_ref())
}

#[test]
fn rest_and_etherscan_say_what_was_undone() -> anyhow::Result<()> {
    let scene = prague();
    let expected = expected_moves(scene)?;
    for api in apis(scene) {
        let query = format!("api?module=account&action=txlistinternal&address={RECEIVER}");
        let listed = ask(api, &query)?.json()?;
        let is_error = |row: &Value| Some(row["isError"] == "1");
        ensure!(moves(&listed["result"], |row| decimal(&row["value"]), is_error) == expected, "{listed}");
        ensure!(
            listed["result"].as_array().is_some_and(|rows| rows.iter().all(|row| row["errCode"] == "")),
            "{listed}"
        );
        let to_receiver = |item: &Value| {
            let is_to = item["to"]["hash"].as_str()?.eq_ignore_ascii_case(RECEIVER);
            if is_to { decimal(&item["value"]) } else { None }
        };
        let is_undone = |item: &Value| item["is_undone"].as_bool();
        let mut by_transaction = Moves::new();
        let mut heights = BTreeSet::new();
        for name in PAYMENTS {
            let hash = &scene.node.hashes[name];
            let list = ask(api, &format!("api/v2/transactions/{hash}/internal-transactions"))?.json()?;
            by_transaction.extend(moves(&list["items"], to_receiver, is_undone));
            heights.insert(list["items"][0]["block_number"].as_u64().context("a height")?);
        }
        ensure!(by_transaction == expected, "{by_transaction:?}");
        let height = heights.first().context("a block")?;
        for path in [
            format!("addresses/{RECEIVER}/internal-transactions"),
            format!("addresses/{RECEIVER}/internal-transactions?filter=to"),
            format!("blocks/{height}/internal-transactions"),
            "internal-transactions?items_count=100".to_owned(),
        ] {
            let list = ask(api, &format!("api/v2/{path}"))?.json()?;
            ensure!(moves(&list["items"], to_receiver, is_undone) == expected, "{path}: {list}");
        }
        // The frame of the catcher, which failed itself, has its own error.
        let caught = &scene.node.hashes["catches 300"];
        let list = ask(api, &format!("api/v2/transactions/{caught}/internal-transactions"))?.json()?;
        let outcome = |item: &Value| (item["success"].clone(), item["error"].is_string(), item["is_undone"].clone());
        let outcomes: Vec<_> = list["items"].as_array().context("items")?.iter().map(outcome).collect();
        ensure!(outcomes == [(json!(false), true, json!(true)), (json!(true), false, json!(true))], "{list}");
        let query = format!("api/v2/advanced-filters?to_address_hashes_to_include={RECEIVER}&items_count=100");
        let list = ask(api, &query)?.json()?;
        let of_frame = |item: &Value| item["internal_transaction_index"].as_u64().and_then(|_| to_receiver(item));
        ensure!(moves(&list["items"], of_frame, |item| Some(item["status"] == "error")) == expected, "{list}");
        let flows = ask(api, &format!("api/v2/addresses/{RECEIVER}/activity/coins"))?.json()?;
        let received =
            flows["items"].as_array().context("items")?.iter().filter_map(|one| decimal(&one["received_amount"]));
        ensure!(received.sum::<u64>() == 101, "{flows}");
    }
    Ok(())
}

#[test]
fn operations_of_otterscan_are_those_that_last() -> anyhow::Result<()> {
    let scene = prague();
    for api in apis(scene) {
        let mut found = Vec::new();
        for name in PAYMENTS {
            let hash = &scene.node.hashes[name];
            let answer = http::rpc(&http::agent(), &format!("{api}/rpc"), "ots_getInternalOperations", &json!([hash]))?;
            let to_receiver = answer["result"].as_array().with_context(|| answer.to_string())?.iter();
            found.extend(to_receiver.filter(|one| one["to"] == RECEIVER).map(|one| one["value"].clone()));
        }
        ensure!(found == [json!("0x64"), json!("0x1")], "{found:?}");
    }
    Ok(())
}

#[test]
fn every_format_of_a_scan_has_the_column() -> anyhow::Result<()> {
    let scene = prague();
    let expected = expected_moves(scene)?;
    for api in apis(scene) {
        let scan = |format: &str| {
            ask(api, &format!("api/v2/scan/internal-transactions?fromBlock=0&toAddress={RECEIVER}&format={format}"))
        };
        let quantity = |row: &Value| u64::from_str_radix(row["value"].as_str()?.trim_start_matches("0x"), 16).ok();
        let is_undone = |row: &Value| row["isUndone"].as_bool();
        ensure!(moves(&scan("json")?.json()?["items"], quantity, is_undone) == expected);
        let lines: Vec<Value> = scan("ndjson")?.text().lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        ensure!(moves(&json!(lines), quantity, is_undone) == expected, "{lines:?}");
        let export = format!(
            "api/v2/addresses/{RECEIVER}/internal-transactions/csv?filter_type=address&filter_value=to&columns=scan"
        );
        for text in [scan("csv")?.text(), ask(api, &export)?.text()] {
            ensure!(of_csv(&text)? == expected, "{text}");
        }
        let arrow = scan("arrow")?.body;
        let batches: Vec<RecordBatch> = StreamReader::try_new(arrow.as_slice(), None)?.collect::<Result<_, _>>()?;
        ensure!(of_batches(&batches)? == expected);
        let parquet = bytes::Bytes::from(scan("parquet")?.body);
        let reader = ParquetRecordBatchReaderBuilder::try_new(parquet)?.build()?;
        ensure!(of_batches(&reader.collect::<Result<Vec<_>, _>>()?)? == expected);
    }
    Ok(())
}

fn of_csv(text: &str) -> anyhow::Result<Moves> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().context("a header")?;
    let column =
        |name: &str| header.iter().position(|one| *one == name).with_context(|| format!("{name} in {header:?}"));
    let (value, undone) = (column("value")?, column("is_undone")?);
    lines.map(|cells| Ok((cells[value].parse()?, cells[undone].parse()?))).collect()
}

fn of_batches(batches: &[RecordBatch]) -> anyhow::Result<Moves> {
    let mut moves = Moves::new();
    for batch in batches {
        let value = batch.column_by_name("value").and_then(|one| one.as_any().downcast_ref::<StringArray>());
        let undone = batch.column_by_name("is_undone").and_then(|one| one.as_any().downcast_ref::<BooleanArray>());
        let (value, undone) = value.zip(undone).with_context(|| batch.schema().to_string())?;
        for row in 0..batch.num_rows() {
            moves.insert((value.value(row).parse()?, undone.value(row)));
        }
    }
    Ok(moves)
}

#[test]
fn views_for_analysts_have_the_column() -> anyhow::Result<()> {
    let scene = prague();
    let expected = expected_moves(scene)?;
    for database in ["lifecycle_prague", "lifecycle_followed"] {
        for condition in [
            format!("v_internal_transactions_by_address WHERE address_hex = '{RECEIVER}'"),
            format!("v_internal_transactions WHERE to_hex = '{RECEIVER}' AND frame_index > 0"),
        ] {
            let rows = env::sql(database, &format!("SELECT value, is_undone FROM {condition}"))?;
            let row = |line: &str| {
                let (value, undone) = line.split_once('\t').context("two columns")?;
                Ok((value.parse()?, undone == "1"))
            };
            let found = rows.lines().map(row).collect::<anyhow::Result<Moves>>()?;
            ensure!(found == expected, "{database}, {condition}: {rows}");
        }
    }
    Ok(())
}
