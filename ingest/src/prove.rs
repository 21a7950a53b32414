//! Proves again what is stored, from the tables alone: `trawl-ingest verify`.

use std::sync::Arc;

use tokio::sync::watch;
use trawl::primitives::{BlockRange, Coverage};
use trawl::schema::VerdictRow;
use trawl::store::{Head, Reader, StoreError, TableSum, Writer};

use crate::batch::verdicts;
use crate::links::{Link, Links};
use crate::pipeline::Ending;
use crate::prepare::{Inspection, OnRefusal};
use crate::sink::patiently;
use crate::stored::blocks;
use crate::verify::{Depth, Outcome, VerifyError, verify};

/// Blocks read at once; their rows are what is in memory.
const CHUNK: u64 = 100;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Blocks that were looked at.
    pub blocks: u64,
    /// Blocks whose rows are all proven.
    pub verified: u64,
    /// Blocks of which some checks could not run.
    pub partial: u64,
    /// What does not hold, in words; a block each, or a pair of tables.
    pub refused: Vec<String>,
}

/// Proves the committed blocks of `asked` and records a verdict for each. Ends early if told to stop.
pub async fn prove(
    reader: &Reader,
    writer: &Writer,
    head: &Head,
    asked: BlockRange,
    stop: &watch::Receiver<bool>,
) -> Result<(Ending, Proof), StoreError> {
    let mut proof = Proof::default();
    let inspection = Inspection {
        depth: Depth::Full,
        on_refusal: OnRefusal::Quarantine,
        source: "tables",
        run: writer.run().to_owned(),
        rules: Arc::default(),
    };
    let mut links = Links::new(&[]);
    for range in head.blocks.settled().within(asked) {
        for chunk in chunks(range) {
            if *stop.borrow() {
                return Ok((Ending::Stopped, proof));
            }
            let found = prove_chunk(reader, &inspection, &mut links, &head.withdrawals, chunk, &mut proof).await?;
            let token = format!("{}/verify/{chunk}", writer.run());
            let batch = verdicts(found);
            patiently(|| writer.insert("block_verdicts", &batch, &token)).await?;
        }
        let sums = patiently(|| reader.stored_orders(range)).await?;
        proof.refused.extend(sums.as_chunks::<2>().0.iter().filter_map(|pair| differing(range, pair)));
    }
    Ok((Ending::Complete, proof))
}

fn chunks(range: BlockRange) -> impl Iterator<Item = BlockRange> {
    let size = usize::try_from(CHUNK).unwrap_or(usize::MAX);
    let firsts = (range.first()..=range.last()).step_by(size);
    firsts.filter_map(move |first| BlockRange::new(first, first.saturating_add(CHUNK - 1).min(range.last())))
}

async fn prove_chunk(
    reader: &Reader,
    inspection: &Inspection,
    links: &mut Links,
    known_withdrawals: &Coverage,
    chunk: BlockRange,
    proof: &mut Proof,
) -> Result<Vec<VerdictRow>, StoreError> {
    let stored = patiently(|| reader.stored(chunk)).await?;
    let known_withdrawals = known_withdrawals.clone();
    let checked = tokio::task::spawn_blocking(move || {
        blocks(stored, &known_withdrawals)
            .into_iter()
            .map(|block| (Link::of(&block), verify(&block, Depth::Full)))
            .collect::<Vec<_>>()
    });
    let checked = checked.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    let mut found = Vec::with_capacity(checked.len());
    let mut expected = chunk.first();
    for (link, outcome) in checked {
        refuse_gap(chunk, expected, link.number, proof);
        expected = link.number + 1;
        proof.blocks += 1;
        let outcome = outcome.and_then(|mut outcome| links.check(link, &mut outcome).map(|()| outcome));
        found.push(verdict(inspection, link, outcome, proof));
    }
    refuse_gap(chunk, expected, chunk.last() + 1, proof);
    Ok(found)
}

/// A committed block without a row, or with two.
fn refuse_gap(chunk: BlockRange, expected: u64, found: u64, proof: &mut Proof) {
    if expected != found {
        proof.refused.push(format!("blocks {chunk}: a row of block {expected} was expected, and {found} came next"));
    }
}

fn verdict(
    inspection: &Inspection,
    link: Link,
    outcome: Result<Outcome, VerifyError>,
    proof: &mut Proof,
) -> VerdictRow {
    match outcome {
        Ok(outcome) => {
            let row = inspection.verdict(link.number, link.hash, &outcome);
            if row.verdict == "verified" {
                proof.verified += 1;
            } else {
                proof.partial += 1;
            }
            row
        }
        Err(error) => {
            proof.refused.push(error.to_string());
            inspection.refusal(link.number, link.hash, error.check.name(), error.expected, error.found)
        }
    }
}

/// Says which of two tables that should hold the same rows differs, if they do.
fn differing(range: BlockRange, [one, other]: &[TableSum; 2]) -> Option<String> {
    (one.rows != other.rows || one.checksum != other.checksum).then(|| {
        format!(
            "blocks {range}: `{}` and `{}` should hold the same rows: {} rows with checksum {:016x}, and {} with {:016x}",
            one.name, other.name, one.rows, one.checksum, other.rows, other.checksum
        )
    })
}
