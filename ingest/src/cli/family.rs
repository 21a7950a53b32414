//! Whose rules a run goes by: those of `--chain-family`, of the database, or of the chain's id.

use trawl_chains::Family;
use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;

/// The family by whose rules blocks are read: the `given` one is stored before the first block, and then is that of the database.
///
/// # Errors
///
/// When another one is given than blocks were loaded by, or the chain is known to be of another, or is not known.
pub async fn family(
    given: Option<&'static Family>,
    chain_id: Option<u64>,
    (reader, writer): (&Reader, &Writer),
    head: &Head,
) -> Result<Option<&'static Family>, Failure> {
    let Some(chain_id) = chain_id else {
        return match given {
            Some(_) => Err(Failure::FamilyOfNoChain),
            None => Ok(None),
        };
    };
    let stored = retry_transient(|| reader.configuration(chain_id)).await?;
    let stored = stored.as_ref().and_then(|stored| stored.family.as_deref());
    let known = trawl_chains::of_chain(chain_id, stored);
    let Some(given) = given.filter(|given| *given != known) else { return Ok(Some(known)) };
    if let Some(listed) = trawl_chains::listed(chain_id) {
        return Err(Failure::ListedChain { chain_id, listed: listed.name, given: given.name });
    }
    if head.number().is_some() {
        return Err(Failure::OtherFamily { stored: known.name, given: given.name });
    }
    retry_transient(|| writer.record_family(chain_id, given.name)).await?;
    Ok(Some(given))
}
