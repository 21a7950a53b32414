//! `trawl-ingest repair --fill`: fills in missing parts of blocks, from a node that has them.

use std::sync::Arc;

use tokio::sync::watch;
use trawl_core::primitives::{BlockRange, Coverage};
use trawl_core::store::Head;
use trawl_ingest::block::range_list::{list, pairs};
use trawl_ingest::fill::{FillContext, FillPart, FillParts, FillReport, fill};
use trawl_ingest::load::completeness::IncompleteLoad;
use trawl_ingest::load::pipeline::Ending;
use trawl_ingest::load::prepare::{Inspection, OnRefusal};
use trawl_ingest::source::BlockSource;
use trawl_ingest::source::rpc::{RequestedState, RpcSource, TraceChoice};
use trawl_ingest::state::genesis::Genesis;
use trawl_ingest::write::leased_database::LeasedDatabase;
use trawl_ingest::write::retry::retry_transient;

use super::error::Failure;
use super::family::family;
use super::flags::{ReadingFlags, Source};
use super::setup::{node_client, of_chain, options};

/// Fills in `parts` from the node of `source`, and prints the outcome.
pub async fn fill_command(
    reading: &ReadingFlags,
    source: Option<Source>,
    database: LeasedDatabase,
    parts: FillParts,
    stop: &watch::Receiver<bool>,
) -> Result<(), Failure> {
    let Some(Source::Rpc(urls)) = source else { return Err(Failure::NoNodeToFill) };
    let LeasedDatabase { reader, writer, guard } = database;
    let head = retry_transient(|| Head::load(&reader)).await?;
    let genesis = reading.genesis.as_deref().map(Genesis::read).transpose()?;
    let stated = head.chain_id.or_else(|| genesis.as_ref()?.chain_id());
    let node = node_client(&urls, reading, stop.clone())?;
    // Only the parts to fill in are requested.
    let traces = if parts.contains(FillPart::Traces) { reading.traces.choice() } else { TraceChoice::Off };
    let state = if parts.contains(FillPart::State) { RequestedState::IfThere } else { RequestedState::Never };
    let source = RpcSource::new(node, Vec::new(), reading.concurrency.into(), traces).await?.with_state(state);
    let source = of_chain(source, stated)?;
    let family = family(reading.chain_family, None, source.chain_id().or(stated), &reader, &writer, &head).await?;
    let source = source.with_family(family);
    let options = options(reading, OnRefusal::Stop, genesis, source.chain_id().or(stated), None);
    let inspection = Inspection {
        depth: options.depth,
        on_refusal: OnRefusal::Stop,
        source: source.kind(),
        run: writer.run().into(),
        rules: Arc::clone(&options.rules),
        family,
    };
    let context =
        FillContext { source, reader, writer, guard, inspection: Arc::new(inspection), decoders: options.decoders };
    let (ending, filled) = fill(context, parts, stop).await?;
    report(parts, &filled);
    match ending {
        Ending::Stopped => Err(Failure::Interrupted),
        Ending::Complete if filled.lacking.is_empty() => Ok(()),
        Ending::Complete => {
            Err(IncompleteLoad::Parts { parts: parts.to_string(), blocks: ranges(&filled.lacking) }.into())
        }
    }
}

/// Prints what is missing of settled blocks, after a repair without `--fill`.
pub fn hint(head: &Head) -> Option<String> {
    let missing = |part: &Coverage| head.blocks.settled().without(part);
    // No node tells the state of the genesis.
    let with_genesis: Coverage = any_state(head).ranges().iter().copied().chain([BlockRange::single(0)]).collect();
    let lacking = [("traces", missing(head.traces.settled())), ("state", missing(&with_genesis))];
    let lacking: Vec<(&str, Coverage)> = lacking.into_iter().filter(|(_, blocks)| !blocks.is_empty()).collect();
    let parts: Vec<&str> = lacking.iter().map(|(part, _)| *part).collect();
    let texts: Vec<String> = lacking.iter().map(|(part, blocks)| format!("{part}: {}", ranges(blocks))).collect();
    let hint = format!("blocks without parts ({}): --fill {} fills them in", texts.join("; "), parts.join(","));
    (!parts.is_empty()).then_some(hint)
}

fn any_state(head: &Head) -> Coverage {
    let parts = [&head.state, &head.state_but_system, &head.state_transactions];
    parts.iter().flat_map(|part| part.settled().ranges()).copied().collect()
}

fn ranges(blocks: &Coverage) -> String {
    list(&pairs(blocks.ranges()))
}

fn report(parts: FillParts, filled: &FillReport) {
    let blocks: u64 = filled.blocks.ranges().iter().map(|range| range.count()).sum();
    println!("filled in {parts} of {blocks} blocks: {}", ranges(&filled.blocks));
}
