//! What a bridge brought from L1 or took there.

use trawl_chains::{BridgeTransfer, BridgeWay, MessageLog};

use super::sentence::{Summary, Variable};
use super::{TransactionEffects, amounts};
use crate::tokens::transfers::Tokens;

/// The only thing that a bridge of the chain brought or took, by its log; `None` if it was nothing, or several.
pub(crate) fn only_transfer(effects: &TransactionEffects) -> Option<BridgeTransfer> {
    let of_event = |event: &trawl_chains::BridgeEvent| {
        let read = |log: &super::Log| event.read(&log.emitter, MessageLog { topics: &log.topics, data: &log.data });
        let mut found = effects.logs.iter().filter_map(read);
        let only = found.next()?;
        (found.next().is_none() && !only.amount.is_zero()).then_some(only)
    };
    effects.family?.bridges.iter().find_map(of_event)
}

/// The sentence for it; what left must be what the sender of the transaction sent.
pub(crate) fn passage(effects: &TransactionEffects, tokens: &Tokens) -> Option<Summary> {
    let BridgeTransfer { way, token, from, to, amount } = only_transfer(effects)?;
    if way == BridgeWay::Leaves && from != effects.from {
        return None;
    }
    let mut sentence = Summary::new(if way == BridgeWay::Leaves { "Withdrew" } else { "Deposited" });
    let what = match token {
        Some(token) => amounts::tokens(&mut sentence, amounts::ONE, token, amount, tokens),
        None => amounts::coins(&mut sentence, "amount", amount),
    };
    let template = match way {
        BridgeWay::Leaves => format!("{{action_type}} {what} to {{to_address}} on L1"),
        BridgeWay::Arrives => {
            sentence.push("from_address", Variable::Address(from));
            format!("{{action_type}} {what} from {{from_address}} on L1 to {{to_address}}")
        }
    };
    sentence.push("to_address", Variable::Address(to));
    Some(sentence.template(template))
}
