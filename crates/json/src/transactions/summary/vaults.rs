//! Assets into a contract that keeps them for the sender, and out of it: vaults (ERC-4626), bridges of the OP Stack,
//! the deposit contract of the Beacon chain. Their events have account and amount; value or transfers must match them.

use alloy_primitives::{b256, keccak256};

use super::sentence::{Summary, Variable};
use super::{Log, TransactionEffects, amounts};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, B256, U256};

/// `DepositEvent(bytes,bytes,bytes,bytes,bytes)` of the deposit contract: its amount is in Gwei, little-endian
/// (<https://github.com/ethereum/consensus-specs/blob/master/specs/phase0/deposit-contract.md>).
const BEACON_DEPOSIT: B256 = b256!("0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5");

/// The only passage of assets in the transaction.
pub(crate) fn passage(effects: &TransactionEffects, to: Address, tokens: &Tokens) -> Option<Summary> {
    // Only the contract that the sender called shows the sender's intent.
    let mut passages = effects.logs.iter().filter(|log| log.emitter == to).filter_map(|log| {
        let coins = coins_in(effects, log).map(|action| passed(action, log.emitter, None, effects.value, tokens));
        coins.or_else(|| tokens_through(effects, log, tokens))
    });
    let sentence = passages.next()?;
    // OP Stack bridges emit every passage twice, as an old and as a new event.
    (!passages.any(|other| other != sentence)).then_some(sentence)
}

/// The action, if the whole value went into the contract according to its event.
fn coins_in(effects: &TransactionEffects, log: &Log) -> Option<&'static str> {
    let topic = log.topics.first()?;
    if effects.value.is_zero() || !effects.transfers.is_empty() {
        return None;
    }
    if *topic == BEACON_DEPOSIT && log.topics.len() == 1 {
        let gwei = U256::from(beacon_gwei(&log.data)?);
        return (gwei * U256::from(1_000_000_000) == effects.value).then_some("Deposited");
    }
    let is_bridge =
        ["ETHDepositInitiated(address,address,uint256,bytes)", "ETHBridgeInitiated(address,address,uint256,bytes)"]
            .into_iter()
            .any(|event| *topic == keccak256(event));
    let is_mine = log.topics.get(1) == Some(&effects.from.into_word()) && word(&log.data, 0) == Some(effects.value);
    (is_bridge && is_mine).then_some("Bridged")
}

/// The third of five byte strings, eight bytes long.
fn beacon_gwei(data: &[u8]) -> Option<u64> {
    let at = usize::try_from(word(data, 2)?).ok()?;
    let length = word(data.get(at..)?, 0)?;
    let bytes = data.get(at.checked_add(32)?..at.checked_add(40)?)?;
    (length == U256::from(8)).then(|| bytes.try_into().ok().map(u64::from_le_bytes))?
}

/// Tokens that went through the emitter according to both an event and a transfer.
fn tokens_through(effects: &TransactionEffects, log: &Log, tokens: &Tokens) -> Option<Summary> {
    let topic = log.topics.first()?;
    let is = |event: &str| *topic == keccak256(event);
    let me = effects.from.into_word();
    let account = |at: usize| log.topics.get(at).copied();
    let moved = |from: Address, to: Address, amount: U256| {
        let mut alike = effects.transfers.iter().filter(|transfer| {
            transfer.token_type == "ERC-20" && transfer.from == from && transfer.to == to && transfer.value == amount
        });
        let one = alike.next()?;
        alike.next().is_none().then_some(one.token)
    };
    if !effects.value.is_zero() || effects.moves_collectibles_of(effects.from) {
        return None;
    }
    // ERC-4626: sender and owner; sender, receiver and owner.
    if is("Deposit(address,address,uint256,uint256)") && account(1) == Some(me) && account(2) == Some(me) {
        let amount = word(&log.data, 0)?;
        let token = moved(effects.from, log.emitter, amount)?;
        return Some(passed("Deposited", log.emitter, Some(token), amount, tokens));
    }
    if is("Withdraw(address,address,address,uint256,uint256)") && [2, 3].iter().all(|at| account(*at) == Some(me)) {
        let amount = word(&log.data, 0)?;
        let token = moved(log.emitter, effects.from, amount)?;
        return Some(passed("Withdrew", log.emitter, Some(token), amount, tokens));
    }
    // OP Stack: token here, token there and sender; the Layer 2 names the other layer's token first.
    let here = match () {
        () if is("ERC20DepositInitiated(address,address,address,address,uint256,bytes)") => account(1)?,
        () if is("ERC20BridgeInitiated(address,address,address,address,uint256,bytes)") => account(1)?,
        () if is("WithdrawalInitiated(address,address,address,address,uint256,bytes)") => account(2)?,
        () => return None,
    };
    let amount = word(&log.data, 1)?;
    let token = Address::from_word(here);
    // Locked by the bridge, or burnt.
    let ways = [moved(effects.from, log.emitter, amount), moved(effects.from, Address::ZERO, amount)];
    let is_mine = account(3) == Some(me) && ways.contains(&Some(token));
    is_mine.then(|| passed("Bridged", log.emitter, Some(token), amount, tokens))
}

fn word(data: &[u8], at: usize) -> Option<U256> {
    data.get(32 * at..32 * (at + 1)).map(U256::from_be_slice)
}

/// The sentence of a passage: an amount of a token, or of coins.
fn passed(action: &'static str, contract: Address, token: Option<Address>, amount: U256, tokens: &Tokens) -> Summary {
    let mut sentence = Summary::new(action);
    let way = match action {
        "Withdrew" => "from",
        "Bridged" => "through",
        _ => "into",
    };
    sentence.push("contract", Variable::Address(contract));
    let what = match token {
        None => amounts::coins(&mut sentence, "amount", amount),
        Some(token) => amounts::tokens(&mut sentence, amounts::ONE, token, amount, tokens),
    };
    sentence.template(format!("{{action_type}} {what} {way} {{contract}}"))
}
