//! `trawl-ingest verify`.

use trawl_core::primitives::BlockRange;
use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::audit::audit;
use trawl_ingest::load::pipeline::Ending;

use super::error::Failure;
use super::flags::RangeEnd;
use super::setup::stop_on_signal;

/// Proves again what is stored.
pub async fn verify_command(from: u64, to: Option<RangeEnd>, reader: &Reader, writer: &Writer) -> Result<(), Failure> {
    let to = to.map_or(u64::MAX, |to| if let RangeEnd::Block(number) = to { number } else { u64::MAX });
    let requested = BlockRange::new(from, to).ok_or(Failure::EmptyRange { from, to })?;
    let stop = stop_on_signal()?;
    writer.require_schema().await?;
    let head = Head::load(reader).await?;
    let (ending, proof) = audit(reader, writer, &head, requested, &stop, &mut |refused| eprintln!("{refused}")).await?;
    println!("{} blocks: {} verified, {} in part", proof.blocks, proof.verified, proof.partial);
    match ending {
        Ending::Stopped => Err(Failure::Interrupted),
        Ending::Complete if proof.blocks == 0 && proof.refused == 0 => Err(Failure::NothingToProve { from, to }),
        Ending::Complete if proof.refused == 0 => Ok(()),
        Ending::Complete => Err(Failure::NotProven(proof.refused)),
    }
}
