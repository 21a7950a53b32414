//! Compilations: names, compilers, settings and ABIs, for each contract whose code was compared with one.

use std::collections::BTreeMap;
use std::path::Path;

use alloy_primitives::B256;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::chunk::Chunks;
use super::column::{Column, RowId};
use super::contracts::{Contracts, VerifiedContract};
use super::error::ExportError;
use super::files::{COMPILED, ExportFiles};
use super::sources::SourceFiles;
use super::table::{Batch, TableForm};
use crate::labels::abi::Abi;
use crate::labels::label_records::{ByChance, FactOrigin};
use crate::labels::source::{ContractSource, Verifier};

const FORM: TableForm = TableForm {
    table: COMPILED,
    columns: &[
        "id",
        "version",
        "language",
        "name",
        "fully_qualified_name",
        "compiler_settings",
        "compilation_artifacts",
    ],
    rows: 64,
};

/// Languages as their compilers write them.
const LANGUAGES: [&str; 3] = ["Solidity", "Vyper", "Yul"];

/// What a compilation says of all its contracts.
struct Compilation {
    abi: Option<Abi>,
    source: ContractSource,
}

/// Of what a compiler returns, the part that is read.
#[derive(Deserialize)]
struct Artifacts {
    abi: Option<Value>,
}

/// Hands on the contracts of all compilations.
pub(super) fn read(
    files: &ExportFiles,
    contracts: &Contracts,
    sources: &SourceFiles,
    chunks: &mut Chunks<'_>,
) -> Result<(), ExportError> {
    let mut loaded = 0;
    FORM.read(files.of(COMPILED), |batch| {
        let columns = CompilationColumns::new(batch)?;
        for row in 0..batch.len() {
            let id = columns.id.id(row)?;
            let of = contracts.of(&id);
            if of.is_empty() {
                continue;
            }
            let compilation = columns.compilation(row, chunks)?;
            let files = files_of(sources, &id, chunks);
            for contract in of {
                add(&compilation, files.as_ref(), contract, batch.file(), chunks)?;
            }
            loaded += of.len();
        }
        Ok(())
    })?;
    let missing = contracts.len().saturating_sub(loaded) as u64;
    if missing > 0 {
        *chunks.records().passed_over.entry("contracts whose compilation is not in the export").or_default() += missing;
    }
    Ok(())
}

fn files_of(sources: &SourceFiles, id: &RowId, chunks: &mut Chunks<'_>) -> Option<BTreeMap<String, B256>> {
    sources.of(id).map_err(|reason| chunks.records().pass_over(reason)).ok()
}

/// Adds a contract to the part.
fn add(
    compilation: &Compilation,
    files: Option<&BTreeMap<String, B256>>,
    contract: &VerifiedContract,
    file: &Path,
    chunks: &mut Chunks<'_>,
) -> Result<(), ExportError> {
    let address = contract.address;
    let origin = FactOrigin { file, address: Some(address), chain_id: None, found: ByChance::Yes };
    let mut bytes = 0;
    if let Some(abi) = &compilation.abi {
        bytes += abi.entries.iter().map(|entry| entry.entry.len() + entry.signature.len()).sum::<usize>();
        chunks.records().abi(&origin, address, Some(compilation.source.name.clone()), abi.clone());
    }
    if let Some(files) = files {
        let source = ContractSource {
            match_type: contract.match_type,
            constructor_arguments: contract.constructor_arguments.clone(),
            verified_at: contract.verified_at,
            files: files.clone(),
            ..compilation.source.clone()
        };
        bytes += source.settings.len() + files.keys().map(|path| path.len() + 100).sum::<usize>();
        chunks.records().sources.insert(address, (source, origin.name()));
    }
    chunks.added(bytes)
}

struct CompilationColumns<'b> {
    id: Column<'b>,
    version: Column<'b>,
    language: Column<'b>,
    name: Column<'b>,
    full_name: Column<'b>,
    settings: Column<'b>,
    artifacts: Column<'b>,
}

impl<'b> CompilationColumns<'b> {
    fn new(batch: &'b Batch<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            id: batch.column("id")?,
            version: batch.column("version")?,
            language: batch.column("language")?,
            name: batch.column("name")?,
            full_name: batch.column("fully_qualified_name")?,
            settings: batch.column("compiler_settings")?,
            artifacts: batch.column("compilation_artifacts")?,
        })
    }

    fn compilation(&self, row: usize, chunks: &mut Chunks<'_>) -> Result<Compilation, ExportError> {
        let full_name = self.full_name.text(row)?.unwrap_or_default();
        let source = ContractSource {
            name: self.name.text(row)?.unwrap_or_default().into(),
            file_path: full_name.rsplit_once(':').map_or("", |(path, _)| path).into(),
            language: language(self.language.text(row)?.unwrap_or_default()),
            compiler_version: self.version.text(row)?.unwrap_or_default().trim_start_matches('v').into(),
            settings: self.settings(row)?,
            verifier: Verifier::Sourcify,
            ..ContractSource::default()
        };
        Ok(Compilation { abi: self.abi(row, chunks)?, source })
    }

    /// The settings, written as those of other forms of verified sources.
    fn settings(&self, row: usize) -> Result<String, ExportError> {
        let Some(text) = self.settings.json(row)? else { return Ok(String::new()) };
        let settings: Map<String, Value> =
            serde_json::from_str(text).map_err(|_| self.settings.holds(text, "a JSON object"))?;
        Ok(Value::Object(settings).to_string())
    }

    /// The ABI, if the compilation has one of a known form.
    fn abi(&self, row: usize, chunks: &mut Chunks<'_>) -> Result<Option<Abi>, ExportError> {
        let Some(text) = self.artifacts.json(row)? else { return Ok(None) };
        let artifacts: Artifacts =
            serde_json::from_str(text).map_err(|_| self.artifacts.holds(text, "an object with `abi`"))?;
        let Some(value) = artifacts.abi.filter(|abi| !abi.is_null()) else { return Ok(None) };
        let abi = Abi::new(&value).ok();
        if abi.is_none() {
            chunks.records().pass_over("ABIs of unknown forms");
        }
        Ok(abi)
    }
}

/// A language as its compiler writes it.
fn language(stated: &str) -> String {
    let known = LANGUAGES.into_iter().find(|known| known.eq_ignore_ascii_case(stated));
    known.unwrap_or(stated).into()
}
