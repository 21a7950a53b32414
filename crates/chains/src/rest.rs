//! What REST says of a transaction beyond Ethereum's members, under the names that clients of each family expect.

use alloy_primitives::{Address, U256};
use serde_json::{Map, Value};

use crate::fees::rollup_fee::operator_fee;
use crate::fields::{integer, quantity};

/// Members of a transaction.
#[derive(Debug, Clone, Copy)]
pub struct RestMembers {
    /// The object that they are in; `None` if they stand beside the others.
    pub object: Option<&'static str>,
    /// The members, in the order of the JSON.
    pub members: &'static [RestMember],
}

impl RestMembers {
    /// For transactions with Ethereum's members only.
    pub const NONE: Self = Self { object: None, members: &[] };

    /// The member that is a token, if one is, also within another.
    #[must_use]
    pub fn token(self) -> Option<RestSource> {
        let each = self.members.iter().flat_map(|member| match member.source {
            RestSource::Object(inner) => inner,
            _ => std::slice::from_ref(member),
        });
        each.map(|member| member.source).find(|source| matches!(source, RestSource::Token(_)))
    }
}

/// A member of a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RestMember {
    /// Key in the JSON object.
    pub key: &'static str,
    /// Where its value comes from.
    pub source: RestSource,
}

/// Where the value of a member comes from. Numbers become decimal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestSource {
    /// A field of the receipt.
    Receipt(&'static str),
    /// A field of the receipt, where that has another one too.
    ReceiptBeside {
        /// The field with the value.
        field: &'static str,
        /// The field that must be there too.
        sign: &'static str,
    },
    /// A field of the transaction or block.
    Own(&'static str),
    /// A field of the transaction or block, as a number.
    Number(&'static str),
    /// The gas that is not in a field of the receipt.
    GasBeside(&'static str),
    /// What the gas in a field of the receipt cost.
    FeeOf(&'static str),
    /// What the gas that is not in a field of the receipt cost.
    FeeBeside(&'static str),
    /// What all gas cost.
    GasFee,
    /// What the operator takes, by the parameters in the receipt.
    OperatorFee,
    /// A word for transactions of some of the family's own types.
    OfTypes(&'static TypesWord),
    /// The token at the address in a field of the transaction.
    Token(&'static str),
    /// An object of members.
    Object(&'static [RestMember]),
    /// What only L1 knows, which is not read.
    OnL1,
}

/// What is said of transactions of some types.
#[derive(Debug, PartialEq, Eq)]
pub struct TypesWord {
    /// The types (EIP-2718).
    pub types: &'static [u8],
    /// The word that is written.
    pub word: &'static str,
}

/// What a member is made of.
#[derive(Debug)]
pub struct RestFacts<'a> {
    /// Fields of the transaction, or of the block, that nodes of the family give.
    pub transaction: &'a Map<String, Value>,
    /// Fields of its receipt.
    pub receipt: &'a Map<String, Value>,
    /// Units of gas used, `gasUsed` of the receipt.
    pub gas_used: u64,
    /// Wei for each gas.
    pub price: U256,
}

/// The value of a member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestValue {
    /// An integer as decimal text.
    Text(String),
    /// A number of JSON.
    Number(u64),
    /// The object of a token.
    Token(Address),
    /// An object of members.
    Object(&'static [RestMember]),
}

impl RestSource {
    /// The value; `None` where the node did not give what it is made of.
    #[must_use]
    pub fn value(self, facts: &RestFacts<'_>) -> Option<RestValue> {
        let of_receipt = |name: &str| facts.receipt.get(name).and_then(quantity);
        let beside = |name: &str| U256::from(facts.gas_used).checked_sub(of_receipt(name)?);
        let amount = match self {
            Self::Number(name) => {
                let number = facts.transaction.get(name).and_then(integer)?;
                return u64::try_from(number).ok().map(RestValue::Number);
            }
            Self::Receipt(name) => return text(facts.receipt.get(name)?),
            Self::ReceiptBeside { field, sign } => {
                return text(facts.receipt.get(field).filter(|_| facts.receipt.contains_key(sign))?);
            }
            Self::Own(name) => return text(facts.transaction.get(name)?),
            Self::GasBeside(name) => beside(name)?,
            Self::FeeOf(name) => of_receipt(name)?.checked_mul(facts.price)?,
            Self::FeeBeside(name) => beside(name)?.checked_mul(facts.price)?,
            Self::GasFee => U256::from(facts.gas_used).checked_mul(facts.price)?,
            Self::OperatorFee => operator_fee(facts.receipt, facts.gas_used)?,
            Self::OfTypes(TypesWord { types, word }) => {
                let byte = facts.transaction.get("type").and_then(quantity).and_then(|byte| u8::try_from(byte).ok())?;
                return types.contains(&byte).then(|| RestValue::Text((*word).into()));
            }
            Self::Token(name) => return address(facts.transaction.get(name)?).map(RestValue::Token),
            Self::Object(members) => return Some(RestValue::Object(members)),
            Self::OnL1 => return None,
        };
        Some(RestValue::Text(amount.to_string()))
    }
}

/// Longest number that is written as one: a hash has more digits.
const MAX_QUANTITY: usize = "0x".len() + 63;
/// Digits of an address, with `0x`.
const ADDRESS: usize = "0x".len() + 40;

/// An address that is one of an account: the zero address names none.
fn address(value: &Value) -> Option<Address> {
    value.as_str()?.parse().ok().filter(|address: &Address| !address.is_zero())
}

/// A number as decimal text, whatever else as it is: a factor of a fee is a decimal fraction, a hash has all its
/// digits.
fn text(value: &Value) -> Option<RestValue> {
    let text = value.as_str()?;
    let number = quantity(value).filter(|_| text.len() <= MAX_QUANTITY && text.len() != ADDRESS);
    Some(RestValue::Text(number.map_or_else(|| text.to_owned(), |number| number.to_string())))
}
