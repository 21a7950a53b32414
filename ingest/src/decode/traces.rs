//! Traces as nodes write them to frames in one shape (see [`crate::block::trace`]).
//!
//! A line may hold both forms of the same traces. `trace_block`'s is taken then: it alone has rewards and the gas that
//! the outermost frame really got, and its names are those of the raw-trace endpoint.

mod call_tracer;
mod trace_block;

use serde::de::Error as _;
use serde_json::value::RawValue;
use trawl_chains::state_sync_hash;
use trawl_core::primitives::B256;

use super::error::{DecodeError, unreadable};
use super::json::Line;
use super::peek::BlockPeek;
use crate::block::trace::{RootGas, Traces, TransactionTrace};

/// The block that traces are of.
#[derive(Debug, Clone, Copy)]
pub(super) struct TracedBlock {
    pub number: u64,
    pub hash: B256,
    /// Number of its transactions.
    pub transactions: usize,
    pub last_transaction: Option<B256>,
}

impl From<&BlockPeek> for TracedBlock {
    fn from(peek: &BlockPeek) -> Self {
        let last_transaction = peek.transactions.last().copied();
        Self { number: peek.number, hash: peek.hash, transactions: peek.transactions.len(), last_transaction }
    }
}

/// Reads the traces of a block, if the line has any.
pub(super) fn traces(block: TracedBlock, line: &Line<'_>) -> Result<Option<Traces>, DecodeError> {
    let unreadable = |source| unreadable(block.number, "traces", source);
    if let Some(flat) = line.parity_traces {
        let found = trace_block::read(flat, line.parity_rewards, block.transactions).map_err(unreadable)?;
        return Ok(Some(Traces {
            root_gas: RootGas::OfExecution,
            transactions: found.transactions,
            rewards: Some(found.rewards),
        }));
    }
    let Some(trees) = line.traces else { return Ok(None) };
    let transactions = call_traces(trees, block).map_err(unreadable)?;
    Ok(Some(Traces { root_gas: RootGas::OfNode, transactions, rewards: None }))
}

/// Reads an answer of `callTracer`. Nodes give no entry for a state sync: it is executed outside of the block, so it
/// has no frames.
fn call_traces(trees: &RawValue, block: TracedBlock) -> Result<Vec<TransactionTrace>, serde_json::Error> {
    let mut traces = call_tracer::read(trees)?;
    let ends_with_sync = block.last_transaction == Some(state_sync_hash(block.number, &block.hash));
    if ends_with_sync && traces.len() + 1 == block.transactions {
        traces.push(TransactionTrace::default());
    }
    Ok(traces)
}

/// Whether an answer of `trace_block` is of the block of `peek`.
pub fn traces_fit(answer: &RawValue, peek: &BlockPeek) -> Result<bool, DecodeError> {
    let unreadable = |source| unreadable(peek.number, "traces", source);
    // What cannot be read as the traces of this block may be those of another.
    let is_ours = trace_block::are_of(answer, peek.hash).map_err(unreadable)?;
    if is_ours {
        trace_block::read(answer, None, peek.transactions.len()).map_err(unreadable)?;
    }
    Ok(is_ours)
}

/// Whether an answer of `callTracer` is of the transactions of the block of `peek`; one for each, or it is an error.
pub fn call_traces_fit(answer: &RawValue, peek: &BlockPeek) -> Result<bool, DecodeError> {
    let unreadable = |source| unreadable(peek.number, "traces", source);
    let traces = call_traces(answer, peek.into()).map_err(unreadable)?;
    let named =
        || traces.iter().zip(&peek.transactions).filter_map(|(trace, hash)| Some((trace.transaction_hash?, hash)));
    if named().any(|(found, hash)| found != *hash) {
        return Ok(false);
    }
    if traces.len() != peek.transactions.len() {
        let found = format!("there are {} of {} transactions", traces.len(), peek.transactions.len());
        return Err(unreadable(serde_json::Error::custom(found)));
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::{BufRead, BufReader};

    use flate2::read::MultiGzDecoder;
    use serde::Deserialize;
    use serde_json::Value;
    use trawl_core::primitives::Address;

    use super::*;
    use crate::block::trace::{Frame, FrameKind};

    #[derive(Deserialize)]
    struct RecordedFrame {
        number: u64,
        result: Box<RawValue>,
    }

    /// Answers of mainnet nodes of several kinds and years, with where they are from.
    fn recorded(method: &str) -> BTreeMap<u64, Box<RawValue>> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/mainnet/traces");
        let file = std::fs::File::open(format!("{folder}/{method}.ndjson.gz")).expect("the fixture");
        let lines = BufReader::new(MultiGzDecoder::new(file)).lines();
        let recorded = lines.map(|line| serde_json::from_str(&line.expect("text")).expect("JSON"));
        recorded.map(|RecordedFrame { number, result }| (number, result)).collect()
    }

    fn flat(answer: &RawValue) -> trace_block::FlatTraces {
        let entries: Vec<Value> = serde_json::from_str(answer.get()).expect("an array");
        let transactions = entries.iter().filter_map(|entry| entry["transactionPosition"].as_u64()).max();
        let transactions = transactions.map_or(0, |last| usize::try_from(last).expect("few") + 1);
        let found = trace_block::read(answer, None, transactions).expect("frames");
        let frames: usize = found.transactions.iter().map(|trace| trace.frames.len()).sum();
        assert_eq!(frames + found.rewards.len(), entries.len());
        found
    }

    #[test]
    fn answers_of_call_tracer_are_compared_with_the_block() {
        let [one, two] = [1, 2].map(B256::repeat_byte);
        let peek = BlockPeek {
            number: 7,
            hash: B256::ZERO,
            uncles: 0,
            transactions: vec![one, two],
            parent_hash: B256::ZERO,
            requests_hash: None,
        };
        let frame = format!(
            r#"{{"type":"CALL","from":"{0}","to":"{0}","value":"0x0","gas":"0x1","gasUsed":"0x1"}}"#,
            Address::ZERO
        );
        let entry = |hash: B256| format!(r#"{{"txHash":"{hash}","result":{frame}}}"#);
        let fit = |entries: &[String]| {
            let answer = RawValue::from_string(format!("[{}]", entries.join(","))).expect("JSON");
            call_traces_fit(&answer, &peek).ok()
        };
        assert_eq!(fit(&[entry(one), entry(two)]), Some(true));
        assert_eq!(fit(&[frame.clone(), frame.clone()]), Some(true), "without hashes");
        assert_eq!(fit(&[entry(one), entry(one)]), Some(false), "of another block");
        assert_eq!(fit(&[entry(one)]), None, "one is missing");
        assert_eq!(fit(&[entry(one), format!(r#"{{"txHash":"{two}","error":"execution timeout"}}"#)]), None);
    }

    #[test]
    fn a_state_sync_has_no_entry() {
        // Block 135808 of Mumbai, whose one transaction is a state sync.
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/chains/polygon-80001.ndjson");
        let text = std::fs::read_to_string(file).expect("the fixture");
        let line: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
        let block = RawValue::from_string(line["block"].to_string()).expect("JSON");
        let mut peek = crate::decode::peek_block(&block).expect("a block");
        let none = RawValue::from_string("[]".into()).expect("JSON");
        assert_eq!((peek.number, peek.transactions.len()), (135_808, 1));
        assert_eq!(call_traces_fit(&none, &peek).ok(), Some(true));
        peek.transactions[0].0[0] ^= 1;
        assert_eq!(call_traces_fit(&none, &peek).ok(), None, "any other transaction has one");
    }

    #[test]
    fn real_answers_of_trace_block_are_read_whole() {
        let found: Vec<_> = recorded("trace_block").values().map(|answer| flat(answer)).collect();
        assert_eq!(found.len(), 21);
        assert_eq!(found.iter().map(|found| found.rewards.len()).sum::<usize>(), 23);
    }

    #[test]
    fn real_answers_of_call_tracer_are_read_whole() {
        fn frames(tree: &Value) -> usize {
            1 + tree["calls"].as_array().into_iter().flatten().map(frames).sum::<usize>()
        }
        let mut total = 0;
        for answer in recorded("debug_traceBlockByNumber").values() {
            let trees: Vec<Value> = serde_json::from_str(answer.get()).expect("an array");
            let traces = call_tracer::read(answer).expect("frames");
            assert_eq!(traces.len(), trees.len());
            for (trace, tree) in traces.iter().zip(&trees) {
                assert_eq!(trace.frames.len(), frames(&tree["result"]));
                total += trace.frames.len();
            }
        }
        assert_eq!(total, 1765);
    }

    #[test]
    fn both_forms_of_the_same_blocks_agree() {
        let (trees, flats) = (recorded("debug_traceBlockByNumber"), recorded("trace_block"));
        let mut compared = 0;
        for (number, tree) in &trees {
            let Some(answer) = flats.get(number) else { continue };
            let traces = call_tracer::read(tree).expect("frames");
            let frames = |traces: &[TransactionTrace]| -> Vec<Frame> {
                traces.iter().flat_map(|trace| trace.frames.clone()).collect()
            };
            for (tree, flat) in frames(&traces).into_iter().zip(frames(&flat(answer).transactions)) {
                compared += 1;
                let error = tree.error.is_some();
                assert_eq!(error, flat.error.is_some());
                let mut expected = Frame { error: tree.error.clone(), ..flat };
                if error {
                    expected.gas_used = tree.gas_used;
                }
                if expected.kind == FrameKind::Selfdestruct {
                    // Nodes of that time report no more.
                    (expected.to, expected.value) = (None, tree.value);
                }
                if expected.kind == FrameKind::Callcode {
                    // Parity named the account that the code ran as; geth gave the memory set aside for an output.
                    assert_eq!(expected.to, Some(expected.from));
                    (expected.to, expected.output) = (tree.to, tree.output.clone());
                }
                assert_eq!(tree, expected, "block {number}");
            }
        }
        assert_eq!(compared, 7);
    }
}
