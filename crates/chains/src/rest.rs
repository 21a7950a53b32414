//! What REST says of a transaction beyond Ethereum's members, under the names that clients of each family expect.

use alloy_primitives::U256;
use serde_json::{Map, Value};

use crate::fields::quantity;

/// Members of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct RestMembers {
    /// The object that they are in; `None` if they stand beside the others.
    pub object: Option<&'static str>,
    /// The members.
    pub members: &'static [RestMember],
}

impl RestMembers {
    /// No member.
    pub const NONE: Self = Self { object: None, members: &[] };
}

/// A member.
#[derive(Debug, Clone, Copy)]
pub struct RestMember {
    /// Its key.
    pub key: &'static str,
    /// Where its value comes from.
    pub source: RestSource,
}

/// Where the value of a member comes from. Numbers become decimal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestSource {
    /// A field of the receipt.
    Receipt(&'static str),
    /// A field of the transaction, as a number.
    Number(&'static str),
    /// The gas that is not in a field of the receipt.
    GasBeside(&'static str),
    /// What the gas in a field of the receipt cost.
    FeeOf(&'static str),
    /// What the gas that is not in a field of the receipt cost.
    FeeBeside(&'static str),
}

/// What a member is made of.
#[derive(Debug)]
pub struct RestFacts<'a> {
    /// Fields of the transaction that nodes of the family give.
    pub transaction: &'a Map<String, Value>,
    /// Fields of its receipt.
    pub receipt: &'a Map<String, Value>,
    /// Gas used.
    pub gas_used: u64,
    /// Wei for each gas.
    pub price: U256,
}

/// The value of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestValue {
    /// Decimal text.
    Text(String),
    /// A number.
    Number(u64),
}

impl RestSource {
    /// The value; `None` where the node did not give what it is made of.
    #[must_use]
    pub fn value(self, facts: &RestFacts<'_>) -> Option<RestValue> {
        let of_receipt = |name: &str| facts.receipt.get(name).and_then(quantity);
        let beside = |name: &str| U256::from(facts.gas_used).checked_sub(of_receipt(name)?);
        let amount = match self {
            Self::Number(name) => {
                let number = facts.transaction.get(name).and_then(quantity)?;
                return u64::try_from(number).ok().map(RestValue::Number);
            }
            // A factor of a fee is a decimal fraction as text.
            Self::Receipt(name) => match facts.receipt.get(name)?.as_str()? {
                text if text.starts_with("0x") => of_receipt(name)?,
                text => return Some(RestValue::Text(text.to_owned())),
            },
            Self::GasBeside(name) => beside(name)?,
            Self::FeeOf(name) => of_receipt(name)?.checked_mul(facts.price)?,
            Self::FeeBeside(name) => beside(name)?.checked_mul(facts.price)?,
        };
        Some(RestValue::Text(amount.to_string()))
    }
}
