//! What is known of coins that moved within a transaction: from its call frames, else from its logs and the input of a
//! known router, else a bound.

use std::borrow::Cow;
use std::sync::LazyLock;

use alloy_primitives::keccak256;

use super::{CoinMove, Log, TransactionEffects, routers};
use trawl_core::primitives::{Address, B256, U256};

/// `Deposit(address,uint256)` of the wrapped coin (<https://github.com/gnosis/canonical-weth>).
static DEPOSIT: LazyLock<B256> = LazyLock::new(|| keccak256("Deposit(address,uint256)"));
/// `Withdrawal(address,uint256)` of the wrapped coin.
static WITHDRAWAL: LazyLock<B256> = LazyLock::new(|| keccak256("Withdrawal(address,uint256)"));

/// Coins that became tokens, or tokens that became coins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Passage {
    /// The wrapped coin.
    pub token: Address,
    /// Who wrapped or unwrapped.
    pub account: Address,
    /// Wei, which are as many units of the token.
    pub amount: U256,
}

/// What was wrapped, in order.
pub(crate) fn wrapped(effects: &TransactionEffects) -> impl Iterator<Item = Passage> {
    effects.logs.iter().filter_map(|log| passage(log, &DEPOSIT))
}

/// What was unwrapped, in order.
pub(crate) fn unwrapped(effects: &TransactionEffects) -> impl Iterator<Item = Passage> {
    effects.logs.iter().filter_map(|log| passage(log, &WITHDRAWAL))
}

fn passage(log: &Log, event: &B256) -> Option<Passage> {
    let [topic, account] = log.topics.as_slice() else { return None };
    let is_one = topic == event && log.data.len() == 32;
    let account = Address::from_word(*account);
    is_one.then(|| Passage { token: log.emitter, account, amount: U256::from_be_slice(&log.data) })
}

/// Moves of coins beside the value of the transaction; none if they are unknown.
///
/// Without call frames they follow where the whole value was wrapped and nothing unwrapped, where a known router says
/// in its input whom it pays, and where there is neither value nor anything unwrapped.
pub(crate) fn known(effects: &TransactionEffects) -> Option<Cow<'_, [CoinMove]>> {
    if let Some(coins) = &effects.coins {
        return Some(Cow::Borrowed(coins));
    }
    let back: Vec<Passage> = unwrapped(effects).collect();
    if let Some(payees) = routers::payees(effects) {
        return of_router(effects, payees, &back).map(Cow::Owned);
    }
    let is_used_up = effects.value.is_zero() || sum(wrapped(effects)) == Some(effects.value);
    (back.is_empty() && is_used_up).then_some(Cow::Owned(Vec::new()))
}

/// The moves of a known router, if what was unwrapped is its own and only once: the tax of a token may be sold on the
/// way, and where that went is not known.
fn of_router(effects: &TransactionEffects, payees: routers::Payees, back: &[Passage]) -> Option<Vec<CoinMove>> {
    let router = effects.to?;
    let mut moves = Vec::new();
    match (back, payees.unwrapped) {
        ([], _) => {}
        ([only], Some(payee)) if only.account == router => {
            moves.push(CoinMove { from: router, to: payee, value: only.amount });
        }
        _ => return None,
    }
    if let Some(payee) = payees.rest {
        let rest = effects.value.checked_sub(sum(wrapped(effects).filter(|one| one.account == router))?)?;
        moves.push(CoinMove { from: router, to: payee, value: rest });
    }
    Some(moves)
}

/// The amounts in sum; none if they do not fit 256 bits.
pub(crate) fn sum(passages: impl Iterator<Item = Passage>) -> Option<U256> {
    passages.map(|passage| passage.amount).try_fold(U256::ZERO, U256::checked_add)
}

/// Coins that came to `account` beside the value of the transaction; none if they are unknown.
pub(crate) fn received(effects: &TransactionEffects, account: Address) -> Option<U256> {
    let moves = known(effects)?;
    let mine = moves.iter().filter(|coins| coins.to == account && coins.from != account);
    mine.map(|coins| coins.value).try_fold(U256::ZERO, U256::checked_add)
}
