//! Whose rules a run goes by: those of `--chain-family`, of the database, or of the chain's id.

use trawl_chains::Family;
use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::load::recognition::RecognisedChain;
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;

pub(super) mod recognition;

/// States the family of a database whose row of it was lost, or which never had one: `verify` then says which rows do
/// not hold.
///
/// # Errors
///
/// When another one is stored, or the chain is known to be of another, or is not known.
pub async fn state_again(
    given: &'static Family,
    chain_id: Option<u64>,
    reader: &Reader,
    writer: &Writer,
) -> Result<(), Failure> {
    let chain_id = chain_id.ok_or(Failure::FamilyOfNoChain)?;
    let other = stored(chain_id, reader).await?.filter(|stored| *stored != given);
    if let Some(other) = other {
        return Err(Failure::OtherFamily { stored: other.name, given: given.name });
    }
    require_not_listed(chain_id, given)?;
    Ok(retry_transient(|| writer.record_family(chain_id, given.name)).await?)
}

/// The family that was stated of a chain.
async fn stored(chain_id: u64, reader: &Reader) -> Result<Option<&'static Family>, Failure> {
    let stored = retry_transient(|| reader.configuration(chain_id)).await?;
    Ok(stored.and_then(|stored| trawl_chains::by_name(&stored.family?)))
}

fn require_not_listed(chain_id: u64, given: &Family) -> Result<(), Failure> {
    match trawl_chains::listed(chain_id) {
        Some(listed) if listed != given => {
            Err(Failure::ListedChain { chain_id, listed: listed.name, given: given.name })
        }
        _ => Ok(()),
    }
}

/// The name of the family by whose rules blocks would be read: nothing is stored, and nothing refused. `shown`: as in
/// [`family`].
pub async fn likely_family(
    given: Option<&'static Family>,
    shown: Option<&'static Family>,
    chain_id: u64,
    reader: &Reader,
) -> Result<&'static str, Failure> {
    let family = match given {
        Some(given) => given,
        None => stored(chain_id, reader).await?.or(shown).unwrap_or_else(|| trawl_chains::by_chain_id(chain_id)),
    };
    Ok(family.name)
}

/// The family by whose rules blocks are read: the `given` one is stored before the first block, and then is that of the
/// database. So is the one that the blocks `shown` are of, if none is given and the chain is not listed.
///
/// # Errors
///
/// When another one is given than blocks were loaded by, or the chain is known to be of another, or is not known.
pub async fn family(
    given: Option<&'static Family>,
    shown: Option<RecognisedChain>,
    chain_id: Option<u64>,
    reader: &Reader,
    writer: &Writer,
    head: &Head,
) -> Result<Option<&'static Family>, Failure> {
    let Some(chain_id) = chain_id.or_else(|| shown?.chain_id) else {
        return match given {
            Some(_) => Err(Failure::FamilyOfNoChain),
            None => Ok(None),
        };
    };
    let stored = stored(chain_id, reader).await?;
    let known = stored.unwrap_or_else(|| trawl_chains::by_chain_id(chain_id));
    let is_open = given.is_none() && stored.is_none() && trawl_chains::listed(chain_id).is_none();
    if let Some(shown) = shown.map(|shown| shown.family).filter(|_| is_open) {
        tracing::info!(chain_id, family = shown.name, "the chain is not listed, and its first blocks show its family");
        retry_transient(|| writer.record_family(chain_id, shown.name)).await?;
        return Ok(Some(shown));
    }
    if is_open && head.number().is_none() {
        tracing::warn!(
            chain_id,
            "the chain is not listed, and its blocks do not show its family: they are checked by Ethereum's rules; \
             --chain-family names others"
        );
    }
    let Some(given) = given.filter(|given| *given != known) else { return Ok(Some(known)) };
    require_not_listed(chain_id, given)?;
    if head.number().is_some() {
        return Err(Failure::OtherFamily { stored: known.name, given: given.name });
    }
    retry_transient(|| writer.record_family(chain_id, given.name)).await?;
    Ok(Some(given))
}
