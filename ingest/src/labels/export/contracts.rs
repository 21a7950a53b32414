//! The verified contracts of one chain, each with the best and newest of its matches.
//!
//! An export has the contracts of all chains; of the others nothing is held. At its peak, a contract of the chain takes
//! about 350 bytes, and its constructor arguments.

use std::collections::HashMap;

use alloy_primitives::Bytes;
use serde::Deserialize;
use trawl_core::primitives::{Address, Timestamp};

use super::column::{Column, RowId};
use super::error::ExportError;
use super::files::{DEPLOYMENTS, ExportFiles, MATCHES, VERIFIED};
use super::matches::{Matches, is_exact};
use super::table::{Batch, TableForm};
use crate::labels::source::MatchType;

const DEPLOYMENTS_FORM: TableForm =
    TableForm { table: DEPLOYMENTS, columns: &["id", "chain_id", "address"], rows: 16_384 };
const IDS_FORM: TableForm = TableForm { table: VERIFIED, columns: &["id", "deployment_id"], rows: 16_384 };
const VERIFIED_FORM: TableForm = TableForm {
    table: VERIFIED,
    columns: &[
        "id",
        "deployment_id",
        "compilation_id",
        "created_at",
        "creation_values",
        "creation_metadata_match",
        "runtime_metadata_match",
    ],
    rows: 4_096,
};

/// The contracts of the chain by their deployments.
type Deployments = HashMap<RowId, Address>;

/// A contract with the compilation that its code was compared with.
#[derive(Debug, Clone)]
pub(super) struct VerifiedContract {
    pub address: Address,
    /// Row of `compiled_contracts`.
    pub compilation: RowId,
    pub match_type: MatchType,
    pub verified_at: Option<Timestamp>,
    pub constructor_arguments: Bytes,
    /// Row of `verified_contracts`.
    id: i64,
}

impl VerifiedContract {
    /// Exact matches come before others, and newer ones before older ones.
    fn rank(&self) -> (bool, Option<Timestamp>, i64) {
        (self.match_type == MatchType::Exact, self.verified_at, self.id)
    }
}

/// The contracts of the chain, in the order of their compilations.
pub(super) struct Contracts(Vec<VerifiedContract>);

impl Contracts {
    /// Reads the contracts of a chain.
    pub fn read(files: &ExportFiles, chain_id: u64) -> Result<Self, ExportError> {
        let deployments = deployments(files, chain_id)?;
        tracing::info!(contracts = deployments.len(), "deployments of this chain");
        let matches = Matches::read(files.of(MATCHES), verified_ids(files, &deployments)?)?;
        let best = best(files, &deployments, &matches)?;
        let mut contracts: Vec<VerifiedContract> = best.into_values().collect();
        contracts.sort_unstable_by_key(|contract| (contract.compilation, contract.address));
        tracing::info!(contracts = contracts.len(), "verified contracts of this chain");
        Ok(Self(contracts))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The contracts of a compilation.
    pub fn of(&self, compilation: &RowId) -> &[VerifiedContract] {
        let start = self.0.partition_point(|contract| contract.compilation < *compilation);
        let rest = self.0.get(start..).unwrap_or_default();
        rest.get(..rest.partition_point(|contract| contract.compilation == *compilation)).unwrap_or_default()
    }
}

fn deployments(files: &ExportFiles, chain_id: u64) -> Result<Deployments, ExportError> {
    let mut deployments = Deployments::new();
    DEPLOYMENTS_FORM.read(files.of(DEPLOYMENTS), |batch| {
        let (ids, chains, addresses) = (batch.column("id")?, batch.column("chain_id")?, batch.column("address")?);
        for row in 0..batch.len() {
            if u64::try_from(chains.known(chains.integer(row))?).is_ok_and(|found| found == chain_id) {
                deployments.insert(ids.id(row)?, Address::from(addresses.fixed::<20>(row)?));
            }
        }
        Ok(())
    })?;
    Ok(deployments)
}

/// The rows of `verified_contracts` that are of the chain, sorted.
fn verified_ids(files: &ExportFiles, deployments: &Deployments) -> Result<Vec<i64>, ExportError> {
    let mut verified = Vec::new();
    IDS_FORM.read(files.of(VERIFIED), |batch| {
        let (ids, of) = (batch.column("id")?, batch.column("deployment_id")?);
        for row in 0..batch.len() {
            if deployments.contains_key(&of.id(row)?) {
                verified.push(ids.known(ids.integer(row))?);
            }
        }
        Ok(())
    })?;
    verified.sort_unstable();
    Ok(verified)
}

/// The best match of each contract.
fn best(
    files: &ExportFiles,
    deployments: &Deployments,
    matches: &Matches,
) -> Result<HashMap<Address, VerifiedContract>, ExportError> {
    let mut best: HashMap<Address, VerifiedContract> = HashMap::new();
    VERIFIED_FORM.read(files.of(VERIFIED), |batch| {
        let columns = VerifiedColumns::new(batch)?;
        for row in 0..batch.len() {
            let Some(address) = deployments.get(&columns.deployment.id(row)?) else { continue };
            let contract = columns.contract(row, *address, matches)?;
            let known = best.get(address);
            if known.is_none_or(|known| known.rank() < contract.rank()) {
                best.insert(*address, contract);
            }
        }
        Ok(())
    })?;
    Ok(best)
}

struct VerifiedColumns<'b> {
    id: Column<'b>,
    deployment: Column<'b>,
    compilation: Column<'b>,
    created_at: Option<Column<'b>>,
    creation_values: Option<Column<'b>>,
    creation_metadata: Option<Column<'b>>,
    runtime_metadata: Option<Column<'b>>,
}

/// What the creation code of a contract had that its compilation does not.
#[derive(Deserialize)]
struct CreationValues {
    #[serde(rename = "constructorArguments")]
    constructor_arguments: Option<Bytes>,
}

impl<'b> VerifiedColumns<'b> {
    fn new(batch: &'b Batch<'_>) -> Result<Self, ExportError> {
        Ok(Self {
            id: batch.column("id")?,
            deployment: batch.column("deployment_id")?,
            compilation: batch.column("compilation_id")?,
            created_at: batch.optional("created_at"),
            creation_values: batch.optional("creation_values"),
            creation_metadata: batch.optional("creation_metadata_match"),
            runtime_metadata: batch.optional("runtime_metadata_match"),
        })
    }

    fn contract(&self, row: usize, address: Address, matches: &Matches) -> Result<VerifiedContract, ExportError> {
        let id = self.id.known(self.id.integer(row))?;
        let created_at = self.created_at.as_ref().map(|column| column.time(row)).transpose()?.flatten();
        Ok(VerifiedContract {
            address,
            compilation: self.compilation.id(row)?,
            match_type: match matches.of(id) {
                Some(stated) => stated,
                None => self.match_type(row)?,
            },
            verified_at: created_at.map(Timestamp::from_micros),
            constructor_arguments: self.constructor_arguments(row)?,
            id,
        })
    }

    /// The match by the hash of the metadata, which is null where the code did not match.
    fn match_type(&self, row: usize) -> Result<MatchType, ExportError> {
        let columns = [&self.creation_metadata, &self.runtime_metadata];
        let flags = columns.into_iter().flatten().map(|column| column.flag(row)).collect::<Result<Vec<_>, _>>()?;
        let is_stated = flags.iter().any(Option::is_some);
        Ok(if is_stated { is_exact(flags.contains(&Some(true))) } else { MatchType::Unspecified })
    }

    fn constructor_arguments(&self, row: usize) -> Result<Bytes, ExportError> {
        let Some(column) = &self.creation_values else { return Ok(Bytes::new()) };
        let Some(text) = column.json(row)? else { return Ok(Bytes::new()) };
        let values: CreationValues = serde_json::from_str(text)
            .map_err(|_| column.holds(text, "an object with `constructorArguments` in hexadecimal digits"))?;
        Ok(values.constructor_arguments.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
