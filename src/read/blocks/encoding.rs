//! Headers, transactions, receipts and whole blocks in the bytes that were hashed. Nothing is given out that does not
//! hash to what the chain says of it.

use alloy_consensus::{EMPTY_ROOT_HASH, Header};
use alloy_eips::eip4895::{GWEI_TO_WEI, Withdrawal};
use alloy_primitives::{U256, keccak256};
use alloy_rlp::Encodable;
use alloy_trie::root::{ordered_trie_root, ordered_trie_root_encoded};

use crate::app::App;
use crate::error::Problem;
use crate::read::transactions::encoding;
use crate::read::transactions::receipt_rows::{MAX_TRANSACTIONS, require_header};
use crate::read::transactions::receipt_trie::{Reason, hashed};
use trawl_core::primitives::{B256, BlockNumber, TransactionType};
use trawl_core::schema::{BlockPart, BlockRow, TransactionRow, WithdrawalRow};
use trawl_core::store::Head;

impl App {
    /// The header of a block.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEncodable`] where the row does not hash to the hash of the block; when the block is not readable;
    /// or when the store fails.
    pub(crate) async fn encoded_header(&self, head: &Head, number: BlockNumber) -> Result<Vec<u8>, Problem> {
        let block = self.header_row(head, number).await?;
        let header = require_header(&block).and_then(|()| hashed(&block));
        Ok(alloy_rlp::encode(header.map_err(|reason| not_encodable(number, reason))?))
    }

    /// The transaction with a hash, without its blobs; none if it is not readable.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEncodable`] where the row does not hash to it; or when the store fails.
    pub(crate) async fn encoded_transaction(&self, head: &Head, hash: &B256) -> Result<Option<Vec<u8>>, Problem> {
        let Some((batch, row)) = self.transaction(hash, head).await? else { return Ok(None) };
        let row = batch.rows().nth(row).ok_or(Problem::Internal)?;
        self.encoded_row(&row).map(Some)
    }

    /// A transaction as it was signed, without its blobs.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEncodable`] where the row does not hash to it.
    pub(crate) fn encoded_row(&self, row: &TransactionRow) -> Result<Vec<u8>, Problem> {
        encoding::encoded(row).map_err(|reason| not_encodable(row.block_number, reason))
    }

    /// A block with its transactions, uncles and withdrawals.
    ///
    /// # Errors
    ///
    /// [`Problem::NotEncodable`] where the rows do not hash to what the header says; [`Problem::PartMissing`] without
    /// its uncles or withdrawals; when the block is not readable; or when the store fails.
    pub(crate) async fn encoded_block(&self, head: &Head, number: BlockNumber) -> Result<Vec<u8>, Problem> {
        let block = self.header_row(head, number).await?;
        if block.withdrawals_root.is_some() && !head.withdrawals.contains(number) {
            return Err(Problem::PartMissing { part: BlockPart::Withdrawals, block: number });
        }
        if u64::from(block.transactions_count) > MAX_TRANSACTIONS {
            return Err(not_encodable(number, format!("it has more than {MAX_TRANSACTIONS} transactions")));
        }
        let _position = self.limits().proofs.enter().await?;
        let uncles = self.uncle_headers(head, &block).await?;
        let span = head.blocks.at(number);
        let transactions = trawl_query::transactions::of_block(&span);
        let withdrawals = trawl_query::blocks::withdrawals::in_block(&span);
        let (transactions, withdrawals) =
            tokio::try_join!(self.rows_of(head, &transactions), self.rows_of(head, &withdrawals))?;
        let encoded = self.compute(move || {
            let transactions: Vec<TransactionRow> = transactions.iter().flat_map(|batch| batch.rows()).collect();
            let withdrawals: Vec<WithdrawalRow> = withdrawals.iter().flat_map(|batch| batch.rows()).collect();
            whole_block(&block, &transactions, &uncles, &withdrawals)
        });
        encoded.await?.map_err(|reason| not_encodable(number, reason))
    }

    async fn header_row(&self, head: &Head, number: BlockNumber) -> Result<BlockRow, Problem> {
        let block = self.block_at(number, head).await?.ok_or(Problem::BlockNotFound)?;
        block.rows().next().ok_or(Problem::BlockNotFound)
    }
}

fn not_encodable(block: BlockNumber, reason: Reason) -> Problem {
    Problem::NotEncodable(block, reason)
}

/// The list of header, transactions, uncles and, from Shanghai on, withdrawals.
fn whole_block(
    block: &BlockRow,
    transactions: &[TransactionRow],
    uncles: &[Header],
    withdrawals: &[WithdrawalRow],
) -> Result<Vec<u8>, Reason> {
    require_header(block)?;
    let header = hashed(block)?;
    let bodies: Vec<Vec<u8>> = transactions.iter().map(encoding::encoded).collect::<Result<_, Reason>>()?;
    let root = if bodies.is_empty() { EMPTY_ROOT_HASH } else { ordered_trie_root_encoded(&bodies) };
    require_hash("transactions", root, block.transactions_root)?;
    let mut payload = alloy_rlp::encode(&header);
    // In a block, transactions with a type are strings, and those without are lists.
    let mut list = Vec::new();
    for (row, bytes) in transactions.iter().zip(&bodies) {
        match row.transaction_type.into() {
            TransactionType::Legacy => list.extend_from_slice(bytes),
            _ => bytes.as_slice().encode(&mut list),
        }
    }
    append_list(&list, &mut payload);
    let uncles = alloy_rlp::encode(uncles.to_vec());
    require_hash("uncles", keccak256(&uncles), block.sha3_uncles)?;
    payload.extend_from_slice(&uncles);
    if let Some(root) = block.withdrawals_root {
        let withdrawals: Vec<Withdrawal> = withdrawals.iter().map(withdrawal).collect::<Result<_, Reason>>()?;
        require_hash("withdrawals", ordered_trie_root(&withdrawals), root)?;
        withdrawals.encode(&mut payload);
    }
    let mut encoded = Vec::with_capacity(payload.len() + 9);
    append_list(&payload, &mut encoded);
    Ok(encoded)
}

fn append_list(payload: &[u8], out: &mut Vec<u8>) {
    alloy_rlp::Header { list: true, payload_length: payload.len() }.encode(out);
    out.extend_from_slice(payload);
}

fn require_hash(part: &str, found: B256, expected: B256) -> Result<(), Reason> {
    if found == expected {
        return Ok(());
    }
    Err(format!("what is indexed of its {part} hashes to {found}, and its header says {expected}"))
}

fn withdrawal(row: &WithdrawalRow) -> Result<Withdrawal, Reason> {
    let (amount, rest) = row.amount.div_rem(U256::from(GWEI_TO_WEI));
    let amount = u64::try_from(amount).ok().filter(|_| rest.is_zero());
    Ok(Withdrawal {
        index: row.withdrawal_index,
        validator_index: row.validator_index,
        address: row.address,
        amount: amount.ok_or("a withdrawal is no number of gwei")?,
    })
}
