//! A small export of Sourcify's database, written as its own script writes it: types of columns, names of files.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use alloy_primitives::{Address, keccak256};
use anyhow::Context as _;
use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Int64Array, RecordBatch, StringArray, TimestampNanosecondArray,
};
use parquet::arrow::ArrowWriter;
use sha2::{Digest as _, Sha256};

/// A deployment, and what it was compared with.
#[derive(Clone, Default)]
pub struct Match {
    pub chain_id: i64,
    pub address: Address,
    /// Number of the compilation.
    pub compilation: u64,
    pub is_exact: bool,
    /// Days since 1970.
    pub day: i64,
    pub constructor_arguments: Option<&'static str>,
}

/// What a compiler was given and what it returned.
#[derive(Clone, Default)]
pub struct Compilation {
    pub name: &'static str,
    pub settings: String,
    pub artifacts: String,
    /// Texts by path.
    pub files: Vec<(&'static str, String)>,
}

/// A signature and its kinds.
pub struct Signature {
    pub text: &'static str,
    pub kinds: Vec<&'static str>,
}

/// The contents of an export.
#[derive(Default)]
pub struct Export {
    pub matches: Vec<Match>,
    pub compilations: Vec<Compilation>,
    pub signatures: Vec<Signature>,
}

fn uuid(table: u8, number: u64) -> String {
    format!("{table:08x}-0000-4000-8000-{number:012x}")
}

fn texts<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values.into_iter().collect::<Vec<T>>()))
}

fn bytes<T: AsRef<[u8]>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(values.into_iter().collect::<Vec<T>>()))
}

fn numbers(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

fn flags(values: impl Iterator<Item = Option<bool>>) -> ArrayRef {
    Arc::new(values.collect::<BooleanArray>())
}

fn days(values: impl Iterator<Item = i64>) -> ArrayRef {
    Arc::new(TimestampNanosecondArray::from_iter_values(values.map(|day| day * 86_400_000_000_000)))
}

/// The file of a table in the folder of an export.
pub fn file(folder: &Path, table: &str) -> PathBuf {
    folder.join(format!("v2/{table}/{table}_0_1000000.parquet"))
}

/// Writes a table.
pub fn write(folder: &Path, table: &str, columns: &[(&str, ArrayRef)]) -> anyhow::Result<()> {
    let file = file(folder, table);
    fs::create_dir_all(file.parent().context("a folder")?)?;
    let batch = RecordBatch::try_from_iter(columns.iter().map(|(name, column)| (*name, Arc::clone(column))))?;
    let mut writer = ArrowWriter::try_new(File::create(file)?, batch.schema(), None)?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(())
}

impl Export {
    /// Writes all tables.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        self.write_deployments(folder)?;
        self.write_verified(folder)?;
        self.write_matches(folder)?;
        self.write_compilations(folder)?;
        self.write_files(folder)?;
        self.write_signatures(folder)?;
        // A table that is not read.
        write(folder, "code", &[("code_hash", bytes([[0; 32]]))])
    }

    fn write_deployments(&self, folder: &Path) -> anyhow::Result<()> {
        let columns = [
            ("id", texts((0..).zip(&self.matches).map(|(number, _)| uuid(1, number)))),
            ("chain_id", numbers(self.matches.iter().map(|found| found.chain_id))),
            ("address", bytes(self.matches.iter().map(|found| found.address))),
        ];
        write(folder, "contract_deployments", &columns)
    }

    fn write_verified(&self, folder: &Path) -> anyhow::Result<()> {
        let values = self.matches.iter().map(|found| match found.constructor_arguments {
            Some(digits) => format!("{{\"constructorArguments\": \"{digits}\"}}"),
            // The script of the export writes what is null as JSON.
            None => "null".into(),
        });
        let columns = [
            ("id", numbers((1..).zip(&self.matches).map(|(number, _)| number))),
            ("created_at", days(self.matches.iter().map(|found| found.day))),
            ("deployment_id", texts((0..).zip(&self.matches).map(|(number, _)| uuid(1, number)))),
            ("compilation_id", texts(self.matches.iter().map(|found| uuid(2, found.compilation)))),
            ("creation_values", texts(values)),
            ("runtime_metadata_match", flags(self.matches.iter().map(|found| Some(found.is_exact)))),
            ("creation_metadata_match", flags(self.matches.iter().map(|_| None))),
        ];
        write(folder, "verified_contracts", &columns)
    }

    /// Each match as the service first found it, partial, and as it is now.
    fn write_matches(&self, folder: &Path) -> anyhow::Result<()> {
        let twice = || (1..).zip(&self.matches).chain((1..).zip(&self.matches)).zip(0..);
        let is_first = |row: usize| row < self.matches.len();
        let columns = [
            ("id", numbers(twice().map(|((number, _), _)| number))),
            ("verified_contract_id", numbers(twice().map(|((number, _), _)| number))),
            (
                "runtime_match",
                texts(twice().map(
                    |((_, found), row)| {
                        if found.is_exact && !is_first(row) { "perfect" } else { "partial" }
                    },
                )),
            ),
            ("creation_match", Arc::new(StringArray::from(vec![None::<&str>; 2 * self.matches.len()]))),
            ("updated_at", days(twice().map(|((_, found), row)| found.day + i64::from(!is_first(row))))),
        ];
        write(folder, "sourcify_matches", &columns)
    }

    fn write_compilations(&self, folder: &Path) -> anyhow::Result<()> {
        let all = || self.compilations.iter();
        let columns = [
            ("id", texts((0..).zip(all()).map(|(number, _)| uuid(2, number)))),
            ("compiler", texts(all().map(|_| "solc"))),
            ("version", texts(all().map(|_| "0.8.28+commit.7893614a"))),
            ("language", texts(all().map(|_| "solidity"))),
            ("name", texts(all().map(|compilation| compilation.name))),
            (
                "fully_qualified_name",
                texts(
                    all().map(|found| format!("{}:{}", found.files.first().map_or("", |(path, _)| *path), found.name)),
                ),
            ),
            ("compiler_settings", texts(all().map(|compilation| &compilation.settings))),
            ("compilation_artifacts", texts(all().map(|compilation| &compilation.artifacts))),
        ];
        write(folder, "compiled_contracts", &columns)
    }

    fn write_files(&self, folder: &Path) -> anyhow::Result<()> {
        let compilations = (0..).zip(&self.compilations);
        let files =
            || compilations.clone().flat_map(|(number, found)| found.files.iter().map(move |file| (number, file)));
        let columns = [
            ("compilation_id", texts(files().map(|(number, _)| uuid(2, number)))),
            ("source_hash", bytes(files().map(|(_, (_, text))| Sha256::digest(text)))),
            ("path", texts(files().map(|(_, (path, _))| path))),
        ];
        write(folder, "compiled_contracts_sources", &columns)?;
        let mut stored: Vec<&String> = files().map(|(_, (_, text))| text).collect();
        stored.sort();
        stored.dedup();
        write_texts(folder, &stored)
    }

    fn write_signatures(&self, folder: &Path) -> anyhow::Result<()> {
        let hash = |signature: &Signature| keccak256(signature.text);
        let columns = [
            ("signature_hash_32", bytes(self.signatures.iter().map(hash))),
            ("signature", texts(self.signatures.iter().map(|signature| signature.text))),
        ];
        write(folder, "signatures", &columns)?;
        let kinds = || self.signatures.iter().flat_map(|found| found.kinds.iter().map(move |kind| (found, *kind)));
        let columns = [
            ("signature_hash_32", bytes(kinds().map(|(signature, _)| hash(signature)))),
            ("signature_type", texts(kinds().map(|(_, kind)| kind))),
        ];
        write(folder, "compiled_contracts_signatures", &columns)
    }
}

/// Writes the table of texts.
pub fn write_texts(folder: &Path, stored: &[&String]) -> anyhow::Result<()> {
    let columns = [
        ("source_hash", bytes(stored.iter().map(Sha256::digest))),
        ("source_hash_keccak", bytes(stored.iter().map(keccak256))),
        ("content", texts(stored)),
    ];
    write(folder, "sources", &columns)
}
