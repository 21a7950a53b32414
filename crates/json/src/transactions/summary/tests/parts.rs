//! Vaults, steps, wrapped coins and approvals.

use super::*;

#[test]
fn a_vault_needs_events_that_match_its_transfers() {
    let shares = transfer(OTHER, Address::ZERO, SENDER, 4);
    let event = |amount: u64| {
        let topics =
            vec![keccak256("Deposit(address,address,uint256,uint256)"), SENDER.into_word(), SENDER.into_word()];
        let data = [U256::from(amount), U256::from(4)].map(|word| word.to_be_bytes::<32>()).concat();
        vec![Log { emitter: OTHER, topics, data }]
    };
    let transfers = vec![transfer(COIN_A, SENDER, OTHER, 5_000_000), shares];
    let deposit = TransactionEffects { transfers, input: vec![1, 2, 3, 4], logs: event(5_000_000), ..effects() };
    let sentence = sentence_of(&deposit);
    assert_eq!(sentence["summary_template"], "{action_type} {amount} {token} into {contract} by {sender_address}");
    assert_eq!(sentence["summary_template_variables"]["amount"]["value"], "5");
    assert_eq!(action(&sentence_of(&TransactionEffects { logs: event(6_000_000), ..deposit.clone() })), "Called");
    assert_eq!(action(&sentence_of(&TransactionEffects { to: Some(COIN_B), ..deposit })), "Called");
}

#[test]
fn steps_follow_the_call_one_by_one() {
    let transfers = vec![transfer(COIN_A, SENDER, OTHER, 1), transfer(COIN_B, SENDER, OTHER, 2)];
    let several = TransactionEffects { transfers, input: vec![1, 2, 3, 4], ..effects() };
    assert_eq!(summaries(&named(&several), &tokens()).len(), 3);
    let many = TransactionEffects { transfers: vec![transfer(COIN_A, SENDER, OTHER, 1); 6], ..several };
    assert_eq!(summaries(&named(&many), &tokens()).len(), 2);
}

#[test]
fn coins_are_wrapped_if_the_log_matches() {
    let log = |event: &str, amount: u64| {
        let topics = vec![keccak256(event), SENDER.into_word()];
        vec![Log { emitter: OTHER, topics, data: U256::from(amount).to_be_bytes::<32>().to_vec() }]
    };
    let wrapped = TransactionEffects {
        value: U256::from(9),
        input: DEPOSIT.to_vec(),
        logs: log("Deposit(address,uint256)", 9),
        ..effects()
    };
    assert_eq!(sentence_of(&wrapped)["summary_template_variables"]["action_type"]["value"], "Wrapped");
    let other = TransactionEffects { logs: log("Deposit(address,uint256)", 8), ..wrapped.clone() };
    assert_eq!(sentence_of(&other)["summary_template_variables"]["action_type"]["value"], "Called");
    let stranger = TransactionEffects { logs: log("Paid(address,uint256)", 9), ..wrapped };
    assert_eq!(sentence_of(&stranger)["summary_template_variables"]["action_type"]["value"], "Called");
    let input = [&WITHDRAW[..], &U256::from(9).to_be_bytes::<32>()].concat();
    let back = TransactionEffects { input, logs: log("Withdrawal(address,uint256)", 9), ..effects() };
    assert_eq!(
        sentence_of(&back)["summary_template"],
        "{action_type} {amount} {token} into {native} by {sender_address}"
    );
}

#[test]
fn an_approval_is_that_of_its_log() {
    let spender = Address::repeat_byte(9);
    let input = [&APPROVE[..], spender.into_word().as_slice(), &U256::MAX.to_be_bytes::<32>()].concat();
    let log = |owner: Address, amount: U256| {
        let topics = vec![keccak256("Approval(address,address,uint256)"), owner.into_word(), spender.into_word()];
        vec![Log { emitter: COIN_A, topics, data: amount.to_be_bytes::<32>().to_vec() }]
    };
    let approved = TransactionEffects { to: Some(COIN_A), input, logs: log(SENDER, U256::MAX), ..effects() };
    let sentence = sentence_of(&approved);
    assert_eq!(
        sentence["summary_template"],
        "{action_type} {amount} {token} for {spender_address} by {sender_address}"
    );
    assert_eq!(sentence["summary_template_variables"]["amount"]["value"], "unlimited");
    let some = TransactionEffects { logs: log(SENDER, U256::from(1_500_000)), ..approved.clone() };
    assert_eq!(sentence_of(&some)["summary_template_variables"]["amount"]["value"], "1.5");
    let other = TransactionEffects { logs: log(OTHER, U256::MAX), ..approved };
    assert_eq!(sentence_of(&other)["summary_template_variables"]["method"]["value"], "approve");
}
