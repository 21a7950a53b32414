//! What readers are shown of a transaction or a block that Ethereum's do not have, with words for each.

use alloy_primitives::{Address, B256};

use crate::rest::{RestFacts, RestSource, RestValue};

/// What readers are shown on the chains of a family.
#[derive(Debug, Clone, Copy)]
pub struct ReaderFacts {
    /// The parts of the fee of a transaction, where it has several.
    pub fee: &'static [Fact],
    /// Of a transaction.
    pub transaction: &'static [Fact],
    /// Of a block.
    pub block: &'static [Fact],
    /// Senders that stand for the chain, with the name of what they send.
    pub senders: &'static [(Address, &'static str)],
    /// The field of a transaction with its calls, if there can be several.
    pub calls: Option<&'static str>,
}

impl ReaderFacts {
    /// Of families that have no facts beyond Ethereum's.
    pub const NONE: Self = Self { fee: &[], transaction: &[], block: &[], senders: &[], calls: None };
}

/// A fact with its name.
#[derive(Debug, Clone, Copy)]
pub struct Fact {
    /// Name of the fact, as pages show it.
    pub name: &'static str,
    /// Where its value comes from.
    pub source: RestSource,
    /// What it is counted in.
    pub unit: Unit,
}

/// What a value is counted in, or what kind of value it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// The smallest unit of the chain's coin.
    Wei,
    /// That for each gas.
    WeiPerGas,
    /// Units of gas.
    Gas,
    /// A number without a unit.
    Number,
    /// The account of an address.
    Address,
    /// 32 bytes, such as the hash of a block of L1.
    Hash,
}

impl Unit {
    /// Its name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wei => "wei",
            Self::WeiPerGas => "wei_per_gas",
            Self::Gas => "gas",
            Self::Number => "number",
            Self::Address => "address",
            Self::Hash => "hash",
        }
    }
}

impl Fact {
    /// A fact of a field.
    pub(crate) const fn new(name: &'static str, source: RestSource, unit: Unit) -> Self {
        Self { name, source, unit }
    }

    /// Its value as text; `None` where the source did not give it, or not in this form.
    #[must_use]
    pub fn value(&self, facts: &RestFacts<'_>) -> Option<String> {
        let text = match self.source.value(facts)? {
            RestValue::Text(text) => text,
            RestValue::Number(number) => number.to_string(),
            RestValue::Token(address) => address.to_checksum(None),
            RestValue::Object(_) => return None,
        };
        match self.unit {
            Unit::Address => text.parse::<Address>().ok().map(|address| address.to_checksum(None)),
            Unit::Hash => text.parse::<B256>().ok().map(|hash| hash.to_string()),
            Unit::Wei | Unit::WeiPerGas | Unit::Gas | Unit::Number => Some(text),
        }
    }
}
