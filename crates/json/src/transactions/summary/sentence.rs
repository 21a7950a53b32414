//! A sentence and the values of its placeholders, and how both are written.

use std::borrow::Cow;

use crate::addresses::address::Addresses;
use crate::amount::{COIN_DECIMALS, decimal};
use crate::tokens::transfers::Tokens;
use crate::{JsonWriter, Object};
use trawl_core::primitives::{Address, U256};

/// A sentence: a template and the values of its placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    template: Cow<'static, str>,
    variables: Vec<(&'static str, Variable)>,
}

/// The value of a placeholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Variable {
    Text(String),
    /// Smallest units, and the decimals of the token.
    Amount(U256, u8),
    /// A token, and the kind of its transfer.
    Token(Address, String),
    Address(Address),
    Method(String),
}

impl Variable {
    /// An amount of the chain's own coin.
    pub fn coins(wei: U256) -> Self {
        Self::Amount(wei, COIN_DECIMALS)
    }
}

impl Summary {
    /// A sentence without a template yet, whose first placeholder is `action_type`.
    pub(crate) fn new(action: &str) -> Self {
        Self { template: "".into(), variables: vec![("action_type", Variable::Text(action.into()))] }
    }

    /// Adds the value of a placeholder.
    pub(crate) fn push(&mut self, name: &'static str, value: Variable) {
        self.variables.push((name, value));
    }

    /// The sentence with the value of a placeholder.
    pub(crate) fn with(mut self, name: &'static str, value: Variable) -> Self {
        self.push(name, value);
        self
    }

    /// Adds text to the end of the template.
    pub(crate) fn append(&mut self, text: &str) {
        self.template.to_mut().push_str(text);
    }

    /// The sentence with its template.
    pub(crate) fn template(mut self, template: impl Into<Cow<'static, str>>) -> Self {
        self.template = template.into();
        self
    }
}

/// Writes the response: a list of sentences, the most specific first.
pub fn write_summaries(writer: &mut JsonWriter, sentences: &[Summary], addresses: &Addresses, tokens: &Tokens) {
    writer.object(|answer| {
        answer.key("success").bool(true);
        answer.key("data").object(|data| {
            data.key("summaries").array(|summaries| {
                for sentence in sentences {
                    summaries.item().object(|object| {
                        object.key("summary_template").string(&sentence.template);
                        object.key("summary_template_variables").object(|variables| {
                            for (name, variable) in &sentence.variables {
                                variables.key(name).object(|object| write(object, variable, addresses, tokens));
                            }
                        });
                    });
                }
            });
        });
    });
}

fn write(object: &mut Object<'_>, variable: &Variable, addresses: &Addresses, tokens: &Tokens) {
    match variable {
        Variable::Text(text) => {
            object.key("type").string("string");
            object.key("value").string(text);
        }
        Variable::Amount(amount, decimals) => {
            object.key("type").string("currency");
            object.key("value").string(&decimal(*amount, *decimals));
        }
        Variable::Token(token, token_type) => {
            object.key("type").string("token");
            tokens.write(object.key("value"), token, token_type);
        }
        Variable::Address(address) => {
            object.key("type").string("address");
            addresses.write(object.key("value"), address);
        }
        Variable::Method(method) => {
            object.key("type").string("method");
            object.key("value").string(method);
        }
    }
}
