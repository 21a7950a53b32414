//! Which contracts a block created.
//!
//! Traces show all of them. Without traces, receipts show those that transactions created, and nothing shows their
//! code: hash and size are none then.

use alloy_primitives::keccak256;
use trawl_core::primitives::{Address, Timestamp};
use trawl_core::schema::ContractRow;

use crate::block::trace::{Frame, TransactionTrace};
use crate::block::{Block, Receipt, Transaction};

/// Rows of `contracts`.
pub(super) fn contract_rows(block: &Block, timestamp: Timestamp) -> Vec<ContractRow> {
    let mut rows = Vec::new();
    for (position, (transaction, receipt)) in block.outcomes().enumerate() {
        let of = TransactionContracts { block, timestamp, transaction };
        match &block.traces {
            Some(traces) => {
                let has_failed = receipt.is_some_and(|receipt| receipt.status == Some(0));
                let trace = traces.transactions.get(position).filter(|_| !has_failed);
                rows.extend(trace.into_iter().flat_map(creations).map(|frame| of.traced(frame)));
            }
            None => rows.extend(receipt.and_then(|receipt| of.received(receipt))),
        }
    }
    rows
}

/// The creations of a transaction that lasted.
fn creations(trace: &TransactionTrace) -> impl Iterator<Item = &Frame> {
    trace.lasting().filter(|frame| frame.created_contract.is_some())
}

struct TransactionContracts<'a> {
    block: &'a Block,
    timestamp: Timestamp,
    transaction: &'a Transaction,
}

impl TransactionContracts<'_> {
    fn traced(&self, frame: &Frame) -> ContractRow {
        let creation_type = match (frame.trace_address.is_empty(), frame.kind.call_type()) {
            (true, _) => "transaction",
            (false, "create2") => "create2",
            (false, _) => "create",
        };
        ContractRow {
            creator: frame.from,
            creation_type: creation_type.into(),
            code_hash: Some(keccak256(&frame.output)),
            code_size: u32::try_from(frame.output.len()).ok(),
            ..self.row(frame.created_contract.unwrap_or_default())
        }
    }

    /// The contract of a creation that certainly succeeded. Before Byzantium receipts have no status, but a failure
    /// used up all gas then.
    fn received(&self, receipt: &Receipt) -> Option<ContractRow> {
        let has_succeeded = match receipt.status {
            Some(status) => status == 1,
            None => receipt.gas_used < self.transaction.gas,
        };
        // A row needs the creator, and the fact that the transaction has no recipient: a source may lack either.
        let is_known = !["from_address", "to_address"].iter().any(|column| self.transaction.lacking.contains(column));
        let creates = is_known && has_succeeded && self.transaction.to.is_none();
        let contract = receipt.contract_address.filter(|_| creates);
        contract.map(|contract| self.row(contract))
    }

    fn row(&self, contract: Address) -> ContractRow {
        ContractRow {
            address: contract,
            block_number: self.block.header.number,
            transaction_index: self.transaction.index,
            transaction_hash: self.transaction.hash,
            block_timestamp: self.timestamp,
            creator: self.transaction.from,
            creation_type: "transaction".into(),
            code_hash: None,
            code_size: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::trace::FrameKind;
    use crate::decode::decode;
    use crate::rows::rows;
    use trawl_core::primitives::{Bytes, U256};

    /// A block that creates a contract, from a source without a column.
    fn without(column: Option<&'static str>) -> (Vec<Option<Address>>, usize) {
        use std::io::BufRead as _;
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/devchain/chain.ndjson.gz");
        let file = flate2::read::MultiGzDecoder::new(std::fs::File::open(file).expect("the fixture"));
        let mut lines =
            std::io::BufReader::new(file).lines().map(|line| decode(&line.expect("text")).expect("a block"));
        let creates = |block: &Block| block.receipts.iter().flatten().any(|receipt| receipt.contract_address.is_some());
        let mut block = lines.find(creates).expect("a block that creates");
        block.traces = None;
        for (transaction, receipt) in block.transactions.iter_mut().zip(block.receipts.iter_mut().flatten()) {
            if let Some(column) = column {
                (transaction.to, receipt.contract_address) = (None, None);
                transaction.lacking = vec![column];
            }
        }
        let rows = rows(block, &trawl_chains::ETHEREUM).expect("rows");
        (rows.transactions.iter().map(|row| row.contract_address).collect(), rows.contracts.len())
    }

    #[test]
    fn what_a_source_lacks_creates_no_contract() {
        let (addresses, contracts) = without(None);
        assert!(addresses.iter().any(Option::is_some) && contracts > 0);
        for column in ["to_address", "from_address", "nonce", "transaction_type"] {
            assert_eq!(without(Some(column)), (vec![None; addresses.len()], 0), "{column}");
        }
    }

    fn frame(path: &[u32], error: Option<&str>) -> Frame {
        let contract = error.is_none().then(|| Address::repeat_byte(u8::try_from(path.len()).expect("short")));
        Frame {
            trace_address: path.to_vec(),
            kind: FrameKind::Create,
            from: Address::ZERO,
            to: None,
            created_contract: contract,
            value: U256::ZERO,
            gas_limit: 0,
            gas_used: None,
            input: Bytes::new(),
            output: Bytes::new(),
            error: error.map(Into::into),
            subtraces: 0,
        }
    }

    #[test]
    fn what_a_failed_frame_created_does_not_exist() {
        let fails = Some("execution reverted");
        let frames = vec![
            frame(&[], None),
            frame(&[0], fails),
            frame(&[0, 0], None),
            frame(&[0, 0, 0], fails),
            frame(&[0, 1], None),
            frame(&[1], None),
            frame(&[2], fails),
            frame(&[3], None),
            frame(&[3, 0], fails),
            frame(&[3, 1], None),
        ];
        let lasting = |frames: Vec<Frame>| -> Vec<Vec<u32>> {
            let trace = TransactionTrace { frames, ..TransactionTrace::default() };
            creations(&trace).map(|frame| frame.trace_address.clone()).collect()
        };
        assert_eq!(lasting(frames.clone()), [vec![], vec![1], vec![3], vec![3, 1]]);
        assert!(lasting([vec![frame(&[], fails)], frames[1..].to_vec()].concat()).is_empty(), "a failed transaction");
    }
}
