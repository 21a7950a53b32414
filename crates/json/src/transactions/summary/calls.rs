//! Sentences of single calls: creations, approvals, wrapped coins, and calls by their name.

use alloy_primitives::keccak256;

use super::sentence::{Summary, Variable};
use super::{Log, TransactionEffects, amounts, coins};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, U256};

/// Selector of `approve(address,uint256)`, of ERC-20 and ERC-721.
pub(crate) const APPROVE: [u8; 4] = [0x09, 0x5e, 0xa7, 0xb3];
/// Selector of `deposit()` of the wrapped coin.
pub(crate) const DEPOSIT: [u8; 4] = [0xd0, 0xe3, 0x0d, 0xb0];
/// Selector of `withdraw(uint256)` of the wrapped coin.
pub(crate) const WITHDRAW: [u8; 4] = [0x2e, 0x1a, 0x7d, 0x4d];

pub(crate) fn creation(created: Address) -> Summary {
    Summary::new("Created").with("contract", Variable::Address(created)).template("{action_type} contract {contract}")
}

pub(crate) fn approval(effects: &TransactionEffects, token: Address, tokens: &Tokens) -> Option<Summary> {
    let arguments = effects.input.strip_prefix(&APPROVE)?;
    // Only the log determines the kind of an approval: an allowance of ERC-20 has its amount in the data.
    let [Log { emitter, topics, data }] = effects.logs.as_slice() else { return None };
    let spender = Address::from_slice(arguments.get(12..32)?);
    let expected = [keccak256("Approval(address,address,uint256)"), effects.from.into_word(), spender.into_word()];
    if *emitter != token || *topics != expected || data.len() != 32 || arguments.len() != 64 {
        return None;
    }
    let amount = U256::from_be_slice(data);
    let mut sentence = Summary::new("Approved");
    // No supply comes near 2^255, so such an amount means "unlimited".
    let what = if amount >= U256::ONE << 255 {
        sentence.push("amount", Variable::Text("unlimited".into()));
        sentence.push("token", Variable::Token(token, "ERC-20".into()));
        "{amount} {token}".into()
    } else {
        amounts::tokens(&mut sentence, amounts::ONE, token, amount, tokens)
    };
    sentence.push("spender_address", Variable::Address(spender));
    Some(sentence.template(format!("{{action_type}} {what} for {{spender_address}}")))
}

/// Coin into its wrapped form, or back: the contract's only log has the same account and amount.
pub(crate) fn wrap(effects: &TransactionEffects, token: Address) -> Option<Summary> {
    let [Log { emitter, topics, data }] = effects.logs.as_slice() else { return None };
    let has_event = |event: &str| *topics == [keccak256(event), effects.from.into_word()];
    let amount = (*emitter == token && data.len() == 32).then(|| U256::from_be_slice(data))?;
    // The wrapped coin takes a plain transfer for a deposit.
    let is_wrapped = (effects.input == DEPOSIT || effects.input.is_empty())
        && has_event("Deposit(address,uint256)")
        && amount == effects.value
        && !amount.is_zero();
    let is_unwrapped = effects.input.len() == 36
        && effects.input.starts_with(&WITHDRAW)
        && has_event("Withdrawal(address,uint256)")
        && U256::from_be_slice(&effects.input[4..]) == amount
        && effects.value.is_zero();
    let (action, template) = match (is_wrapped, is_unwrapped) {
        (true, _) => ("Wrapped", "{action_type} {amount} {native} into {token}"),
        (_, true) => ("Unwrapped", "{action_type} {amount} {token} into {native}"),
        _ => return None,
    };
    let sentence = Summary::new(action)
        .with("amount", Variable::coins(amount))
        .with("token", Variable::Token(token, "ERC-20".into()));
    Some(sentence.template(template))
}

pub(crate) fn call(effects: &TransactionEffects, to: Address) -> Option<Summary> {
    let sentence = Summary::new("Called")
        .with("method", Variable::Method(effects.method.clone()?))
        .with("contract", Variable::Address(to));
    Some(with_coins(sentence.template("{action_type} {method} on {contract}"), effects))
}

/// The sentence with the coins that the sender sent along, and those that it received where that is known.
pub(crate) fn with_coins(mut sentence: Summary, effects: &TransactionEffects) -> Summary {
    if !effects.value.is_zero() {
        let what = amounts::coins(&mut sentence, "sent_amount", effects.value);
        sentence.append(&format!(" with {what}"));
    }
    let received = coins::received(effects, effects.from).unwrap_or_default();
    if !received.is_zero() {
        let what = amounts::coins(&mut sentence, "received_amount", received);
        sentence.append(&format!(" for {what}"));
    }
    sentence
}

/// What a transaction that failed was meant to do: nothing of it happened but the payment of the fee.
#[must_use]
pub fn failure(effects: &TransactionEffects) -> Summary {
    let mut sentence = Summary::new("Failed");
    let Some(to) = effects.to else {
        return by_sender(sentence.template("{action_type} to create a contract"), effects);
    };
    if effects.input.is_empty() {
        let what = amounts::coins(&mut sentence, "amount", effects.value);
        sentence.push("to_address", Variable::Address(to));
        return by_sender(sentence.template(format!("{{action_type}} to transfer {what} to {{to_address}}")), effects);
    }
    sentence.push("contract", Variable::Address(to));
    let sentence = match &effects.method {
        Some(method) => sentence
            .with("method", Variable::Method(method.clone()))
            .template("{action_type} to call {method} on {contract}"),
        None => sentence.template("{action_type} to call {contract}"),
    };
    by_sender(with_coins(sentence, effects), effects)
}

/// The sentence with the account that sent the transaction; none for the zero address, from which a chain itself sends.
pub(crate) fn by_sender(mut sentence: Summary, effects: &TransactionEffects) -> Summary {
    if effects.from.is_zero() {
        return sentence;
    }
    sentence.push("sender_address", Variable::Address(effects.from));
    sentence.append(" by {sender_address}");
    sentence
}
