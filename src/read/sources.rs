//! The source code of contracts that operators loaded.

use std::collections::HashMap;

use crate::app::App;
use crate::error::Problem;
use tokio::sync::Semaphore;
use trawl_core::primitives::{Address, B256, Bytes};
use trawl_json::addresses::address::Addresses;
use trawl_json::contracts::source::{ContractSource, SourceFile};
use trawl_query::sources::{LoadedSource, MAX_CONTENTS, contents, of_contracts};

/// Sources that are put together at once: each may have megabytes, several times until it is written.
static BUILDING: Semaphore = Semaphore::const_new(4);
/// Contracts whose sources are read by one statement.
const MAX_CONTRACTS: usize = 400;

/// The source of a contract with the texts of all its files; `None` if only an ABI was loaded, or if a text is lost.
///
/// # Errors
///
/// When the store fails.
pub(crate) async fn source(
    app: &App,
    addresses: &Addresses,
    contract: &Address,
) -> Result<Option<ContractSource>, Problem> {
    let Some((address, load)) = loaded(addresses, contract) else { return Ok(None) };
    let _slot = BUILDING.acquire().await.map_err(|_| Problem::Internal)?;
    let rows = app.reader().rows(&of_contracts(&[address])).await?;
    let Some(row) = rows.into_iter().find(|row| row.generation == load) else { return Ok(None) };
    let mut texts: HashMap<B256, String> = HashMap::new();
    for hashes in row.content_hashes.chunks(MAX_CONTENTS) {
        let found = app.reader().rows(&contents(hashes)).await?;
        texts.extend(found.into_iter().map(|text| (text.content_hash, text.content)));
    }
    let is_own = address == *contract;
    let files: Option<Vec<SourceFile>> = row
        .paths
        .iter()
        .zip(&row.content_hashes)
        .map(|(path, hash)| Some(SourceFile { path: path.clone(), hash: *hash, content: texts.get(hash)?.clone() }))
        .collect();
    let source = if is_own { without_files(row) } else { of_copy(without_files(row)) };
    Ok(files.map(|files| ContractSource { files, ..source }))
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
    let loads: HashMap<Address, u64> =
        contracts.iter().filter_map(|contract| Some((*contract, addresses.source_load(contract)?))).collect();
    let with_source: Vec<Address> = loads.keys().copied().collect();
    let mut sources = HashMap::new();
    for some in with_source.chunks(MAX_CONTRACTS) {
        let rows = app.reader().rows(&of_contracts(some)).await?;
        let current = rows.into_iter().filter(|row| loads.get(&row.address) == Some(&row.generation));
        sources.extend(current.map(|row| (row.address, without_files(row))));
    }
    Ok(sources)
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

/// The contract whose source is shown for `contract`, which may be a copy of it, and the load that brought it.
fn loaded(addresses: &Addresses, contract: &Address) -> Option<(Address, u64)> {
    let (address, _) = addresses.source(contract)?;
    Some((address, addresses.source_load(&address)?))
}

fn without_files(row: LoadedSource) -> ContractSource {
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
