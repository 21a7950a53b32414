//! Proves again what is stored, from the tables alone: `trawl-ingest verify`.

use std::sync::Arc;

use tokio::sync::watch;
use trawl_chains::Family;
use trawl_core::primitives::BlockRange;
use trawl_core::schema::VerdictRow;
use trawl_core::store::{COMPARED_TABLES, Head, Reader, RowComparison, StoreError, TableDifference, Writer};

use crate::audit::read_back::{KnownParts, StoredBlock, blocks};
use crate::load::pipeline::Ending;
use crate::load::prepare::{Inspection, OnRefusal};
use crate::verify::links::{Link, Links};
use crate::verify::{Check, Depth, Outcome, VerifyError, verify};
use crate::write::batch::verdicts;
use crate::write::retry::retry_transient;

mod own_types;
pub mod read_back;
pub mod status;

/// Blocks read at once; their rows are what is in memory.
const CHUNK_BLOCKS: u64 = 100;

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proof {
    /// Blocks that were looked at.
    pub blocks: u64,
    /// Blocks whose rows are all proven.
    pub verified: u64,
    /// Blocks of which some checks could not run.
    pub partial: u64,
    /// How many things do not hold; a block each, or some heights of a pair of tables.
    pub refused: usize,
}

/// Gets each contradiction as text, at once.
pub type Report<'a> = &'a mut (dyn FnMut(&str) + Send);

/// What was found so far, and where it is reported.
struct Findings<'a> {
    proof: Proof,
    report: Report<'a>,
}

impl Findings<'_> {
    fn refuse(&mut self, what: &str) {
        self.proof.refused += 1;
        (self.report)(what);
    }
}

/// Proves the committed blocks of `requested` and records a verdict for each; then compares the tables that hold the
/// same in several orders. Ends early if `stop` becomes true.
pub async fn audit(
    reader: &Reader,
    writer: &Writer,
    head: &Head,
    requested: BlockRange,
    stop: &watch::Receiver<bool>,
    report: Report<'_>,
) -> Result<(Ending, Proof), StoreError> {
    let mut findings = Findings { proof: Proof::default(), report };
    let family = head.chain_id.map(|chain_id| trawl_chains::of_chain(chain_id, head.family.as_deref()));
    let known = Arc::new(KnownParts {
        receipts: head.receipts.settled().clone(),
        withdrawals: head.withdrawals.settled().clone(),
        uncles: head.uncles.settled().clone(),
    });
    let inspection = Inspection {
        depth: Depth::Full,
        on_refusal: OnRefusal::Quarantine,
        source: "tables",
        run: writer.run().to_owned(),
        rules: Arc::default(),
        family,
    };
    let ranges: Vec<BlockRange> = head.blocks.settled().within(requested);
    for range in &ranges {
        let below = range.first().checked_sub(1).filter(|below| head.blocks.settled().contains(*below));
        let mut links = Links::new(&[]);
        if let Some(below) = stored_link(reader, below, family).await? {
            links.remember(below);
        }
        for chunk in chunks(*range) {
            if *stop.borrow() {
                return Ok((Ending::Stopped, findings.proof));
            }
            let found = prove_chunk(reader, &inspection, &mut links, &known, chunk, &mut findings).await?;
            let token = format!("{}/verify/{chunk}", writer.run());
            let batch = verdicts(found);
            retry_transient(|| writer.insert("block_verdicts", &batch.rows, &token)).await?;
        }
    }
    for compared in COMPARED_TABLES {
        if *stop.borrow() {
            return Ok((Ending::Stopped, findings.proof));
        }
        for difference in retry_transient(|| reader.differences(*compared, &ranges)).await? {
            findings.refuse(&differing(*compared, &difference));
        }
    }
    Ok((Ending::Complete, findings.proof))
}

/// The stored block that the first one goes on from; what lies `below` a range is proven with its own range.
async fn stored_link(reader: &Reader, below: Option<u64>, family: Option<&Family>) -> Result<Option<Link>, StoreError> {
    let Some(below) = below else { return Ok(None) };
    let stored = retry_transient(|| reader.stored(BlockRange::single(below))).await?;
    let found = blocks(stored, &KnownParts::default()).into_iter().next();
    Ok(found.map(|found| Link::of(&found.block, family.unwrap_or(&trawl_chains::ETHEREUM))))
}

fn chunks(range: BlockRange) -> impl Iterator<Item = BlockRange> {
    let size = usize::try_from(CHUNK_BLOCKS).unwrap_or(usize::MAX);
    let firsts = (range.first()..=range.last()).step_by(size);
    firsts.filter_map(move |first| BlockRange::new(first, first.saturating_add(CHUNK_BLOCKS - 1).min(range.last())))
}

async fn prove_chunk(
    reader: &Reader,
    inspection: &Inspection,
    links: &mut Links,
    known: &Arc<KnownParts>,
    chunk: BlockRange,
    findings: &mut Findings<'_>,
) -> Result<Vec<VerdictRow>, StoreError> {
    let stored = retry_transient(|| reader.stored(chunk)).await?;
    let (known, of_chain) = (Arc::clone(known), inspection.family);
    let checked = tokio::task::spawn_blocking(move || {
        let prove = |stored: StoredBlock| {
            let family = of_chain.or_else(|| stored.block.family()).unwrap_or(&trawl_chains::ETHEREUM);
            let link = Link::of(&stored.block, family);
            let outcome = verify(&stored.block, Depth::Full, family).and_then(|mut outcome| {
                own_types::verify_own_types(&stored.block)?;
                stored.check_rows(family)?;
                outcome.passed(Check::Rows);
                Ok(outcome)
            });
            (link, outcome)
        };
        blocks(stored, &known).into_iter().map(prove).collect::<Vec<_>>()
    });
    let checked = checked.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
    let mut found = Vec::with_capacity(checked.len());
    let mut expected = chunk.first();
    for (link, outcome) in checked {
        refuse_gap(chunk, expected, link.number, findings);
        expected = link.number + 1;
        findings.proof.blocks += 1;
        let outcome = outcome.and_then(|mut outcome| links.check(link, &mut outcome).map(|()| outcome));
        found.push(verdict(inspection, link, outcome, findings));
    }
    refuse_gap(chunk, expected, chunk.last() + 1, findings);
    Ok(found)
}

/// A committed block without a row, or with two.
fn refuse_gap(chunk: BlockRange, expected: u64, found: u64, findings: &mut Findings<'_>) {
    if expected != found {
        findings.refuse(&format!("blocks {chunk}: a row of block {expected} was expected, and {found} came next"));
    }
}

fn verdict(
    inspection: &Inspection,
    link: Link,
    outcome: Result<Outcome, VerifyError>,
    findings: &mut Findings<'_>,
) -> VerdictRow {
    match outcome {
        Ok(outcome) => {
            let row = inspection.verdict(link.number, link.hash, &outcome);
            if row.verdict == "verified" {
                findings.proof.verified += 1;
            } else {
                findings.proof.partial += 1;
            }
            row
        }
        Err(error) => {
            findings.refuse(&error.to_string());
            inspection.refusal(link.number, link.hash, error.check.name(), error.expected, error.found)
        }
    }
}

/// The text for a table that does not have the rows that follow from another.
fn differing(compared: RowComparison, found: &TableDifference) -> String {
    let RowComparison { one, other, .. } = compared;
    let TableDifference { first_block, last_block, one_rows, one_checksum, other_rows, other_checksum } = found;
    format!(
        "blocks {first_block}-{last_block}: `{one}` and `{other}` should hold the same rows: {one_rows} rows with \
         checksum {one_checksum:016x}, and {other_rows} with {other_checksum:016x}"
    )
}
