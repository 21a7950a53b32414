//! Bridges, and transactions that no account sends.

use alloy_primitives::{B256, address};

use super::*;

const BRIDGE: Address = address!("4200000000000000000000000000000000000010");
const COIN: Address = address!("deaddeaddeaddeaddeaddeaddeaddeaddead0000");

/// A log of the standard bridge.
fn event(name: &str, token: Address, from: Address, to: Address, amount: u64) -> Log {
    let event = keccak256(format!("{name}(address,address,address,address,uint256,bytes)"));
    let topics = vec![event, B256::ZERO, token.into_word(), from.into_word()];
    let words: [B256; 4] = [to.into_word(), U256::from(amount).into(), U256::from(96).into(), B256::ZERO];
    let data = words.iter().flat_map(|word| word.to_vec()).collect();
    Log { emitter: BRIDGE, topics, data }
}

fn on_rollup(logs: Vec<Log>) -> TransactionEffects {
    let family = Some(trawl_chains::by_chain_id(10));
    TransactionEffects { family, logs, input: vec![1, 2, 3, 4], to: Some(BRIDGE), ..effects() }
}

#[test]
fn deposits_and_withdrawals_of_bridges_are_summarized() {
    let left = on_rollup(vec![event("WithdrawalInitiated", COIN, SENDER, OTHER, 1_500_000_000)]);
    let sentence = sentence_of(&left);
    assert_eq!(
        sentence["summary_template"],
        "{action_type} {amount} {native} to {to_address} on L1 by {sender_address}"
    );
    assert_eq!(action(&sentence), "Withdrew");
    assert_eq!(sentence["summary_template_variables"]["amount"]["value"], "0.0000000015");
    let came = on_rollup(vec![event("DepositFinalized", COIN_A, OTHER, SENDER, 2_000_000)]);
    let sentence = sentence_of(&came);
    assert_eq!(
        sentence["summary_template"],
        "{action_type} {amount} {token} from {from_address} on L1 to {to_address} by {sender_address}"
    );
    // The zero address is no sender.
    let message = TransactionEffects { from: Address::ZERO, ..came.clone() };
    assert!(sentence_of(&message)["summary_template"].as_str().is_some_and(|text| text.ends_with("{to_address}")));
    // On another chain, of another contract, of another sender, and twice it is no such thing.
    assert_ne!(action(&sentence_of(&TransactionEffects { family: None, ..came.clone() })), "Deposited");
    let foreign = Log { emitter: OTHER, ..came.logs[0].clone() };
    assert_ne!(action(&sentence_of(&TransactionEffects { logs: vec![foreign], ..came })), "Deposited");
    assert_ne!(action(&sentence_of(&TransactionEffects { from: OTHER, ..left.clone() })), "Withdrew");
    let twice = vec![left.logs[0].clone(), left.logs[0].clone()];
    assert_ne!(action(&sentence_of(&TransactionEffects { logs: twice, ..left })), "Withdrew");
}

#[test]
fn calls_without_a_recipient_are_summarized_by_their_transfers() {
    let transfers = vec![transfer(COIN_A, SENDER, OTHER, 7), transfer(COIN_B, SENDER, OTHER, 8)];
    let calls = TransactionEffects { to: None, transfers, type_name: Some("calls"), ..effects() };
    assert_eq!(sentence_of(&calls)["summary_template_variables"]["amount"]["value"], "0.000007");
    assert_eq!(sentence_of(&TransactionEffects { transfers: Vec::new(), ..calls }), Value::Null);
}
