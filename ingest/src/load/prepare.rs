//! One block from what a source gave to what a batch takes: decoded, checked, turned into rows.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use trawl_chains::{ETHEREUM, Family, LEFT_OUT};
use trawl_core::primitives::B256;
use trawl_core::schema::VerdictRow;
use trawl_metrics::queue::PipelineQueue;

use crate::block::{Block, Parts};
use crate::decode::{decode, decode_parts};
use crate::load::error::LoadError;
use crate::load::post_states::remove_unhashed_outcomes;
use crate::load::receipt_versions::verify_any_version;
use crate::load::rollup_fees::{ReceiptForm, lack_unknown_fees};
use crate::load::uncles::{complete_uncles, forget_incomplete, forget_unproven};
use crate::rows::rows;
use crate::source::{BlockSource, RawBlock, RawBody, SourceError};
use crate::state::rules::Rules;
use crate::verify::links::{Link, Links};
use crate::verify::{Check, Depth, Outcome, VerifyError};
use crate::write::batch::BlockRows;
use crate::write::clock::now;

/// What to do with a block that is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRefusal {
    /// End the load.
    Stop,
    /// Record the refusal and go on; the block stays a gap.
    Quarantine,
}

/// How blocks are checked, and what verdicts record about the load.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// How much is checked.
    pub depth: Depth,
    /// What a refusal leads to.
    pub on_refusal: OnRefusal,
    /// Kind of source.
    pub source: &'static str,
    /// Name of the run, as `ingest_commits` has it.
    pub run: String,
    /// What is known of the chain beyond its blocks.
    pub rules: Arc<Rules>,
    /// The family of the chain; `None` if the chain is not known before its blocks, each of which then names it.
    pub family: Option<&'static Family>,
}

/// A block ready for a batch.
#[derive(Debug)]
pub(crate) struct PreparedBlock {
    pub rows: BlockRows,
    pub link: Link,
    pub outcome: Outcome,
    pub chain_id: Option<u64>,
    pub parts: Parts,
    pub bytes: usize,
    pub position: u64,
}

impl PreparedBlock {
    /// Takes back a total difficulty that its node does not keep.
    fn forget_total_difficulty(&mut self) {
        self.link.total_difficulty = None;
        self.rows.blocks.iter_mut().for_each(|row| row.total_difficulty = None);
        self.outcome.not_checkable(Check::TotalDifficulty, LEFT_OUT);
    }
}

/// What became of a block.
#[derive(Debug)]
pub(crate) enum BlockOutcome {
    Prepared(Box<PreparedBlock>),
    /// Refused and set aside: its verdict is all there is of it.
    Quarantined {
        number: u64,
        verdict: Box<VerdictRow>,
    },
}

impl Inspection {
    /// The blocks of a source, prepared in their order, at most `at_once` of them at a time and each on a thread of its
    /// own.
    pub(crate) fn prepared(
        self: &Arc<Self>,
        source: impl BlockSource,
        at_once: usize,
    ) -> BoxStream<'static, Result<BlockOutcome, LoadError>> {
        let (inspection, at_once) = (Arc::clone(self), at_once.max(1));
        PipelineQueue::Check.show_capacity(at_once);
        let prepare = move |raw: Result<RawBlock, SourceError>| {
            let (inspection, queued) = (Arc::clone(&inspection), PipelineQueue::Check.enter());
            async move {
                let prepared = tokio::task::spawn_blocking(move || inspection.prepare(raw?));
                (prepared.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())), queued)
            }
        };
        source.into_blocks().map(prepare).buffered(at_once).map(|(prepared, _queued)| prepared).boxed()
    }

    /// Decodes, checks and turns into rows; on a thread that may be busy.
    pub(crate) fn prepare(&self, raw: RawBlock) -> Result<BlockOutcome, LoadError> {
        let position = raw.position;
        match self.inspect(raw) {
            Ok(mut prepared) => {
                prepared.position = position;
                Ok(BlockOutcome::Prepared(Box::new(prepared)))
            }
            Err(error) => self.refused(error, None),
        }
    }

    fn inspect(&self, raw: RawBlock) -> Result<PreparedBlock, LoadError> {
        let has_columns = matches!(raw.body, RawBody::Block(_));
        let mut block = match raw.body {
            RawBody::Json(text) => decode(&text)?,
            RawBody::Parts(parts) => decode_parts(&parts)?,
            RawBody::Block(block) => *block,
        };
        let number = block.header.number;
        let family = self.family.or_else(|| block.family()).ok_or(LoadError::UnknownChain { number })?;
        let removed = block.remove_system_receipts(family);
        block.separate_block_receipt(family);
        forget_unproven(&mut block, family);
        complete_uncles(&mut block);
        remove_unhashed_outcomes(&mut block, family);
        let verified = verify_any_version(&mut block, self.depth, family);
        let mut outcome = verified.inspect_err(|_| self.warn_of_unlisted(&block, family))?;
        forget_incomplete(&mut block);
        let form = if has_columns { ReceiptForm::Columns } else { ReceiptForm::Json };
        lack_unknown_fees(&mut block, family, form);
        if removed > 0 {
            let reason = format!("{removed} receipts of system transactions that are not in the block are left out");
            outcome.not_checkable(Check::OutsideRoots, &reason);
        }
        if let (Some(receipt), Some(reason)) = (&block.block_receipt, family.quirks.block_receipt) {
            let reason = format!("{reason}: {} are left out", receipt.logs.len());
            outcome.not_checkable(Check::OutsideRoots, &reason);
        }
        block.header.size = block.header.size.or(outcome.size);
        self.rules.complete(&mut block, family)?;
        prepared(block, family, outcome)
    }

    /// Says that a refused block may follow other rules than those that it was checked by: of an unlisted chain those
    /// are Ethereum's.
    fn warn_of_unlisted(&self, block: &Block, family: &Family) {
        let unlisted = block.chain_id().filter(|id| trawl_chains::listed(*id).is_none() && *family == ETHEREUM);
        if let Some(chain_id) = unlisted.filter(|_| self.on_refusal == OnRefusal::Stop) {
            tracing::warn!(
                chain_id,
                "the chain is not listed, so its blocks are checked by Ethereum's rules; --chain-family names others"
            );
        }
    }

    /// Counts a block that failed a check. One that does not follow from the block below it is no fault of a node that
    /// is followed: its chain has changed meanwhile.
    fn count_refusal(&self, error: &LoadError) {
        let check = match (error, self.on_refusal) {
            (LoadError::Verify(VerifyError { check: Check::ParentHash, .. }), OnRefusal::Stop) => return,
            (LoadError::Verify(error), _) => error.check.name(),
            (LoadError::Decode(_), _) => "decode",
            _ => return,
        };
        metrics::counter!("trawl_ingest_refused_blocks_total", "check" => check).increment(1);
    }

    /// Ends the load, or sets the block aside if it may and the height is known.
    fn refused(&self, error: LoadError, hash: Option<B256>) -> Result<BlockOutcome, LoadError> {
        self.count_refusal(&error);
        let (number, check, expected, found) = match (&error, self.on_refusal) {
            (LoadError::Verify(VerifyError { number, check, expected, found }), OnRefusal::Quarantine) => {
                (*number, check.name(), expected.clone(), found.clone())
            }
            (LoadError::Decode(broken), OnRefusal::Quarantine) => match broken.number() {
                Some(number) => (number, "decoding", "a block".into(), trawl_core::error_chain(broken)),
                None => return Err(error),
            },
            _ => return Err(error),
        };
        tracing::warn!(error = %trawl_core::error_chain(&error), "a block is quarantined");
        let verdict = self.refusal(number, hash.unwrap_or_default(), check, expected, found);
        Ok(BlockOutcome::Quarantined { number, verdict: Box::new(verdict) })
    }

    /// The checks that need the neighbours; then the verdict is complete.
    pub(crate) fn link(&self, mut prepared: Box<PreparedBlock>, links: &mut Links) -> Result<BlockOutcome, LoadError> {
        let (hash, unchanged) = (prepared.link.hash, links.unchanged_sum(prepared.link));
        if links.is_left_out(prepared.link) {
            prepared.forget_total_difficulty();
        }
        if let Err(error) = links.check(prepared.link, &mut prepared.outcome) {
            return self.refused(error.into(), Some(hash));
        }
        prepared.link.total_difficulty = prepared.link.total_difficulty.or(unchanged);
        let verdict = self.verdict(prepared.link.number, prepared.link.hash, &prepared.outcome);
        prepared.rows.block_verdicts.push(verdict);
        Ok(BlockOutcome::Prepared(prepared))
    }

    /// The row with the reason of a refusal.
    pub(crate) fn refusal(
        &self,
        number: u64,
        hash: B256,
        check: &'static str,
        expected: String,
        found: String,
    ) -> VerdictRow {
        VerdictRow {
            verdict: "refused".into(),
            failed_check: check.into(),
            expected,
            found,
            ..self.verdict(number, hash, &Outcome::default())
        }
    }

    /// The row with what was proven of a block.
    pub(crate) fn verdict(&self, number: u64, hash: B256, outcome: &Outcome) -> VerdictRow {
        VerdictRow {
            block_number: number,
            block_hash: hash,
            verdict: outcome.verdict(self.depth).into(),
            checked: outcome.checked(),
            not_checkable: outcome.impossible(),
            failed_check: String::new(),
            expected: String::new(),
            found: String::new(),
            source: self.source.into(),
            run: self.run.clone(),
            decided_at: now(),
        }
    }
}

fn prepared(block: Block, family: &Family, outcome: Outcome) -> Result<PreparedBlock, LoadError> {
    let number = block.header.number;
    Ok(PreparedBlock {
        link: Link::of(&block, family),
        outcome,
        chain_id: block.chain_id(),
        parts: block.parts(),
        bytes: block.source_bytes,
        position: 0,
        rows: rows(block, family).map_err(|source| LoadError::Timestamp { number, source })?,
    })
}
