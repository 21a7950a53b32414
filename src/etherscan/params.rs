//! Parameters of a query or of a form.

use std::collections::BTreeMap;

use super::answer::{ReasonPlace, Refused};
use trawl_core::primitives::{Address, B256};

/// The parameters of a request; of repeated ones the last counts, and names that no action knows are ignored.
#[derive(Debug, Default)]
pub(super) struct Params(BTreeMap<String, String>);

impl Params {
    /// Adds those of a query string or form.
    pub fn add(&mut self, text: &[u8]) {
        self.0.extend(url::form_urlencoded::parse(text).into_owned());
    }

    /// The value of a parameter; `None` if it is absent or empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Callers of Etherscan's version 2 name the chain, and read reasons from the result.
    pub fn reason_place(&self) -> ReasonPlace {
        if self.text("chainid").is_some() { ReasonPlace::ResultToo } else { ReasonPlace::Message }
    }

    /// The value of a parameter that names a choice, in small letters.
    pub fn choice(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_ascii_lowercase()
    }

    /// A number in decimal digits; `None` if it is absent.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] if it is no number.
    pub fn number(&self, name: &str) -> Result<Option<u64>, Refused> {
        let number = |text: &str| text.parse().map_err(|_| Refused::Sentence(format!("Invalid {name}: not a number")));
        self.text(name).map(number).transpose()
    }

    /// One address.
    ///
    /// # Errors
    ///
    /// As [`Params::addresses`].
    pub fn address(&self, name: &str) -> Result<Address, Refused> {
        Ok(self.addresses(name, 1)?[0])
    }

    /// A hash of 32 bytes.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] without the parameter, or if it is no hash.
    pub fn hash(&self, name: &str) -> Result<B256, Refused> {
        let text = self.required(name)?;
        text.parse().map_err(|_| Refused::Sentence(format!("Invalid {name} format")))
    }

    /// The value of a parameter that must be there.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] without the parameter.
    pub fn required(&self, name: &str) -> Result<&str, Refused> {
        self.text(name).ok_or_else(|| Refused::Sentence(format!("Query parameter '{name}' is required")))
    }

    /// The addresses of a parameter, separated by commas.
    ///
    /// # Errors
    ///
    /// [`Refused::Sentence`] without the parameter, with a wrong address or with more than `most`.
    pub fn addresses(&self, name: &str, most: usize) -> Result<Vec<Address>, Refused> {
        let text = self.required(name)?;
        if text.split(',').count() > most {
            return Err(Refused::Sentence(format!("Query parameter '{name}' has more than {most} addresses")));
        }
        let read: Result<Vec<Address>, _> = text.split(',').map(|part| part.trim().parse()).collect();
        read.map_err(|_| Refused::Sentence("Invalid address hash".into()))
    }
}
