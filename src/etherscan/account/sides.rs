//! Whose rows a list has: those of an account, or of a sender and a recipient, as Etherscan's advanced filter has them.

use crate::etherscan::answer::Refusal;
use crate::etherscan::params::Params;
use trawl_core::primitives::{Address, Direction};
use trawl_query::transactions::pairs::Pair;

/// An account, and the side that it is on, if that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Side {
    pub account: Address,
    pub direction: Option<Direction>,
}

/// Whose rows a list has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sides {
    /// Those of each of these; none if nothing names any.
    Each(Vec<Side>),
    /// Those from a sender to a recipient.
    Both(Pair),
}

impl Sides {
    /// Whether nothing names any.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Each(sides) if sides.is_empty())
    }
}

/// Reads `address`, or `from` and `to` with `fromto_opr`.
///
/// # Errors
///
/// [`Refusal::Sentence`] for what does not go together.
pub(super) fn sides(params: &Params) -> Result<Sides, Refusal> {
    let side = |name: &str, direction| params.address(name).map(|account| Side { account, direction });
    let (from, to) = (side("from", Some(Direction::From)), side("to", Some(Direction::To)));
    if let Some(own) = side("address", None) {
        return match from.or(to) {
            Some(_) => Err(Refusal::Sentence("'address' cannot be combined with 'from' and 'to'".into())),
            None => alone(params, vec![own]),
        };
    }
    match (params.word("fromto_opr").as_deref(), from, to) {
        (_, None, None) => alone(params, Vec::new()),
        (Some("and"), Some(from), Some(to)) => Ok(Sides::Both(Pair { sender: from.account, recipient: to.account })),
        (Some("and"), ..) => Err(Refusal::Sentence("'fromto_opr=and' needs both 'from' and 'to'".into())),
        (None, Some(_), Some(_)) => Err(Refusal::Sentence("Query parameter 'fromto_opr' is required".into())),
        (_, Some(from), Some(to)) if from.account == to.account => {
            Ok(Sides::Each(vec![Side { direction: None, ..from }]))
        }
        (_, from, to) => Ok(Sides::Each(from.into_iter().chain(to).collect())),
    }
}

/// Refuses an operator that joins nothing.
fn alone(params: &Params, sides: Vec<Side>) -> Result<Sides, Refusal> {
    match params.has("fromto_opr") {
        true => Err(Refusal::Sentence("'fromto_opr' needs 'from' or 'to'".into())),
        false => Ok(Sides::Each(sides)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::etherscan::answer::Dialect;
    use crate::etherscan::params::RawParams;
    use crate::etherscan::params::parameter::{Kind, Parameter};

    const DECLARED: &[Parameter] = &[
        Parameter::optional("address", Kind::Address),
        Parameter::optional("from", Kind::Address),
        Parameter::optional("to", Kind::Address),
        Parameter::optional("fromto_opr", Kind::Word(&["and", "or"])),
    ];

    fn read(query: &str) -> Result<Sides, Refusal> {
        let mut raw = RawParams::new(Dialect::Etherscan);
        raw.add(query.replace('A', &"11".repeat(20)).replace('B', &"22".repeat(20)).as_bytes());
        sides(&raw.of_action(&[DECLARED])?)
    }

    #[test]
    fn rows_are_of_an_account_or_of_either_side() {
        let [a, b] = [0x11, 0x22].map(Address::repeat_byte);
        let side = |account, direction| Side { account, direction };
        let (from, to) = (Some(Direction::From), Some(Direction::To));
        for (query, due) in [
            ("", vec![]),
            ("address=0xA", vec![side(a, None)]),
            ("from=0xA", vec![side(a, from)]),
            ("to=0xA&fromto_opr=OR", vec![side(a, to)]),
            ("from=0xA&to=0xB&fromto_opr=or", vec![side(a, from), side(b, to)]),
            ("from=0xA&to=0xA&fromto_opr=or", vec![side(a, None)]),
        ] {
            assert_eq!(read(query).ok(), Some(Sides::Each(due)), "{query}");
        }
        let both = read("from=0xA&to=0xB&fromto_opr=and").ok();
        assert_eq!(both, Some(Sides::Both(Pair { sender: a, recipient: b })));
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        for query in [
            "address=0xA&from=0xB",
            "address=0xA&fromto_opr=or",
            "fromto_opr=and",
            "from=0xA&to=0xB",
            "from=0xA&fromto_opr=and",
        ] {
            assert!(matches!(read(query), Err(Refusal::Sentence(_))), "{query}");
        }
    }
}
