//! Call frames of a transaction: `ots_getInternalOperations`, `ots_traceTransaction`, `ots_getTransactionError`.

use super::params;
use crate::error::Problem;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use trawl_core::primitives::Address;
use trawl_core::readable::Span;
use trawl_core::schema::{BlockPart, Column, InternalTransactionRow, TransactionRow};
use trawl_core::store::Batch;
use trawl_json::otterscan::{OperationKind, write_frame, write_operation};
use trawl_query::transactions::internal::CoinFrame;

/// A transaction, and its block.
struct TransactionRef {
    batch: Batch<TransactionRow>,
    row: usize,
    block: u64,
    index: u32,
}

impl TransactionRef {
    /// The transaction that a call names; `None` if it is not readable.
    async fn of(call: Context<'_>) -> Result<Option<Self>, Problem> {
        let [hash] = call.exactly()?;
        let hash = params::hash(hash)?;
        let found = call.app.transaction(&hash, call.head()?).await?;
        Ok(found.map(|(batch, row)| {
            let (block, index) = (batch.view().block_number[row], batch.view().transaction_index[row]);
            Self { batch, row, block, index }
        }))
    }

    /// Its block, where call frames are read.
    fn traced(&self, call: Context<'_>) -> Result<Span, Problem> {
        let traces = &call.head()?.traces;
        if !traces.contains(self.block) {
            return Err(Problem::PartMissing { part: BlockPart::Traces, block: self.block });
        }
        Ok(traces.at(self.block))
    }
}

/// Coins that moved within a transaction, contracts that were made and destroyed, in order of execution; `null` if the
/// transaction is not readable.
pub(in crate::rpc) async fn operations(call: Context<'_>) -> Result<Answer, Problem> {
    let Some(found) = TransactionRef::of(call).await? else { return Ok(Answer::null()) };
    let statement = trawl_query::transactions::internal::operations(&found.traced(call)?, found.index);
    let frames = call.app.reader().rows(&statement).await?;
    Ok(Answer::of(|writer| {
        writer.array(|list| {
            for frame in &frames {
                if let Some((kind, to)) = operation(frame) {
                    write_operation(list.item(), kind, &frame.from_address, &to, frame.value);
                }
            }
        });
    }))
}

/// What a frame did, and to whom. Nothing without the other side: a creation that failed made no contract, and the
/// tables do not know where it would have; some nodes do not say who got the coins of a destruction.
fn operation(frame: &CoinFrame) -> Option<(OperationKind, Address)> {
    let (kind, to) = match (frame.frame_type.as_str(), frame.call_type.as_str()) {
        ("call", "call") => (OperationKind::Transfer, frame.to_address),
        ("create", "create2") => (OperationKind::SaltedCreation, frame.created_contract),
        ("create", _) => (OperationKind::Creation, frame.created_contract),
        ("selfdestruct", _) => (OperationKind::Destruction, frame.to_address),
        _ => return None,
    };
    Some((kind, to?))
}

/// What the outermost call returned if it reverted, else nothing; `null` if the transaction is not readable.
pub(in crate::rpc) async fn transaction_error(call: Context<'_>) -> Result<Answer, Problem> {
    let Some(found) = TransactionRef::of(call).await? else { return Ok(Answer::null()) };
    let status = Option::<u8>::get(&found.batch.view().status, found.row);
    if status == Some(1) && call.head()?.receipts.contains(found.block) {
        return Ok(Answer::of(|writer| writer.hex(&[])));
    }
    let positions = [(found.block, found.index)].into();
    let endings = trawl_query::transactions::positions::endings(&positions, &found.traced(call)?);
    let endings = call.app.reader().rows(&endings).await?;
    let own = |ending: &&trawl_query::transactions::positions::Ending| {
        let is_own = (ending.block_number, ending.transaction_index) == (found.block, found.index);
        // What an exhausted or refused creation leaves is no return data. Every node words a revert with this word.
        is_own && ending.error.to_ascii_lowercase().contains("revert")
    };
    let output = endings.iter().find(own).map_or(&[][..], |ending| &ending.output);
    Ok(Answer::of(|writer| writer.hex(output)))
}

/// All call frames of a transaction in order of execution; `null` if it is not readable.
pub(in crate::rpc) async fn trace(call: Context<'_>) -> Result<Answer, Problem> {
    let Some(found) = TransactionRef::of(call).await? else { return Ok(Answer::null()) };
    let statement = trawl_query::transactions::internal::of_transaction(&found.traced(call)?, found.index);
    let batches = call.app.rows_of(call.head()?, &statement).await?;
    let created = Option::<Address>::get(&found.batch.view().contract_address, found.row);
    let rows: Vec<Frame<'_>> = batches.iter().flat_map(|batch| (0..batch.len()).map(move |row| (batch, row))).collect();
    Ok(Answer::of(|writer| {
        writer.array(|list| {
            for (position, (batch, row)) in rows.iter().enumerate() {
                let of_transaction = created.filter(|_| position == 0);
                let to = receiver((batch, *row), rows.get(position + 1)).or(of_transaction);
                write_frame(list.item(), &batch.view(), *row, to);
            }
        });
    }))
}

/// A row of a batch.
type Frame<'b> = (&'b Batch<InternalTransactionRow>, usize);

/// Whom a frame calls, creates or pays. Of a creation that failed, what its code called next tells the address.
fn receiver((batch, row): Frame<'_>, next: Option<&Frame<'_>>) -> Option<Address> {
    let view = batch.view();
    let stated = Option::<Address>::get(&view.to_address, row).or(Option::<Address>::get(&view.created_contract, row));
    let called = || {
        let (inner, inner_row) =
            next.filter(|_| view.subtraces[row] > 0 && String::get(&view.frame_type, row) == "create")?;
        Some(Address::get(&inner.view().from_address, *inner_row))
    };
    stated.or_else(called)
}

#[cfg(test)]
mod tests {
    use trawl_core::primitives::U256;

    use super::*;

    #[test]
    fn operations_have_two_sides() {
        let frame = |frame_type: &str, to_address: Option<Address>| CoinFrame {
            frame_index: 1,
            frame_type: frame_type.into(),
            call_type: String::new(),
            from_address: Address::repeat_byte(0x34),
            to_address,
            created_contract: None,
            value: U256::ZERO,
            is_undone: 0,
        };
        let beneficiary = Address::repeat_byte(0x12);
        let destruction = frame("selfdestruct", Some(beneficiary));
        assert!(matches!(operation(&destruction), Some((OperationKind::Destruction, to)) if to == beneficiary));
        for without in [frame("selfdestruct", None), frame("create", None), frame("create", Some(beneficiary))] {
            assert!(operation(&without).is_none());
        }
    }
}
