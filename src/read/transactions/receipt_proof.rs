//! Proofs that a receipt is one of a block, from the rows of all receipts of the block.
//!
//! A proof is given out only after what was read hashes to what the header says, and the header to the hash of its
//! block: a client never gets one that cannot be verified.

use super::receipt_rows::{ReceiptRows, require_root};
use super::receipt_trie;
use super::receipt_trie::Reason;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::BlockNumber;
use trawl_core::store::Head;
use trawl_json::transactions::receipt_proofs::ReceiptProof;

impl App {
    /// The proof of the receipt at a position.
    ///
    /// # Errors
    ///
    /// [`Problem::PartMissing`] without the receipts of the block, [`Problem::NotProvable`] where the rows are not
    /// enough to hash them as the chain did, or do not hash to what the header says; or when the store fails.
    pub(crate) async fn receipt_proof(
        &self,
        head: &Head,
        number: BlockNumber,
        index: u32,
    ) -> Result<ReceiptProof, Problem> {
        let not_provable = |reason| Problem::NotProvable(number, reason);
        let rows = self.receipt_rows(head, number).await?;
        self.compute(move || prove(rows?, index)).await?.map_err(not_provable)
    }
}

/// Puts the receipts together, and compares them with the header, and that with the hash of the block.
fn prove(mut rows: ReceiptRows, index: u32) -> Result<ReceiptProof, Reason> {
    let header = receipt_trie::hashed(&rows.block)?;
    let mut values = rows.encoded()?;
    let earlier = rows.outcomes.iter().filter(|outcome| outcome.transaction_index < index);
    let first_log_index = earlier.map(|outcome| u64::from(outcome.logs_count)).sum();
    let position = index as usize;
    if position >= values.len() {
        return Err(format!("it has no transaction {index}"));
    }
    let path = receipt_trie::path(&values, position);
    require_root(path.root, rows.block.receipts_root)?;
    Ok(ReceiptProof {
        block_number: rows.block.block_number,
        block_hash: rows.block.hash,
        header: alloy_rlp::encode(&header).into(),
        receipts_root: path.root,
        transaction_index: index,
        key: path.key,
        nodes: path.nodes,
        receipt: values.swap_remove(position).into(),
        first_log_index,
    })
}
