//! The source code of contracts that operators loaded.

use std::collections::HashMap;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::{Address, B256, Bytes};
use trawl_core::schema::ContractSourceRow;
use trawl_json::addresses::address::Addresses;
use trawl_json::contracts::source::{ContractSource, SourceFile};
use trawl_query::sources;

/// Sources in memory at once: each may have megabytes, several times while an answer is made of it.
static SLOTS: Semaphore = Semaphore::const_new(4);
/// Contracts whose compilers are read by one statement.
const MAX_CONTRACTS: usize = 400;

/// A source with its texts, and the slot that it has until the answer is written.
pub(crate) struct SourceInMemory {
    pub source: ContractSource,
    _slot: SemaphorePermit<'static>,
}

/// The source of a contract with the texts of all its files; `None` if only an ABI was loaded, or if a text is lost.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn source(
    app: &App,
    addresses: &Addresses,
    contract: &Address,
) -> Result<Option<SourceInMemory>, Problem> {
    let Some(row) = row(app, addresses, contract).await? else { return Ok(None) };
    let slot = SLOTS.acquire().await.map_err(|_| Problem::Internal)?;
    let mut texts: HashMap<B256, String> = HashMap::new();
    for hashes in row.content_hashes.chunks(sources::MAX_CONTENTS) {
        let found = app.reader().rows(&sources::contents(hashes)).await?;
        texts.extend(found.into_iter().map(|text| (text.content_hash, text.content)));
    }
    let files = row.paths.iter().zip(&row.content_hashes);
    let file = |(path, hash): (&String, &B256)| {
        Some(SourceFile { path: path.clone(), hash: *hash, content: texts.get(hash)?.clone() })
    };
    let Some(files) = files.map(file).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let is_copy = row.address != *contract;
    let source = ContractSource { files, ..without_files(row) };
    Ok(Some(SourceInMemory { source: if is_copy { of_copy(source) } else { source }, _slot: slot }))
}

/// What the source of a contract says beside its texts; `None` if only an ABI was loaded.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn without_texts(
    app: &App,
    addresses: &Addresses,
    contract: &Address,
) -> Result<Option<ContractSource>, Problem> {
    let Some(row) = row(app, addresses, contract).await? else { return Ok(None) };
    let is_copy = row.address != *contract;
    let source = without_files(row);
    Ok(Some(if is_copy { of_copy(source) } else { source }))
}

/// The text of one file of a source.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn file(
    app: &App,
    addresses: &Addresses,
    contract: &Address,
    path: &str,
) -> Result<Option<String>, Problem> {
    let Some(row) = row(app, addresses, contract).await? else { return Ok(None) };
    let Some(position) = row.paths.iter().position(|known| known == path) else { return Ok(None) };
    let texts = app.reader().rows(&sources::contents(&row.content_hashes[position..=position])).await?;
    Ok(texts.into_iter().next().map(|text| text.content))
}

/// What the sources of some contracts say beside their texts, of each by its own address.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn compilers(
    app: &App,
    addresses: &Addresses,
    contracts: &[Address],
) -> Result<HashMap<Address, ContractSource>, Problem> {
    let load = |contract: &Address| Some((*contract, addresses.source_load(contract)?));
    let loads: HashMap<Address, u64> = contracts.iter().filter_map(load).collect();
    let with_source: Vec<Address> = loads.keys().copied().collect();
    let mut compilers = HashMap::new();
    for some in with_source.chunks(MAX_CONTRACTS) {
        let rows = app.reader().rows(&sources::compilers(some)).await?;
        let current = rows.into_iter().filter(|row| loads.get(&row.address) == Some(&row.generation));
        compilers.extend(current.map(|row| (row.address, without_files(row))));
    }
    Ok(compilers)
}

/// The row of the source that is shown for a contract, which may be a copy of another one.
async fn row(app: &App, addresses: &Addresses, contract: &Address) -> Result<Option<ContractSourceRow>, Problem> {
    let Some((address, _)) = addresses.source(contract) else { return Ok(None) };
    let Some(load) = addresses.source_load(&address) else { return Ok(None) };
    Ok(app.reader().rows(&sources::of_contract(&address, load)).await?.into_iter().next())
}

/// The source of a minimal proxy is that of its implementation; how that was created and verified is not said of the
/// proxy.
fn of_copy(source: ContractSource) -> ContractSource {
    ContractSource {
        verifier: String::new(),
        match_type: String::new(),
        constructor_arguments: Bytes::new(),
        verified_at: None,
        ..source
    }
}

fn without_files(row: ContractSourceRow) -> ContractSource {
    ContractSource {
        settings: ContractSource::settings_of(&row.settings),
        name: row.name,
        file_path: row.file_path,
        language: row.language,
        compiler_version: row.compiler_version,
        verifier: row.verifier,
        match_type: row.match_type,
        constructor_arguments: row.constructor_arguments,
        verified_at: row.verified_at,
        files: Vec::new(),
    }
}
