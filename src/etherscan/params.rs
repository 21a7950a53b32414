//! The parameters of a request: as they came, and as an action takes them.

use std::collections::BTreeMap;

use super::answer::{Dialect, Refusal};
use crate::http::values::BlockName;
use parameter::{NEWEST, OF_EVERY_ACTION, Parameter, Presence};
use trawl_core::primitives::{Address, B256};
use value::Height;

pub(super) mod parameter;
pub(super) mod value;

/// Characters of a name that a refusal repeats.
const SHOWN_CHARACTERS: usize = 40;

/// The parameters of a query string or form; of repeated ones the last counts.
#[derive(Debug)]
pub(crate) struct RawParams {
    /// By names in small letters.
    values: BTreeMap<String, String>,
    dialect: Dialect,
}

impl RawParams {
    /// None, of a client that speaks a dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self { values: BTreeMap::new(), dialect }
    }

    /// Adds those of a text. A value that is empty, `null` or `undefined`, as JavaScript writes what it does not have,
    /// is none. Blanks around names and values are of the source code of a client that wrote its address in lines.
    pub fn add(&mut self, text: &[u8]) {
        for (name, value) in url::form_urlencoded::parse(text) {
            let name = name.trim().to_ascii_lowercase();
            match value.trim() {
                "" | "null" | "undefined" => drop(self.values.remove(&name)),
                value => drop(self.values.insert(name, value.to_owned())),
            }
        }
    }

    /// Takes out the value of a name in small letters.
    pub fn take(&mut self, name: &str) -> Option<String> {
        self.values.remove(name)
    }

    /// The API key of the request.
    pub fn key(&self) -> Option<&str> {
        self.values.get("apikey").or_else(|| self.values.get("key")).map(String::as_str)
    }

    /// Callers of Etherscan's version 2 name the chain.
    pub fn dialect(&self) -> Dialect {
        if self.values.contains_key("chainid") { Dialect::Etherscan } else { self.dialect }
    }

    /// The parameters of an action that takes these `declared` ones, each with a value of its kind.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] for a parameter that it does not take, a wrong value, or a missing one.
    pub fn of_action(self, declared: ParameterGroups) -> Result<Params, Refusal> {
        let dialect = self.dialect();
        let mut values = BTreeMap::new();
        for (name, text) in self.values {
            match all(declared).find(|parameter| parameter.is_named(&name)) {
                Some(parameter) => {
                    parameter.check(&text).map_err(Refusal::Sentence)?;
                    let other = values.insert(parameter.name, text.clone());
                    if other.is_some_and(|other| other != text) {
                        return Err(contradicted(parameter.name));
                    }
                }
                None if OF_EVERY_ACTION.contains(&&*name) => {}
                None if NEWEST.is_named(&name) => NEWEST.check(&text).map_err(Refusal::Sentence)?,
                None => return Err(unexpected(&name, declared)),
            }
        }
        let is_missing = |one: &&Parameter| one.presence == Presence::Required && !values.contains_key(one.name);
        match all(declared).find(is_missing) {
            Some(missing) => Err(absent(missing.name)),
            None => Ok(Params { declared, values, dialect }),
        }
    }
}

/// The parameters that an action takes, in groups.
pub(crate) type ParameterGroups = &'static [&'static [Parameter]];

pub(crate) fn all(declared: ParameterGroups) -> impl Iterator<Item = &'static Parameter> {
    declared.iter().copied().flatten()
}

fn absent(name: &str) -> Refusal {
    Refusal::Sentence(format!("Query parameter '{name}' is required"))
}

/// The names of one parameter have different values.
fn contradicted(name: &str) -> Refusal {
    Refusal::Sentence(format!("Query parameter '{name}' has two values"))
}

fn unexpected(name: &str, declared: ParameterGroups) -> Refusal {
    let name: String = name.chars().take(SHOWN_CHARACTERS).collect();
    let names: Vec<&str> = all(declared).map(|parameter| parameter.name).collect();
    Refusal::Sentence(match names.as_slice() {
        [] => format!("Unexpected parameter '{name}': this action takes none"),
        names => format!("Unexpected parameter '{name}': this action takes {}", names.join(", ")),
    })
}

/// The parameters of an action, all of which it takes and all of whose values are of their kinds.
#[derive(Debug)]
pub(crate) struct Params {
    declared: ParameterGroups,
    values: BTreeMap<&'static str, String>,
    dialect: Dialect,
}

impl Params {
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The value of a parameter; `None` without it.
    pub fn text(&self, name: &str) -> Option<&str> {
        assert!(all(self.declared).any(|parameter| parameter.name == name), "{name} is read and not declared");
        self.values.get(name).map(String::as_str)
    }

    pub fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// A word in small letters.
    pub fn word(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_ascii_lowercase)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        value::number(self.text(name)?)
    }

    pub fn height(&self, name: &str) -> Option<Height> {
        value::height(self.text(name)?)
    }

    pub fn address(&self, name: &str) -> Option<Address> {
        value::address(self.text(name)?)
    }

    pub fn addresses(&self, name: &str) -> Option<Vec<Address>> {
        value::addresses(self.text(name)?)
    }

    pub fn hash(&self, name: &str) -> Option<B256> {
        value::hash(self.text(name)?)
    }

    pub fn tag(&self, name: &str) -> Option<BlockName> {
        value::tag(self.text(name)?)
    }

    /// A day, in days since 1970.
    pub fn day(&self, name: &str) -> Option<u64> {
        value::day(self.text(name)?)
    }

    /// A value that must be there.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] without it.
    pub fn require<T>(&self, name: &str, read: impl Fn(&Self, &str) -> Option<T>) -> Result<T, Refusal> {
        read(self, name).ok_or_else(|| absent(name))
    }

    /// A value that clients of Etherscan may leave out, which then is `usual`; others must have it.
    ///
    /// # Errors
    ///
    /// [`Refusal::Sentence`] without it in the dialect of Blockscout.
    pub fn require_or<T>(&self, name: &str, read: impl Fn(&Self, &str) -> Option<T>, usual: T) -> Result<T, Refusal> {
        match self.dialect {
            Dialect::Etherscan => Ok(read(self, name).unwrap_or(usual)),
            Dialect::Blockscout => self.require(name, read),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parameter::Kind;
    use super::*;

    const ADDRESS: &[Parameter] = &[Parameter::required("address", Kind::Address)];
    const OTHERS: &[Parameter] =
        &[Parameter::optional("startblock", Kind::Height).or(&["start_block"]), Parameter::without_effect("sort")];

    fn read(query: &str) -> Result<Params, Refusal> {
        let mut raw = RawParams::new(Dialect::Blockscout);
        raw.add(query.as_bytes());
        raw.of_action(&[ADDRESS, OTHERS])
    }

    fn refusal(query: &str) -> String {
        match read(query) {
            Err(Refusal::Sentence(sentence)) => sentence,
            other => panic!("{query}: {other:?}"),
        }
    }

    const ADDRESS_QUERY: &str = "address=0x1212121212121212121212121212121212121212";

    #[test]
    fn names_are_in_any_case_of_letters() {
        for name in ["startblock", "startBlock", "STARTBLOCK", "Start_Block"] {
            let params = read(&format!("{}&{name}=7&apiKey=x&_=1", ADDRESS_QUERY.replace("addr", "Addr"))).expect(name);
            assert_eq!(params.height("startblock"), Some(Height::Number(7)), "{name}");
        }
        assert_eq!(
            read(&format!("{ADDRESS_QUERY}&startblock=7&StartBlock=8")).map(|it| it.height("startblock")).ok(),
            Some(Some(Height::Number(8)))
        );
    }

    #[test]
    fn blanks_around_names_and_values_are_ignored() {
        let params = read(&format!("%0A%20{ADDRESS_QUERY}+%0A&%09startblock=%207%20%20&sort=%20")).expect("parameters");
        assert_eq!((params.height("startblock"), params.has("sort")), (Some(Height::Number(7)), false));
        assert_eq!(refusal("address=%20"), "Query parameter 'address' is required");
    }

    #[test]
    fn clients_of_etherscan_may_leave_out_a_value_that_others_must_have() {
        let of = |dialect: Dialect, query: &str| {
            let mut raw = RawParams::new(dialect);
            raw.add(format!("{ADDRESS_QUERY}{query}").as_bytes());
            raw.of_action(&[ADDRESS, OTHERS])?.require_or("startblock", Params::height, Height::Number(5))
        };
        assert_eq!(of(Dialect::Etherscan, "").ok(), Some(Height::Number(5)));
        assert_eq!(of(Dialect::Blockscout, "&chainid=1").ok(), Some(Height::Number(5)));
        assert!(matches!(of(Dialect::Blockscout, ""), Err(Refusal::Sentence(_))));
        for dialect in [Dialect::Etherscan, Dialect::Blockscout] {
            assert_eq!(of(dialect, "&startblock=7").ok(), Some(Height::Number(7)));
        }
    }

    #[test]
    fn nothing_is_passed_over() {
        assert_eq!(refusal("startblock=7"), "Query parameter 'address' is required");
        assert_eq!(refusal("address=undefined"), "Query parameter 'address' is required");
        assert_eq!(refusal("address=0x12"), "Invalid address hash");
        assert_eq!(
            refusal(&format!("{ADDRESS_QUERY}&startblock=x")),
            "Invalid startblock: not a number, and not 'latest'"
        );
        let sentence = "Unexpected parameter 'startblok': this action takes address, startblock, sort";
        assert_eq!(refusal(&format!("{ADDRESS_QUERY}&startBlok=7")), sentence);
        assert!(refusal(&format!("{ADDRESS_QUERY}&{}=7", "x".repeat(99))).len() < 120);
        assert!(read(&format!("{ADDRESS_QUERY}&sort=sideways&tag=Latest")).is_ok());
        assert_eq!(refusal(&format!("{ADDRESS_QUERY}&tag=7")), "Invalid tag: use 'latest' or 'pending'");
        let two = "Query parameter 'startblock' has two values";
        assert_eq!(refusal(&format!("{ADDRESS_QUERY}&startblock=7&start_block=8")), two);
        assert!(read(&format!("{ADDRESS_QUERY}&startblock=7&start_block=7")).is_ok());
    }
}
