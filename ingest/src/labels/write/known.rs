//! Drops records that the tables have already.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::Hash;

use alloy_primitives::Selector;
use trawl_core::primitives::{Address, B256};
use trawl_core::store::{Reader, StoreError};

use super::purpose::Purpose;
use crate::labels::label_records::{LabelRecords, LabelValue};

/// The newest labels of some addresses, each with the load it is from.
type CurrentLabels = HashMap<(Address, String, String), (LabelValue, u64)>;

/// Drops records that the tables have already; for a removal, those that they do not have.
pub(super) async fn only_new(
    reader: &Reader,
    mut found: LabelRecords,
    purpose: Purpose,
) -> Result<LabelRecords, StoreError> {
    let labels = found.labels.keys().map(|(address, ..)| *address);
    let addresses = listed(labels.chain(found.abis.keys().copied()).chain(found.sources.keys().copied()));
    let current = current_labels(reader, &addresses).await?;
    let is_wanted = |is_stored: bool| is_stored == (purpose == Purpose::Remove);
    found.labels.retain(|(address, label_type, slug), (label, _)| {
        let stored = current.get(&(*address, (*label_type).to_owned(), slug.clone()));
        is_wanted(stored.is_some_and(|(stored, _)| stored == label))
    });
    if purpose == Purpose::Remove {
        found.abis.retain(|address, (abi, _)| load_of(&current, address, "abi", &abi.digest).is_some());
        found.sources.retain(|address, (source, _)| load_of(&current, address, "source", &source.digest()).is_some());
        (found.contents, found.events, found.functions) = <_>::default();
        return Ok(found);
    }
    new_abis(reader, &current, &mut found).await?;
    new_sources(reader, &current, &mut found).await?;
    let events = reader.stored_events(&listed(found.events.keys().map(|(hash, _)| *hash))).await?;
    let stored: HashSet<(B256, String)> = events.into_iter().map(|event| (event.hash, event.signature)).collect();
    found.events.retain(|key, _| !stored.contains(key));
    let functions = reader.stored_functions(&listed(found.functions.keys().map(|(selector, _)| *selector))).await?;
    let stored: HashSet<(Selector, String)> =
        functions.into_iter().map(|function| (function.selector, function.signature)).collect();
    found.functions.retain(|key, _| !stored.contains(key));
    Ok(found)
}

/// Each key once, in order.
fn listed<K: Ord + Hash>(keys: impl Iterator<Item = K>) -> Vec<K> {
    keys.collect::<BTreeSet<K>>().into_iter().collect()
}

async fn current_labels(reader: &Reader, addresses: &[Address]) -> Result<CurrentLabels, StoreError> {
    let labels = reader.current_labels(addresses).await?.into_iter().map(|label| {
        let (value, tag_type, ordinal, meta) = (label.value, label.tag_type, label.ordinal, label.meta);
        let key = (label.address, label.label_type, label.slug);
        (key, (LabelValue { value, tag_type, ordinal, meta }, label.generation))
    });
    Ok(labels.collect())
}

/// The load that brought the current ABI or source of a contract, if that has this digest.
fn load_of(current: &CurrentLabels, address: &Address, label_type: &str, digest: &B256) -> Option<u64> {
    let (label, load) = current.get(&(*address, label_type.to_owned(), String::new()))?;
    (label.value == digest.to_string()).then_some(*load)
}

/// Drops ABIs all of whose entries are stored: a table may have lost some that its labels still name.
async fn new_abis(reader: &Reader, current: &CurrentLabels, found: &mut LabelRecords) -> Result<(), StoreError> {
    let loads: HashMap<Address, u64> = found
        .abis
        .iter()
        .filter_map(|(address, (abi, _))| Some((*address, load_of(current, address, "abi", &abi.digest)?)))
        .collect();
    let stored = reader.stored_abis(&listed(loads.keys().copied())).await?;
    let entries: HashMap<(Address, u64), u64> =
        stored.into_iter().map(|abi| ((abi.address, abi.generation), abi.entries)).collect();
    found.abis.retain(|address, (abi, _)| {
        let stored = loads.get(address).map(|load| entries.get(&(*address, *load)).copied().unwrap_or_default());
        stored != Some(abi.entries.len() as u64)
    });
    Ok(())
}

/// Drops sources and texts that are stored.
async fn new_sources(reader: &Reader, current: &CurrentLabels, found: &mut LabelRecords) -> Result<(), StoreError> {
    let addresses = listed(found.sources.keys().copied());
    let stored = reader.stored_sources(&addresses).await?;
    let stored: HashSet<(Address, u64)> =
        stored.into_iter().map(|source| (source.address, source.generation)).collect();
    found.sources.retain(|address, (source, _)| {
        let load = load_of(current, address, "source", &source.digest());
        !load.is_some_and(|load| stored.contains(&(*address, load)))
    });
    let contents = reader.stored_contents(&listed(found.contents.keys().copied())).await?;
    for content in contents {
        found.contents.remove(&content.content_hash);
    }
    Ok(())
}
