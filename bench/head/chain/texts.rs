//! What a node says of a block, as JSON text.

use std::fmt::Write as _;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bloom};

use super::block::{Asset, Log, Texts};
use super::draft::{BASE_FEE, Draft, GAS, GAS_LIMIT, TIP};
use super::world::{CHAIN_ID, CODE, COINBASE, World};

const NO_UNCLES: &str = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347";

/// The header with the hashes of its transactions, and everything else.
pub fn of(world: &World, block: (B256, &Header), drafts: &[Draft], logs: &[Log], blooms: &[Bloom]) -> (String, Texts) {
    let hashes = list(drafts, |text, draft, _| {
        let _ = write!(text, "\"{:#x}\"", draft.envelope.tx_hash());
    });
    let whole = list(drafts, |text, draft, position| transaction(text, world, block, draft, position));
    let receipts = list(drafts, |text, draft, position| receipt(text, world, block, (draft, position), logs, blooms));
    let calls = list(drafts, |text, draft, _| call(text, world, draft));
    let differences = list(drafts, |text, draft, _| difference(text, world, draft));
    (header(block, &hashes), Texts { full: header(block, &whole), receipts, calls, differences })
}

fn list(drafts: &[Draft], write: impl Fn(&mut String, &Draft, usize)) -> String {
    let mut text = String::from("[");
    for (position, draft) in drafts.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        write(&mut text, draft, position);
    }
    text.push(']');
    text
}

fn header((hash, header): (B256, &Header), transactions: &str) -> String {
    let Header { parent_hash, state_root, transactions_root, receipts_root, logs_bloom, number, .. } = header;
    let Header { gas_limit, gas_used, timestamp, extra_data, mix_hash, withdrawals_root, .. } = header;
    format!(
        "{{\"hash\":\"{hash:#x}\",\"parentHash\":\"{parent_hash:#x}\",\"sha3Uncles\":\"{NO_UNCLES}\",\
         \"miner\":\"{COINBASE:#x}\",\"stateRoot\":\"{state_root:#x}\",\"transactionsRoot\":\"{transactions_root:#x}\",\
         \"receiptsRoot\":\"{receipts_root:#x}\",\"logsBloom\":\"{logs_bloom:#x}\",\"difficulty\":\"0x0\",\
         \"number\":\"{number:#x}\",\"gasLimit\":\"{gas_limit:#x}\",\"gasUsed\":\"{gas_used:#x}\",\
         \"timestamp\":\"{timestamp:#x}\",\"extraData\":\"{extra_data}\",\"mixHash\":\"{mix_hash:#x}\",\
         \"nonce\":\"0x0000000000000000\",\"baseFeePerGas\":\"{BASE_FEE:#x}\",\"withdrawalsRoot\":\"{:#x}\",\
         \"withdrawals\":[],\"uncles\":[],\"transactions\":{transactions}}}",
        withdrawals_root.unwrap_or_default()
    )
}

fn write_position(text: &mut String, (hash, header): (B256, &Header), position: usize) {
    let _ = write!(
        text,
        "\"blockHash\":\"{hash:#x}\",\"blockNumber\":\"{:#x}\",\"transactionIndex\":\"{position:#x}\"",
        header.number
    );
}

fn transaction(text: &mut String, world: &World, block: (B256, &Header), draft: &Draft, position: usize) {
    let (signature, from) = (draft.envelope.signature(), world.accounts[draft.sender as usize]);
    let _ = write!(
        text,
        "{{\"type\":\"0x2\",\"chainId\":\"{CHAIN_ID:#x}\",\"nonce\":\"{:#x}\",\"gas\":\"{GAS_LIMIT:#x}\",\
         \"maxFeePerGas\":\"{:#x}\",\"maxPriorityFeePerGas\":\"{TIP:#x}\",\"gasPrice\":\"{:#x}\",\"to\":\"{:#x}\",\
         \"value\":\"{:#x}\",\"accessList\":[],\"input\":\"{}\",\"r\":\"{:#x}\",\"s\":\"{:#x}\",\"yParity\":\"{:#x}\",\
         \"v\":\"{:#x}\",\"hash\":\"{:#x}\",\"from\":\"{from:#x}\",",
        draft.nonce,
        2 * BASE_FEE,
        BASE_FEE + TIP,
        draft.to,
        draft.value,
        draft.input,
        signature.r(),
        signature.s(),
        u8::from(signature.v()),
        u8::from(signature.v()),
        draft.envelope.tx_hash(),
    );
    write_position(text, block, position);
    text.push('}');
}

fn receipt(
    text: &mut String,
    world: &World,
    block: (B256, &Header),
    (draft, position): (&Draft, usize),
    logs: &[Log],
    blooms: &[Bloom],
) {
    let hash = draft.envelope.tx_hash();
    let _ = write!(
        text,
        "{{\"type\":\"0x2\",\"status\":\"0x1\",\"cumulativeGasUsed\":\"{:#x}\",\"gasUsed\":\"{GAS:#x}\",\
         \"effectiveGasPrice\":\"{:#x}\",\"from\":\"{:#x}\",\"to\":\"{:#x}\",\"contractAddress\":null,\
         \"logsBloom\":\"{:#x}\",\"transactionHash\":\"{hash:#x}\",",
        GAS * (position as u64 + 1),
        BASE_FEE + TIP,
        world.accounts[draft.sender as usize],
        draft.to,
        blooms[position],
    );
    write_position(text, block, position);
    text.push_str(",\"logs\":[");
    for (index, log) in (draft.logs.0..).zip(&logs[draft.logs.0..draft.logs.1]) {
        let comma = if index > draft.logs.0 { "," } else { "" };
        let topics: Vec<String> = log.topics(world).iter().map(|topic| format!("\"{topic:#x}\"")).collect();
        let _ = write!(
            text,
            "{comma}{{\"address\":\"{:#x}\",\"topics\":[{}],\"data\":\"{}\",\"transactionHash\":\"{hash:#x}\",\
             \"logIndex\":\"{index:#x}\",\"removed\":false,",
            world.tokens[usize::from(log.token)],
            topics.join(","),
            log.data(),
        );
        write_position(text, block, position);
        text.push('}');
    }
    text.push_str("]}");
}

fn frame(text: &mut String, from: Address, to: Address, value: u128, input: &str) {
    let _ = write!(
        text,
        "\"type\":\"CALL\",\"from\":\"{from:#x}\",\"to\":\"{to:#x}\",\"value\":\"{value:#x}\",\"input\":\"{input}\",\
         \"output\":\"0x\""
    );
}

fn call(text: &mut String, world: &World, draft: &Draft) {
    let from = world.accounts[draft.sender as usize];
    let _ = write!(
        text,
        "{{\"txHash\":\"{:#x}\",\"result\":{{\"gas\":\"{GAS_LIMIT:#x}\",\"gasUsed\":\"{GAS:#x}\",",
        draft.envelope.tx_hash()
    );
    frame(text, from, draft.to, draft.value, &draft.input.to_string());
    if let Some((to, value)) = draft.inner {
        text.push_str(",\"calls\":[{\"gas\":\"0x8fc\",\"gasUsed\":\"0x0\",");
        frame(text, draft.to, world.accounts[to as usize], value, "0x");
        text.push_str("}]");
    }
    text.push_str("}}");
}

/// The accounts and slots that a transaction changed, before (`pre`) and after (`post`).
fn difference(text: &mut String, world: &World, draft: &Draft) {
    let _ = write!(text, "{{\"txHash\":\"{:#x}\",\"result\":{{", draft.envelope.tx_hash());
    for (side, comma) in [("pre", ","), ("post", "}}")] {
        let is_before = side == "pre";
        let fees = draft.coinbase + if is_before { 0 } else { u128::from(GAS) * TIP };
        let _ = write!(text, "\"{side}\":{{\"{COINBASE:#x}\":{{\"balance\":\"{fees:#x}\"}}");
        for (asset, account, before, after) in &draft.changes {
            if *asset != Asset::Coin {
                continue;
            }
            let amount = if is_before { before } else { after };
            let _ = write!(text, ",\"{:#x}\":{{\"balance\":\"{amount:#x}\"", world.accounts[*account as usize]);
            if *account == draft.sender {
                let _ = write!(text, ",\"nonce\":{}", draft.nonce + u64::from(!is_before));
            } else if is_before && draft.recipient_nonce > 0 {
                let _ = write!(text, ",\"nonce\":{}", draft.recipient_nonce);
            }
            text.push('}');
        }
        for (number, token) in world.tokens.iter().enumerate() {
            slots(text, world, draft, (number as u8, *token), is_before);
        }
        text.push('}');
        text.push_str(comma);
    }
}

fn slots(text: &mut String, world: &World, draft: &Draft, (number, token): (u8, Address), is_before: bool) {
    let mut changes = draft.changes.iter().filter(|change| change.0 == Asset::Token(number)).peekable();
    if changes.peek().is_none() {
        return;
    }
    let unchanging = format!("\"balance\":\"0x0\",\"nonce\":1,\"code\":\"{CODE}\",");
    let _ = write!(text, ",\"{token:#x}\":{{{}\"storage\":{{", if is_before { &unchanging } else { "" });
    let mut comma = "";
    for (_, account, before, after) in changes {
        let amount = if is_before { before } else { after };
        let _ = write!(text, "{comma}\"{:#x}\":\"0x{amount:064x}\"", world.slots[*account as usize]);
        comma = ",";
    }
    text.push_str("}}");
}
