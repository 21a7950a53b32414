//! `eth_sendRawTransaction`: the transaction is decoded and checked, then forwarded unchanged to an upstream node.
//!
//! Nonce, balance and price, which only a node knows, are not checked here, and neither are the proofs of blobs.

use alloy_consensus::transaction::SignerRecoverable;
use alloy_consensus::{EthereumTxEnvelope, Transaction, TxEip4844WithSidecar};
use alloy_eips::eip2718::Decodable2718;
use alloy_eips::eip7594::BlobTransactionSidecarVariant;

use super::forward::forward;
use crate::error::Problem;
use crate::http::values::invalid;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::{data, value};

/// A transaction in the form for the network: one with blobs contains them.
type NetworkTransaction = EthereumTxEnvelope<TxEip4844WithSidecar<BlobTransactionSidecarVariant>>;

/// Longest transaction without blobs, in bytes, which is the limit of nodes.
const MAX_SIZE: usize = 128 << 10;
/// Most blobs of one transaction; Prague allows nine and Osaka six (EIP-7594).
const MAX_BLOBS: usize = 9;
/// Longest transaction with blobs, in bytes: these, with the proofs of their 128 cells each, and the rest.
const MAX_BLOB_SIZE: usize = MAX_BLOBS * ((128 << 10) + 129 * 48) + MAX_SIZE;

/// Answers a call with the result of the node.
pub(crate) async fn raw_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [raw] = call.exactly()?;
    let bytes = data(&value(raw))?;
    check(&bytes, call.app.chain_id(call.head()?))?;
    forward(call, Problem::NoUpstream("eth_sendRawTransaction")).await
}

fn check(bytes: &[u8], chain_id: Option<u64>) -> Result<(), Problem> {
    let has_blobs = bytes.first() == Some(&3);
    let limit = if has_blobs { MAX_BLOB_SIZE } else { MAX_SIZE };
    if bytes.len() > limit {
        return Err(invalid(&format!("oversized data: transaction size {}, limit {limit}", bytes.len())));
    }
    let mut remaining = bytes;
    let sent = NetworkTransaction::decode_2718(&mut remaining).map_err(|error| match has_blobs {
        true => invalid(&format!("invalid transaction: {error}; one of type 3 is sent with its blobs (EIP-4844)")),
        false => invalid(&format!("invalid transaction: {error}")),
    })?;
    if !remaining.is_empty() {
        return Err(invalid(&format!("invalid transaction: {} bytes after its end", remaining.len())));
    }
    check_fields(&sent, chain_id)?;
    if let Some(signed) = sent.as_eip4844() {
        check_blobs(signed.tx())?;
    }
    sent.recover_signer().map(drop).map_err(|_| invalid("invalid sender: the signature is not valid"))
}

fn check_fields(sent: &NetworkTransaction, chain_id: Option<u64>) -> Result<(), Problem> {
    if let (Some(own), Some(served)) = (sent.chain_id(), chain_id)
        && own != served
    {
        return Err(invalid(&format!("invalid chain id for signer: have {own} want {served}")));
    }
    if sent.max_priority_fee_per_gas().is_some_and(|tip| tip > sent.max_fee_per_gas()) {
        return Err(invalid("max priority fee per gas higher than max fee per gas"));
    }
    if sent.authorization_list().is_some_and(<[_]>::is_empty) {
        return Err(invalid("EIP-7702 transaction with empty auth list"));
    }
    let least = least_gas(sent);
    if sent.gas_limit() < least {
        return Err(invalid(&format!("intrinsic gas too low: have {}, want {least}", sent.gas_limit())));
    }
    Ok(())
}

/// Gas that the transaction costs before it runs, by the rules of every fork since Istanbul. Later forks require
/// more (EIP-3860, EIP-7623), which the node checks.
fn least_gas(sent: &NetworkTransaction) -> u64 {
    let input = sent.input().iter().map(|byte| if *byte == 0 { 4 } else { 16 }).sum::<u64>();
    let creation = if sent.is_create() { 32_000 } else { 0 };
    let (addresses, slots) = sent
        .access_list()
        .map_or((0, 0), |list| (list.len() as u64, list.iter().map(|item| item.storage_keys.len() as u64).sum()));
    let authorizations = sent.authorization_list().map_or(0, |list| list.len() as u64);
    21_000 + input + creation + addresses * 2_400 + slots * 1_900 + authorizations * 25_000
}

/// Checks that there are as many commitments and proofs as blobs, and that the hashes are those of the commitments.
fn check_blobs(transaction: &TxEip4844WithSidecar<BlobTransactionSidecarVariant>) -> Result<(), Problem> {
    let (hashes, sidecar) = (&transaction.tx.blob_versioned_hashes, &transaction.sidecar);
    let (blobs, commitments) = (sidecar.blobs().len(), sidecar.commitments().len());
    let (proofs, expected_proofs) = match sidecar {
        BlobTransactionSidecarVariant::Eip4844(sidecar) => (sidecar.proofs.len(), blobs),
        BlobTransactionSidecarVariant::Eip7594(sidecar) => (sidecar.cell_proofs.len(), 128 * blobs),
    };
    if hashes.is_empty() {
        return Err(invalid("blobless blob transaction"));
    }
    if blobs > MAX_BLOBS {
        return Err(invalid(&format!("too many blobs in transaction: have {blobs}, permitted {MAX_BLOBS}")));
    }
    if blobs != hashes.len() || commitments != blobs || proofs != expected_proofs {
        return Err(invalid(&format!(
            "invalid number of {blobs} blobs, {commitments} commitments and {proofs} proofs for {} blob hashes",
            hashes.len()
        )));
    }
    if !sidecar.versioned_hashes().eq(hashes.iter().copied()) {
        return Err(invalid("blob hashes are not those of the commitments"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_consensus::{SignableTransaction, TxEip1559, TxEip4844, TxLegacy};
    use alloy_eips::eip2718::Encodable2718;
    use alloy_eips::eip4844::{Blob, BlobTransactionSidecar, Bytes48};
    use alloy_primitives::{Address, B256, Signature, TxKind, U256, bytes, hex};

    fn refusal(bytes: &[u8]) -> String {
        check(bytes, Some(1)).expect_err("refused").to_string()
    }

    /// A signature that recovers to some account, as nearly every pair of small numbers does.
    fn signature() -> Signature {
        Signature::new(U256::from(1), U256::from(1), false)
    }

    fn dynamic(change: impl FnOnce(&mut TxEip1559)) -> Vec<u8> {
        let mut transaction = TxEip1559 {
            chain_id: 1,
            gas_limit: 21_000,
            max_fee_per_gas: 10,
            max_priority_fee_per_gas: 1,
            to: TxKind::Call(Address::ZERO),
            ..TxEip1559::default()
        };
        change(&mut transaction);
        let signed: NetworkTransaction = transaction.into_signed(signature()).into();
        signed.encoded_2718()
    }

    fn blob(change: impl FnOnce(&mut TxEip4844WithSidecar<BlobTransactionSidecarVariant>)) -> Vec<u8> {
        let sidecar = BlobTransactionSidecar::new(vec![Blob::ZERO], vec![Bytes48::ZERO], vec![Bytes48::ZERO]);
        let tx = TxEip4844 {
            chain_id: 1,
            gas_limit: 21_000,
            blob_versioned_hashes: sidecar.versioned_hashes().collect(),
            ..TxEip4844::default()
        };
        let mut transaction = TxEip4844WithSidecar { tx, sidecar: BlobTransactionSidecarVariant::Eip4844(sidecar) };
        change(&mut transaction);
        let signed: NetworkTransaction = EthereumTxEnvelope::Eip4844(transaction.into_signed(signature()));
        signed.encoded_2718()
    }

    /// EIP-155's own example, which is of chain 1.
    const EXAMPLE: &[u8] = &hex!(
        "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a028ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555c9f3dc64214b297fb1966a3b6d83"
    );

    #[test]
    fn valid_transactions_pass() {
        assert_eq!(check(EXAMPLE, Some(1)), Ok(()));
        assert_eq!(check(EXAMPLE, None), Ok(()));
        assert_eq!(check(&dynamic(|_| {}), Some(1)), Ok(()));
        assert_eq!(check(&blob(|_| {}), Some(1)), Ok(()));
        let unprotected: NetworkTransaction =
            TxLegacy { gas_limit: 21_000, to: TxKind::Call(Address::ZERO), ..TxLegacy::default() }
                .into_signed(signature())
                .into();
        assert_eq!(check(&unprotected.encoded_2718(), Some(1)), Ok(()));
    }

    #[test]
    fn transactions_that_every_node_refuses_are_refused() {
        assert!(check(EXAMPLE, Some(2)).is_err_and(|problem| problem.to_string().contains("have 1 want 2")));
        for bytes in [&[][..], &[0x02], &[0x05, 0xc0], &[0x7f], &EXAMPLE[1..], &EXAMPLE[..50]] {
            assert!(refusal(bytes).starts_with("invalid transaction: "), "{}", refusal(bytes));
        }
        assert!(refusal(&[EXAMPLE, &[0]].concat()).contains("1 bytes after its end"));
        assert_eq!(refusal(&vec![2; MAX_SIZE + 1]), "oversized data: transaction size 131073, limit 131072");
        assert_eq!(refusal(&dynamic(|tx| tx.gas_limit = 20_999)), "intrinsic gas too low: have 20999, want 21000");
        assert!(refusal(&dynamic(|tx| tx.input = bytes!("0001"))).contains("want 21020"));
        assert!(refusal(&dynamic(|tx| tx.to = TxKind::Create)).contains("want 53000"));
        assert!(refusal(&dynamic(|tx| tx.max_priority_fee_per_gas = 11)).contains("higher than max fee"));
        let high = TxEip1559 { chain_id: 1, gas_limit: 53_000, ..TxEip1559::default() };
        let high: NetworkTransaction = high.into_signed(Signature::new(U256::from(1), U256::MAX, false)).into();
        assert!(refusal(&high.encoded_2718()).starts_with("invalid sender"));
    }

    #[test]
    fn blobs_must_be_complete() {
        assert!(refusal(&blob(|tx| tx.tx.blob_versioned_hashes.clear())).contains("blobless"));
        assert!(refusal(&blob(|tx| tx.tx.blob_versioned_hashes[0] = B256::ZERO)).contains("not those of the commit"));
        assert!(refusal(&blob(|tx| tx.tx.blob_versioned_hashes.push(B256::ZERO))).contains("1 blobs"));
        let mut bare = Vec::new();
        let tx = TxEip4844 { chain_id: 1, gas_limit: 21_000, ..TxEip4844::default() };
        tx.into_signed(signature()).encode_2718(&mut bare);
        assert!(refusal(&bare).contains("sent with its blobs"), "{}", refusal(&bare));
    }
}
