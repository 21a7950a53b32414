//! Sales and mints of non-fungible tokens.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use alloy_primitives::keccak256;

use super::assets::{Asset, balance};
use super::sentence::{Summary, Variable};
use super::{TransactionEffects, Transfer, amounts};
use crate::tokens::transfers::Tokens;
use trawl_core::primitives::{Address, B256, U256};

/// Events of a sale: Seaport, Wyvern, LooksRare. Without them a repaid loan would look like a sale.
static SALES: LazyLock<BTreeSet<B256>> = LazyLock::new(|| {
    let events = [
        "OrdersMatched(bytes32,bytes32,address,address,uint256,bytes32)",
        "TakerBid(bytes32,uint256,address,address,address,address,address,uint256,uint256,uint256)",
        "TakerAsk(bytes32,uint256,address,address,address,address,address,uint256,uint256,uint256)",
    ];
    events.into_iter().map(keccak256).chain([*FULFILLED]).collect()
});

/// The event of Seaport.
static FULFILLED: LazyLock<B256> = LazyLock::new(|| {
    keccak256(
        "OrderFulfilled(bytes32,address,address,address,(uint8,address,uint256,uint256)[],(uint8,address,uint256,uint256,address)[])",
    )
});

/// One token went one way, and a payment the other way: the sender is the buyer or the seller.
///
/// The buyer got the token, paid in one asset and got nothing else. The seller got that asset, perhaps less of it: the
/// market and authors keep a part.
pub(crate) fn sale(effects: &TransactionEffects, tokens: &Tokens) -> Option<Summary> {
    let one = only_one(effects)?;
    let is_market = effects.logs.iter().any(|log| log.topics.first().is_some_and(|topic| SALES.contains(topic)));
    if !is_market || one.from.is_zero() || one.to.is_zero() || one.from == one.to {
        return None;
    }
    if let Some(price) = listed(effects, one) {
        return Some(bought(one, price));
    }
    let (buyer, seller) = (balance(effects, one.to)?, balance(effects, one.from)?);
    let ([(paid_in, price)], [], [], [(got, proceeds)]) =
        (&*buyer.given, &*buyer.received, &*seller.given, &*seller.received)
    else {
        return None;
    };
    if paid_in != got || proceeds > price {
        return None;
    }
    let (mut sentence, amount, end) = match effects.from {
        sender if sender == one.to => {
            let mut sentence = Summary::new("Bought");
            sentence.push("from_address", Variable::Address(one.from));
            (sentence, *price, "from {from_address}")
        }
        sender if sender == one.from => {
            let mut sentence = Summary::new("Sold");
            sentence.push("to_address", Variable::Address(one.to));
            (sentence, *proceeds, "to {to_address}")
        }
        _ => return None,
    };
    let what = name(&mut sentence, one);
    let price = match paid_in {
        Asset::Coin => amounts::coins(&mut sentence, "amount", amount),
        Asset::Token(token) => amounts::tokens(&mut sentence, ("amount", "payment_token"), *token, amount, tokens),
    };
    Some(sentence.template(format!("{{action_type}} {what} for {price} {end}")))
}

fn bought(one: &Transfer, price: U256) -> Summary {
    let mut sentence =
        Summary::new("Bought").with("from_address", Variable::Address(one.from)).with("amount", Variable::coins(price));
    let what = name(&mut sentence, one);
    sentence.template(format!("{{action_type}} {what} for {{amount}} {{native}} from {{from_address}}"))
}

/// The price of a token that its seller had listed at Seaport for coins: one order, the parts of which add up to the
/// value of the transaction, so that no call frames are needed.
fn listed(effects: &TransactionEffects, one: &Transfer) -> Option<U256> {
    let mut orders = effects.logs.iter().filter(|log| log.topics.first() == Some(&*FULFILLED));
    let (order, None) = (orders.next()?, orders.next()) else { return None };
    let is_listing = order.topics.get(1) == Some(&one.from.into_word()) && one.to == effects.from;
    if !is_listing || effects.transfers.len() != 1 || effects.value.is_zero() {
        return None;
    }
    // Order, recipient, and the offsets of the offered and the requested items; a requested item has five words.
    let word = |at: usize| order.data.get(at..at.checked_add(32)?).map(U256::from_be_slice);
    let at = usize::try_from(word(96)?).ok()?;
    let count = usize::try_from(word(at)?).ok().filter(|count| *count <= 100)?;
    let mut sum = U256::ZERO;
    for item in 0..count {
        let item = at + 32 + 160 * item;
        // Type 0 is the chain's own coin.
        if !word(item)?.is_zero() {
            return None;
        }
        sum = sum.checked_add(word(item + 96)?)?;
    }
    (sum == effects.value).then_some(sum)
}

/// Only tokens of one contract were minted, for one account; with the price if the sender minted for itself.
pub(crate) fn mint(effects: &TransactionEffects) -> Option<Summary> {
    let first = effects.transfers.first().filter(|first| first.token_type != "ERC-20")?;
    let is_alike = |other: &Transfer| {
        other.from.is_zero()
            && other.to == first.to
            && other.token == first.token
            && other.token_type == first.token_type
    };
    // An ERC-1155 id may come many times, so a count of tokens would be ambiguous.
    let is_counted = effects.transfers.len() == 1 || first.token_type == "ERC-721";
    if first.to.is_zero() || !is_counted || !effects.transfers.iter().all(is_alike) {
        return None;
    }
    let mut sentence = Summary::new("Minted");
    let what = if effects.transfers.len() == 1 {
        pieces(&mut sentence, first, first.token_id.unwrap_or_default())
    } else {
        sentence.push("count", Variable::Text(effects.transfers.len().to_string()));
        sentence.push("token", Variable::Token(first.token, first.token_type.clone()));
        "{count} pieces of {token}".into()
    };
    if let Some(price) = price(effects, first.to) {
        sentence.push("amount", Variable::coins(price));
        return Some(sentence.template(format!("{{action_type}} {what} for {{amount}} {{native}}")));
    }
    sentence.push("to_address", Variable::Address(first.to));
    Some(sentence.template(format!("{{action_type}} {what} to {{to_address}}")))
}

/// Coins that the sender paid for its own purchase, if it paid in nothing else.
fn price(effects: &TransactionEffects, owner: Address) -> Option<U256> {
    // Without call frames, coins that came back are unknown.
    effects.coins.as_ref()?;
    let balance = balance(effects, effects.from)?;
    match (&*balance.given, &*balance.received) {
        ([(Asset::Coin, paid)], []) if owner == effects.from => Some(*paid),
        _ => None,
    }
}

/// One piece, by its id. The sign of a number tells an id from a count.
fn name(sentence: &mut Summary, one: &Transfer) -> String {
    sentence.push("token_id", Variable::Text(one.token_id.unwrap_or_default().to_string()));
    sentence.push("token", Variable::Token(one.token, one.token_type.clone()));
    "#{token_id} of {token}".into()
}

/// What a transfer moved: a piece by its id, or so many of an id of ERC-1155.
pub(crate) fn pieces(sentence: &mut Summary, transfer: &Transfer, id: U256) -> String {
    let what = name(sentence, &Transfer { token_id: Some(id), ..transfer.clone() });
    if transfer.value == U256::ONE {
        return what;
    }
    sentence.push("count", Variable::Text(transfer.value.to_string()));
    format!("{{count}} pieces of {what}")
}

/// The only transfer of a non-fungible token, of one piece.
fn only_one(effects: &TransactionEffects) -> Option<&Transfer> {
    let mut others = effects.transfers.iter().filter(|transfer| transfer.token_type != "ERC-20");
    let one = others.next().filter(|one| one.token_id.is_some() && one.value == U256::ONE)?;
    others.next().is_none().then_some(one)
}
