//! A long chain for measurements: recent mainnet blocks one after another, made new so that every check holds.
//!
//! Each block is a copy of a real one in which the values of logs and call data are other ones of the same shape, the
//! transactions are signed again by other keys, and gas sums, roots, blooms, hashes and links follow. Contracts stay,
//! so that the skew of a busy chain does. All is computed by alloy. The same blocks come out every time.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use alloy_consensus::crypto::secp256k1::{recover_signer_unchecked, sign_message};
use alloy_consensus::proofs::calculate_transaction_root;
use alloy_consensus::{Header, SignableTransaction, TxEip1559, TxEnvelope, TxLegacy};
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_primitives::{Address, B256, Bytes, Signature, TxKind, U256, hex, keccak256};
use anyhow::Context as _;
use flate2::read::MultiGzDecoder;
use serde_json::{Value, json};
use trawl_ingest::block::{Block, Transaction};
use trawl_ingest::decode::decode;

use crate::stock::{alloy_receipts, stock};
use trawl_core::primitives::TransactionType;

/// Writes blocks 1 to `blocks` as a dump.
pub fn generate(file: &Path, fixture: &Path, blocks: u64) -> anyhow::Result<()> {
    let templates = templates(fixture)?;
    let partial = file.with_extension("partial");
    let mut out = BufWriter::new(File::create(&partial)?);
    let mut parent = B256::ZERO;
    for number in 1..=blocks {
        let mut line = templates[number as usize % templates.len()].clone();
        parent = renew(&mut line, number, parent)?;
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    std::fs::rename(partial, file)?;
    Ok(())
}

/// Blocks of ordinary size from London on, with the transactions of types 0 and 2 and nothing but what a node gives.
fn templates(fixture: &Path) -> anyhow::Result<Vec<Value>> {
    let mut templates = Vec::new();
    for line in BufReader::new(MultiGzDecoder::new(File::open(fixture)?)).lines() {
        let mut line: Value = serde_json::from_str(&line?)?;
        let is_plain = |transaction: &Value| matches!(transaction["type"].as_str(), Some("0x0" | "0x2"));
        let plain: Vec<bool> = list(&mut line["block"]["transactions"])?.iter().map(is_plain).collect();
        let logs: usize =
            list(&mut line["receipts"])?.iter().map(|receipt| receipt["logs"].as_array().map_or(0, Vec::len)).sum();
        if plain.len() < 80 || logs > 2000 || line["block"].get("baseFeePerGas").is_none() {
            continue;
        }
        for items in ["/block/transactions", "/receipts"] {
            let mut plain = plain.iter();
            list(line.pointer_mut(items).context("a list")?)?.retain(|_| plain.next() == Some(&true));
        }
        line["block"].as_object_mut().context("a block")?.remove("size");
        templates.push(json!({"block": line["block"], "receipts": line["receipts"], "uncleHeaders": []}));
    }
    Ok(templates)
}

fn list(value: &mut Value) -> anyhow::Result<&mut Vec<Value>> {
    value.as_array_mut().context("a list")
}

/// Makes a template block `number` above `parent`; returns its hash.
fn renew(line: &mut Value, number: u64, parent: B256) -> anyhow::Result<B256> {
    renew_receipts(line, number)?;
    let mut block = decode(&line.to_string())?;
    let signed: Vec<(TxEnvelope, Address)> =
        block.transactions.iter().map(|transaction| sign(transaction, number)).collect::<Result<_, _>>()?;
    let receipts = stock(&alloy_receipts(&block));
    let gas_used = block.receipts.iter().flatten().last().map_or(0, |receipt| receipt.cumulative_gas_used);
    block.header.gas_used = gas_used;
    let envelopes: Vec<&TxEnvelope> = signed.iter().map(|(envelope, _)| envelope).collect();
    let header = header(&block, number, parent, calculate_transaction_root(&envelopes), &receipts);
    let hash = header.hash_slow();
    let fields = [
        ("number", json!(format!("{number:#x}"))),
        ("timestamp", json!(format!("{:#x}", header.timestamp))),
        ("gasUsed", json!(format!("{gas_used:#x}"))),
        ("parentHash", json!(parent)),
        ("transactionsRoot", json!(header.transactions_root)),
        ("receiptsRoot", json!(header.receipts_root)),
        ("logsBloom", json!(header.logs_bloom)),
        ("hash", json!(hash)),
    ];
    for (name, value) in fields {
        line["block"][name] = value;
    }
    for (transaction, (envelope, sender)) in list(&mut line["block"]["transactions"])?.iter_mut().zip(&signed) {
        rewrite_transaction(transaction, envelope, *sender, number, hash);
    }
    let outcomes = signed.iter().zip(&receipts.blooms).zip(block.transactions.iter());
    for (receipt, (((envelope, sender), bloom), transaction)) in list(&mut line["receipts"])?.iter_mut().zip(outcomes) {
        let keys = (json!(envelope.tx_hash()), json!(format!("{number:#x}")), json!(hash));
        for log in list(&mut receipt["logs"])? {
            (log["transactionHash"], log["blockNumber"], log["blockHash"]) = keys.clone();
        }
        (receipt["transactionHash"], receipt["blockNumber"], receipt["blockHash"]) = keys;
        (receipt["from"], receipt["logsBloom"]) = (json!(sender), json!(bloom));
        if transaction.to.is_none() {
            receipt["contractAddress"] = json!(sender.create(transaction.nonce));
        }
    }
    Ok(hash)
}

/// Other values in the logs, positions without gaps, gas that adds up.
fn renew_receipts(line: &mut Value, number: u64) -> anyhow::Result<()> {
    for transaction in list(&mut line["block"]["transactions"])? {
        transaction["input"] = renewed_hex(&transaction["input"], 4, number)?;
    }
    let (mut cumulative, mut log_index) = (0_u64, 0_u64);
    let block_transactions = list(&mut line["block"]["transactions"])?;
    for (position, transaction) in block_transactions.iter_mut().enumerate() {
        transaction["transactionIndex"] = json!(format!("{position:#x}"));
    }
    for (position, receipt) in list(&mut line["receipts"])?.iter_mut().enumerate() {
        let used =
            receipt["gasUsed"].as_str().and_then(|gas| u64::from_str_radix(gas.trim_start_matches("0x"), 16).ok());
        cumulative += used.context("gas")?;
        receipt["cumulativeGasUsed"] = json!(format!("{cumulative:#x}"));
        receipt["transactionIndex"] = json!(format!("{position:#x}"));
        for log in list(&mut receipt["logs"])? {
            log["data"] = renewed_hex(&log["data"], 0, number)?;
            for topic in list(&mut log["topics"])?.iter_mut().skip(1) {
                *topic = renewed_hex(topic, 0, number)?;
            }
            log["logIndex"] = json!(format!("{log_index:#x}"));
            log["transactionIndex"] = json!(format!("{position:#x}"));
            log_index += 1;
        }
    }
    Ok(())
}

/// Words of more than four bytes become others that are as long; offsets and lengths stay what they are.
fn renewed_hex(text: &Value, from: usize, number: u64) -> anyhow::Result<Value> {
    let mut bytes = hex::decode(text.as_str().context("text")?)?;
    for word in bytes.get_mut(from..).unwrap_or_default().chunks_exact_mut(32) {
        let zeros = word.iter().take_while(|byte| **byte == 0).count();
        if zeros < 28 {
            let other = keccak256([&*word, &number.to_be_bytes()].concat());
            word[zeros..].copy_from_slice(&other[zeros..]);
        }
    }
    Ok(json!(hex::encode_prefixed(bytes)))
}

/// The transaction signed by a key that follows from its old sender and the block.
fn sign(transaction: &Transaction, number: u64) -> anyhow::Result<(TxEnvelope, Address)> {
    let secret = keccak256([transaction.from.as_slice(), &number.to_be_bytes()].concat());
    let (nonce, gas_limit, value) = (transaction.nonce, transaction.gas, transaction.value);
    let (to, input) = (transaction.to.map_or(TxKind::Create, TxKind::Call), transaction.input.clone());
    let wei = |amount: Option<U256>| amount.and_then(|wei| u128::try_from(wei).ok()).context("wei");
    if transaction.transaction_type == TransactionType::Legacy {
        let gas_price = wei(transaction.gas_price)?;
        return signed(TxLegacy { chain_id: Some(1), nonce, gas_price, gas_limit, to, value, input }, secret);
    }
    let items = transaction.access_list.iter();
    let item = |item: &trawl_core::schema::AccessListItem| AccessListItem {
        address: item.address,
        storage_keys: item.storage_keys.clone(),
    };
    let unsigned = TxEip1559 {
        chain_id: 1,
        nonce,
        gas_limit,
        max_fee_per_gas: wei(transaction.max_fee_per_gas)?,
        max_priority_fee_per_gas: wei(transaction.max_priority_fee_per_gas)?,
        to,
        value,
        access_list: AccessList(items.map(item).collect()),
        input,
    };
    signed(unsigned, secret)
}

fn signed<T>(unsigned: T, secret: B256) -> anyhow::Result<(TxEnvelope, Address)>
where
    T: SignableTransaction<Signature>,
    TxEnvelope: From<alloy_consensus::Signed<T>>,
{
    let message = unsigned.signature_hash();
    let signature = sign_message(secret, message)?;
    let sender = recover_signer_unchecked(&signature, message)?;
    Ok((unsigned.into_signed(signature).into(), sender))
}

fn rewrite_transaction(transaction: &mut Value, envelope: &TxEnvelope, sender: Address, number: u64, block_hash: B256) {
    let signature = envelope.signature();
    let parity = u64::from(signature.v());
    transaction["v"] = match transaction["type"].as_str() {
        Some("0x0") => json!(format!("{:#x}", 37 + parity)),
        _ => json!(format!("{parity:#x}")),
    };
    if transaction.get("yParity").is_some() {
        transaction["yParity"] = json!(format!("{parity:#x}"));
    }
    transaction["r"] = json!(format!("{:#x}", signature.r()));
    transaction["s"] = json!(format!("{:#x}", signature.s()));
    transaction["hash"] = json!(envelope.tx_hash());
    transaction["from"] = json!(sender);
    transaction["blockNumber"] = json!(format!("{number:#x}"));
    transaction["blockHash"] = json!(block_hash);
}

fn header(
    block: &Block,
    number: u64,
    parent_hash: B256,
    transactions_root: B256,
    receipts: &crate::stock::Commitment,
) -> Header {
    let of = &block.header;
    Header {
        parent_hash,
        ommers_hash: of.sha3_uncles,
        beneficiary: of.miner,
        state_root: of.state_root,
        transactions_root,
        receipts_root: receipts.root,
        logs_bloom: receipts.bloom,
        number,
        gas_limit: of.gas_limit,
        gas_used: of.gas_used,
        timestamp: 1_700_000_000 + 12 * number,
        extra_data: Bytes::clone(&of.extra_data),
        mix_hash: of.mix_hash.unwrap_or_default(),
        nonce: of.nonce.unwrap_or_default(),
        difficulty: of.difficulty,
        base_fee_per_gas: of.base_fee_per_gas.and_then(|fee| u64::try_from(fee).ok()),
        withdrawals_root: of.withdrawals_root,
        blob_gas_used: of.blob_gas_used,
        excess_blob_gas: of.excess_blob_gas,
        parent_beacon_block_root: of.parent_beacon_block_root,
        requests_hash: of.requests_hash,
        ..Header::default()
    }
}
