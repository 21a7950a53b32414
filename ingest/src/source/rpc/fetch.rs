//! One block with everything that belongs to it: block, receipts, uncles, call frames, state.

use serde_json::value::RawValue;
use serde_json::{Value, json};
use trawl_chains::NodeQuirks;
use trawl_core::primitives::BlockNumber;
use trawl_node::{ErrorKind, Failure, MAX_BATCH, NodeClient, NodeError};

use super::age::BlockAge;
use super::answer::present;
use super::canonical::CanonicalStatus;
use super::horizon::{Bisection, MissingPart};
use super::progress::Progress;
use super::state::{StateOutcome, StateTracing};
use super::traces::{TraceCalls, TraceOutcome};
use crate::decode::{self, BlockParts, BlockPeek, ReceiptsFit};
use crate::source::{RawBlock, RawBody, SourceError};

/// The method that gives all receipts of a block.
const BLOCK_RECEIPTS: &str = "eth_getBlockReceipts";

/// How many blocks are passed over for one with transactions, which alone shows whether a node has a part.
const MAX_EMPTY_BLOCKS: u64 = 16;

/// The nodes, and the parts that they are known to have.
pub(super) struct Node {
    pub client: NodeClient,
    pub state: StateTracing,
    pub traces: TraceCalls,
    pub quirks: NodeQuirks,
}

impl Node {
    /// One block with everything that belongs to it.
    pub async fn block(&self, number: BlockNumber, age: BlockAge) -> Result<RawBlock, SourceError> {
        let progress = Progress::new(age);
        let parts = loop {
            let (parts, peek) = self.traced(number, &progress).await?;
            let stated = match self.state.is_worth(number, age) {
                true => self.state.add(&self.client, &peek, parts).await?,
                false => StateOutcome::Known(parts),
            };
            match stated {
                StateOutcome::Known(parts) => break parts,
                StateOutcome::Lacking(parts, failure) => {
                    if self.state.horizon.lacked(number, &failure) {
                        self.state.horizon.found(self.lowest_with(HorizonSearch::State, number).await);
                    }
                    break parts;
                }
                // The chain has another block there by now.
                StateOutcome::Replaced(parts) if progress.disagreement().is_none() => break parts,
                StateOutcome::Replaced(_) => {}
            }
        };
        Ok(RawBlock { body: RawBody::Parts(Box::new(parts)), position: 0 })
    }

    /// Whether a block is below the horizon of a part.
    pub fn lacks(&self, part: &str, block: BlockNumber) -> bool {
        [&self.traces.horizon, &self.state.horizon].iter().any(|horizon| horizon.is_of(part) && horizon.is_above(block))
    }

    /// The parts that no node had for the last requested block.
    pub fn missing_parts(&self) -> Vec<MissingPart> {
        [&self.traces.horizon, &self.state.horizon].iter().filter_map(|horizon| horizon.missing()).collect()
    }

    /// Logs missing parts, unless that was done.
    pub fn finish(&self) {
        self.traces.horizon.finish();
        self.state.horizon.finish();
    }

    /// A block with its call frames, as far as nodes have them.
    async fn traced(&self, number: BlockNumber, progress: &Progress) -> Result<(BlockParts, BlockPeek), SourceError> {
        let is_worth = self.traces.horizon.is_worth(number, progress.age());
        match self.client.with_failover(|| self.attempt(number, is_worth, progress)).await {
            Ok((parts, peek)) => {
                if is_worth && !peek.transactions.is_empty() {
                    self.traces.horizon.had(number);
                }
                Ok((parts, peek))
            }
            Err(exhausted) => match progress.take() {
                // Only the traces were still to come.
                Some(bare) if self.traces.can_do_without(&exhausted.failure) => {
                    if self.traces.horizon.lacked(number, &exhausted.failure) {
                        self.traces.horizon.found(self.lowest_with(HorizonSearch::Traces, number).await);
                    }
                    Ok(bare)
                }
                _ => Err(exhausted.of(&format!("block {number}")).into()),
            },
        }
    }

    /// The block with its traces. Answers of earlier attempts are reused as long as they belong together.
    async fn attempt(
        &self,
        number: BlockNumber,
        with_traces: bool,
        progress: &Progress,
    ) -> Result<(BlockParts, BlockPeek), Failure> {
        let peek = match progress.peek() {
            // While its traces were waited for, the chain may have got another one.
            Some(peek) if progress.age() == BlockAge::New => match CanonicalStatus::of(&self.client, &peek).await? {
                CanonicalStatus::Replaced => return Err(progress.replaced()),
                CanonicalStatus::New | CanonicalStatus::Old => peek,
            },
            Some(peek) => peek,
            None => {
                // All of a block comes from one node where that is possible.
                if with_traces && self.client.only_others_have(&self.traces.ways()) {
                    return Err(Failure::unsupported("it returns no traces"));
                }
                let (parts, peek) = self.bare(number, progress).await?;
                progress.keep(parts, peek.clone());
                peek
            }
        };
        let traces = match with_traces {
            true => self.traces_of(&peek, progress).await?,
            false => None,
        };
        let (parts, peek) = progress.take().ok_or_else(|| Failure::transient("the block is gone"))?;
        match traces {
            Some((part, traces)) => Ok((parts.with(part, traces), peek)),
            None => Ok((parts, peek)),
        }
    }

    /// The traces of the pending block.
    async fn traces_of(
        &self,
        peek: &BlockPeek,
        progress: &Progress,
    ) -> Result<Option<(decode::Part, Box<RawValue>)>, Failure> {
        match self.traces.of(&self.client, peek).await.map_err(|failure| progress.heed(failure))? {
            TraceOutcome::Part(part, traces) => Ok(Some((part, traces))),
            // After the fourth they are handed on, to be refused by name.
            TraceOutcome::OfAnotherBlock(part, traces) => match progress.disagreement() {
                Some(count) => Err(progress.start_again("its traces are not those of its block", count)),
                None => Ok(Some((part, traces))),
            },
            TraceOutcome::UnknownBlock(cause) => match CanonicalStatus::of(&self.client, peek).await? {
                CanonicalStatus::Replaced => Err(progress.replaced()),
                CanonicalStatus::New => Err(Failure::unknown_block(cause)),
                CanonicalStatus::Old => Err(Failure::pruned(cause)),
            },
            TraceOutcome::Nothing => Ok(None),
        }
    }

    /// The block without its traces and its state.
    async fn bare(&self, number: BlockNumber, progress: &Progress) -> Result<(BlockParts, BlockPeek), Failure> {
        let height = json!(format!("{number:#x}"));
        let mut calls = vec![("eth_getBlockByNumber", json!([height, true]))];
        if self.client.missing(BLOCK_RECEIPTS).is_none() {
            calls.push((BLOCK_RECEIPTS, json!([height])));
        }
        let mut answers = self.client.batch(&calls).await?.into_iter();
        let block = match answers.next() {
            // At the head it is not waited for: the chain may have become shorter.
            Some(Ok(value)) if value.get() == "null" && progress.age() == BlockAge::New => {
                return Err(Failure::unknown_block("the block is not there"));
            }
            answer => present(answer, "the block is not there yet")?,
        };
        let peek = decode::peek_block(&block).map_err(|error| Failure::transient(trawl_core::error_chain(&error)))?;
        if peek.number != number {
            return Err(Failure::transient(format!("it answered with block {}", peek.number)));
        }
        let receipts = match answers.next() {
            Some(Err(error)) if error.kind() == ErrorKind::NoMethod => {
                self.client.mark_missing(BLOCK_RECEIPTS, &error.message);
                self.receipts(&peek, self.absent_receipt(progress.age())).await?
            }
            // A block whose receipts are too much for one answer, or which the node cannot put together.
            Some(Err(error)) if matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::Inconsistent) => {
                self.receipts(&peek, self.absent_receipt(progress.age())).await?
            }
            None => self.receipts(&peek, self.absent_receipt(progress.age())).await?,
            answer => self.completed(present(answer, "the receipts are not there yet")?, &peek, progress.age()).await?,
        };
        // The two answers may be of different branches if the node switches in between; verification decides.
        let fit = decode::receipts_fit(&receipts, &peek)
            .map_err(|error| Failure::transient(trawl_core::error_chain(&error)))?;
        let is_fit = match fit {
            ReceiptsFit::Whole => true,
            ReceiptsFit::Fewer => self.may_lack_receipts(progress.age()),
            ReceiptsFit::More => self.quirks.system_receipts.is_some(),
            ReceiptsFit::WithBlockReceipt => {
                self.quirks.system_receipts.is_some() || self.quirks.block_receipt.is_some()
            }
            ReceiptsFit::Other => false,
        };
        if let Some(count) = (!is_fit).then(|| progress.disagreement()).flatten() {
            return Err(Failure::inconsistent("its receipts are not those of its block", count));
        }
        let uncles = self.uncles(json!(peek.hash), peek.uncles).await?;
        Ok((BlockParts::new(block, receipts, uncles), peek))
    }

    /// Whether a receipt that is not there will never be: nodes of some chains have none of some transactions.
    fn may_lack_receipts(&self, age: BlockAge) -> bool {
        age == BlockAge::Final && self.quirks.missing_receipts.is_some()
    }

    fn absent_receipt(&self, age: BlockAge) -> AbsentReceipt {
        if self.may_lack_receipts(age) { AbsentReceipt::LeftOut } else { AbsentReceipt::NotYet }
    }

    /// A list of receipts; where the node leaves some out of it, those that it gives one by one (Erigon on Polygon).
    async fn completed(
        &self,
        receipts: Box<RawValue>,
        block: &BlockPeek,
        age: BlockAge,
    ) -> Result<Box<RawValue>, Failure> {
        let fit = decode::receipts_fit(&receipts, block);
        if !matches!(fit, Ok(ReceiptsFit::Fewer)) || self.may_lack_receipts(age) {
            return Ok(receipts);
        }
        let single = self.receipts(block, AbsentReceipt::LeftOut).await?;
        Ok(if matches!(decode::receipts_fit(&single, block), Ok(ReceiptsFit::Whole)) { single } else { receipts })
    }

    /// Receipts of a block, one call per transaction.
    async fn receipts(&self, block: &BlockPeek, absent: AbsentReceipt) -> Result<Box<RawValue>, Failure> {
        let mut receipts = Vec::with_capacity(block.transactions.len());
        for some in block.transactions.chunks(MAX_BATCH) {
            let calls: Vec<_> = some.iter().map(|hash| ("eth_getTransactionReceipt", json!([hash]))).collect();
            for answer in self.client.batch(&calls).await? {
                let receipt = match answer {
                    Ok(null) if null.get() == "null" && absent == AbsentReceipt::LeftOut => null,
                    answer => present(Some(answer), "a receipt is not there yet")?,
                };
                receipts.push(receipt);
            }
        }
        list(&receipts)
    }

    /// Headers of a block's uncles, in order.
    async fn uncles(&self, block_hash: Value, count: usize) -> Result<Box<RawValue>, Failure> {
        let calls: Vec<_> = (0..count)
            .map(|index| ("eth_getUncleByBlockHashAndIndex", json!([block_hash, format!("{index:#x}")])))
            .collect();
        let answers = if calls.is_empty() { Vec::new() } else { self.client.batch(&calls).await? };
        let uncles = answers.into_iter().map(|answer| present(Some(answer), "an uncle is not there yet"));
        list(&uncles.collect::<Result<Vec<_>, _>>()?)
    }
}

/// The state of a receipt that a node does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AbsentReceipt {
    /// It is not available yet.
    NotYet,
    /// It will never be available.
    LeftOut,
}

/// A part whose [horizon](super::horizon) is searched for.
#[derive(Debug, Clone, Copy)]
enum HorizonSearch {
    Traces,
    State,
}

impl Node {
    /// The lowest block above `lacking` of which nodes have a part.
    async fn lowest_with(&self, part: HorizonSearch, lacking: BlockNumber) -> Result<Option<BlockNumber>, String> {
        let looked = async {
            let newest = self.client.quantity("eth_blockNumber").await?;
            let mut bisection = Bisection::new(lacking, newest);
            while let Some(number) = bisection.next() {
                let has_part = match self.with_transactions(number, newest).await? {
                    Some(block) => self.has(part, &block).await?,
                    // No block to check: the part is assumed, and the node refuses it if it has none.
                    None => true,
                };
                bisection.note(number, has_part);
            }
            Ok(bisection.lowest())
        };
        looked.await.map_err(|error: NodeError| trawl_core::error_chain(&error))
    }

    /// The first block with transactions from a height on, at most so far.
    async fn with_transactions(&self, from: BlockNumber, to: BlockNumber) -> Result<Option<BlockPeek>, NodeError> {
        for number in from..=to.min(from + MAX_EMPTY_BLOCKS) {
            let peek = self.client.retry("a block", || async {
                let calls = [("eth_getBlockByNumber", json!([format!("{number:#x}"), true]))];
                let block = present(self.client.batch(&calls).await?.pop(), "the block is not there yet")?;
                decode::peek_block(&block).map_err(|error| Failure::transient(trawl_core::error_chain(&error)))
            });
            let peek = peek.await?;
            if !peek.transactions.is_empty() {
                return Ok(Some(peek));
            }
        }
        Ok(None)
    }

    async fn has(&self, part: HorizonSearch, block: &BlockPeek) -> Result<bool, NodeError> {
        match part {
            HorizonSearch::State => self.state.is_there(&self.client, block).await,
            HorizonSearch::Traces => match self.client.with_failover(|| self.traces.of(&self.client, block)).await {
                Ok(TraceOutcome::Part(..) | TraceOutcome::OfAnotherBlock(..)) => Ok(true),
                Ok(TraceOutcome::UnknownBlock(_) | TraceOutcome::Nothing) => Ok(false),
                Err(exhausted) if exhausted.failure.is_about_the_call() => Ok(false),
                Err(exhausted) => Err(exhausted.of("traces")),
            },
        }
    }
}

/// Answers as one list.
fn list(answers: &[Box<RawValue>]) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(answers).map_err(|error| Failure::transient(error.to_string()))
}
