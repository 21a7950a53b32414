//! Contracts in both spellings of the export's values, and how much of other chains is held.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Decimal128Array, FixedSizeBinaryArray, Int64Array, RecordBatch, StringArray,
    TimestampMicrosecondArray, TimestampNanosecondArray,
};
use parquet::arrow::ArrowWriter;

use super::*;

/// Identifiers of rows in order.
const IDS: [RowId; 3] = [[1; 16], [2; 16], [3; 16]];

fn table(folder: &Path, name: &str, columns: Vec<(&str, ArrayRef)>) {
    let batch = RecordBatch::try_from_iter(columns).expect("columns");
    let file = std::fs::File::create(folder.join(format!("{name}_0_1000.parquet"))).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).expect("a writer");
    writer.write(&batch).expect("room for it");
    writer.close().expect("an end");
}

/// A UUID as text.
fn uuid(id: &RowId) -> String {
    let digits = const_hex::encode(id);
    format!("{}-{}-{}-{}-{}", &digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..])
}

/// Three deployments, of which the second is on another chain, with values as the second format has them.
fn deployments_in_bytes(folder: &Path) {
    let addresses = [[7u8; 20], [8; 20], [9; 20]];
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(StringArray::from_iter_values(IDS.iter().map(uuid)))),
        ("chain_id", Arc::new(Int64Array::from(vec![5, 1, 5]))),
        ("address", Arc::new(BinaryArray::from_iter_values(addresses))),
    ];
    table(folder, DEPLOYMENTS, columns);
}

/// The same with identifiers in bytes, a decimal number and addresses in digits.
fn deployments_in_text(folder: &Path) {
    let numbers = Decimal128Array::from(vec![5, 1, 5]).with_precision_and_scale(20, 0).expect("decimals");
    let addresses = [7, 8, 9].map(|byte| Address::repeat_byte(byte).to_string());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(FixedSizeBinaryArray::try_from_iter(IDS.iter()).expect("identifiers"))),
        ("chain_id", Arc::new(numbers)),
        ("address", Arc::new(StringArray::from_iter_values(addresses))),
    ];
    table(folder, DEPLOYMENTS, columns);
}

/// Two matches of the first contract and one of each other.
fn verified(folder: &Path, created_at: ArrayRef) {
    let deployments = [0, 0, 1, 2].map(|number: usize| uuid(&IDS[number]));
    let compilations = [2, 1, 0, 0].map(|number: usize| uuid(&IDS[number]));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3, 4]))),
        ("deployment_id", Arc::new(StringArray::from_iter_values(deployments))),
        ("compilation_id", Arc::new(StringArray::from_iter_values(compilations))),
        ("created_at", created_at),
        ("creation_values", Arc::new(StringArray::from(vec![None, Some("null"), Some("{}"), Some("null")]))),
        ("runtime_metadata_match", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, None]))),
    ];
    table(folder, VERIFIED, columns);
}

fn read(folder: &Path) -> Contracts {
    let files = ExportFiles::find(folder).expect("a folder").expect("an export");
    Contracts::read(&files, 5).expect("contracts")
}

#[test]
fn both_spellings_are_read() {
    let micros = vec![1_000_000, 2_000_000, 3, 4];
    let nanos: Vec<i64> = micros.iter().map(|time| time * 1_000).collect();
    let times: [ArrayRef; 2] =
        [Arc::new(TimestampNanosecondArray::from(nanos)), Arc::new(TimestampMicrosecondArray::from(micros))];
    let spellings: [fn(&Path); 2] = [deployments_in_bytes, deployments_in_text];
    for (deployments, created_at) in spellings.into_iter().zip(times) {
        let folder = tempfile::tempdir().expect("a folder");
        deployments(folder.path());
        verified(folder.path(), created_at);
        let contracts = read(folder.path());
        assert_eq!(contracts.len(), 2);
        // The exact match is the older one.
        let [first] = contracts.of(&IDS[2]) else { panic!("one contract") };
        assert_eq!((first.address, first.match_type), (Address::repeat_byte(7), MatchType::Exact));
        assert_eq!(first.verified_at, Some(Timestamp::from_micros(1_000_000)));
        let [third] = contracts.of(&IDS[0]) else { panic!("one contract") };
        assert_eq!((third.address, third.match_type), (Address::repeat_byte(9), MatchType::Unspecified));
        assert!(contracts.of(&IDS[1]).is_empty());
    }
}

#[test]
fn of_the_newest_version_of_a_match_the_words_count() {
    let folder = tempfile::tempdir().expect("a folder");
    deployments_in_bytes(folder.path());
    verified(folder.path(), Arc::new(TimestampMicrosecondArray::from(vec![1, 2, 3, 4])));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![11, 11, 12]))),
        ("verified_contract_id", Arc::new(Int64Array::from(vec![4, 4, 3]))),
        ("creation_match", Arc::new(StringArray::from(vec![Some("perfect"), None, None]))),
        ("runtime_match", Arc::new(StringArray::from(vec!["partial", "partial", "perfect"]))),
        ("updated_at", Arc::new(TimestampMicrosecondArray::from(vec![9, 8, 7]))),
    ];
    table(folder.path(), MATCHES, columns);
    let contracts = read(folder.path());
    assert_eq!(contracts.of(&IDS[0]).iter().map(|found| found.match_type).collect::<Vec<_>>(), [MatchType::Exact]);
}

/// Of 200,000 deployments of other chains none is held.
#[test]
fn other_chains_take_no_memory() {
    const OTHERS: u32 = 200_000;
    let folder = tempfile::tempdir().expect("a folder");
    let id = |number: u32| {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&number.to_be_bytes());
        id
    };
    let address = |number: u32| Address::left_padding_from(&number.to_be_bytes());
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(FixedSizeBinaryArray::try_from_iter((0..OTHERS).map(id)).expect("identifiers"))),
        ("chain_id", Arc::new(Int64Array::from_iter_values((0..OTHERS).map(|number| if number == 7 { 5 } else { 1 })))),
        ("address", Arc::new(BinaryArray::from_iter_values((0..OTHERS).map(address)))),
    ];
    table(folder.path(), DEPLOYMENTS, columns);
    let files = ExportFiles::find(folder.path()).expect("a folder").expect("an export");
    let held = deployments(&files, 5).expect("deployments");
    assert_eq!(held.get(&id(7)), Some(&address(7)));
    assert!(held.len() == 1 && held.capacity() < 8, "{}", held.capacity());
}
