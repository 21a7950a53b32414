//! REST parameters: those that each endpoint declares, the values of a request, and the errors for all others
//! (docs/reference/http-contract.md#parameters).
//!
//! Texts and pointers of errors are those that clients of this API family parse
//! (docs/reference/http-contract.md#errors).

use std::collections::BTreeMap;
use std::str::FromStr;

use crate::error::{InvalidParameter, Problem};
use trawl_core::primitives::{Address, B256, BlockNumber, U256};

/// The type of a query parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One of these names, case-sensitive.
    Name(&'static [&'static str]),
    /// A height: an integer from 0.
    Height,
    /// An integer, negative or not.
    Integer,
    /// A page size.
    Count,
    /// An address in any letter case.
    Address,
    /// A 32-byte hash in any letter case.
    Hash,
    /// An amount of 256 bits in decimal digits.
    Amount,
    /// A number of things, or `null` where it is not known, as cursors have it.
    Known,
    /// Token standards, separated by commas, in any letter case, perhaps in brackets; empty means all.
    Standards,
    /// Text that the endpoint parses itself.
    Text,
}

/// The token standards that lists can be filtered by; the last two have no transfers in the tables.
const STANDARDS: [&str; 5] = ["ERC-20", "ERC-721", "ERC-1155", "ERC-404", "ERC-7984"];

/// A group of query parameters. An endpoint accepts some such groups, besides `apikey` and `key`, which every endpoint
/// accepts and ignores.
pub(crate) type ParameterGroup = &'static [(&'static str, Kind)];

/// The parameter that sets how many items a page may have.
pub(crate) const PAGE_SIZE: ParameterGroup = &[("items_count", Kind::Count)];

/// Items of a page without the parameter `items_count`.
const DEFAULT_PAGE_SIZE: u64 = 50;

/// Most items of a page.
pub(crate) const MAX_COUNT: i64 = 100;

/// Checked query parameters.
#[derive(Debug, Default)]
pub(crate) struct Query {
    names: BTreeMap<&'static str, &'static str>,
    integers: BTreeMap<&'static str, i64>,
    addresses: BTreeMap<&'static str, Address>,
    hashes: BTreeMap<&'static str, B256>,
    amounts: BTreeMap<&'static str, U256>,
    known: BTreeMap<&'static str, Option<u64>>,
    standards: BTreeMap<&'static str, Vec<&'static str>>,
    texts: BTreeMap<&'static str, String>,
}

impl Query {
    /// Parses a query string whose percent-escapes are valid.
    ///
    /// # Errors
    ///
    /// [`Problem::Invalid`] with all wrong parameters, and the first of the unknown ones.
    pub fn read(query: &str, declared: &[ParameterGroup]) -> Result<Self, Problem> {
        let mut read = Self::default();
        let mut wrong = Vec::new();
        let mut unknown = None;
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let (base, is_list) = match name.split_once('[') {
                Some((base, _)) => (base.to_owned(), true),
                None => (name.to_string(), false),
            };
            match declared.iter().copied().flatten().find(|(known, _)| *known == base) {
                Some((known, kind)) => {
                    // Of repeated parameters the last one counts, even if it alone is valid.
                    wrong.retain(|parameter: &InvalidParameter| parameter.name != *known);
                    if let Err(detail) = read.take(known, *kind, &value, is_list) {
                        wrong.push(InvalidParameter { name: (*known).into(), detail });
                    }
                }
                None if matches!(&*base, "apikey" | "key") => {}
                None => {
                    unknown.get_or_insert_with(|| base.chars().take(40).collect::<String>());
                }
            }
        }
        wrong.extend(unknown.map(|name| InvalidParameter { detail: format!("Unexpected field: {name}"), name }));
        if wrong.is_empty() { Ok(read) } else { Err(Problem::Invalid(wrong)) }
    }

    fn take(&mut self, name: &'static str, kind: Kind, value: &str, is_list: bool) -> Result<(), String> {
        let is_integer = matches!(kind, Kind::Height | Kind::Integer | Kind::Count);
        if is_list {
            return Err(format!("Invalid {}. Got: array", if is_integer { "integer" } else { "string" }));
        }
        if let Kind::Name(names) = kind {
            let value = names.iter().find(|name| **name == value).ok_or("Invalid value for enum")?;
            self.names.insert(name, value);
            return Ok(());
        }
        match kind {
            Kind::Address => {
                let address = fixed_hex(value).ok_or(ADDRESS_FORMAT)?;
                self.addresses.insert(name, address);
                return Ok(());
            }
            Kind::Hash => {
                let hash = fixed_hex(value).ok_or(HASH_FORMAT)?;
                self.hashes.insert(name, hash);
                return Ok(());
            }
            Kind::Amount => {
                self.amounts.insert(name, amount(value).ok_or(AMOUNT_FORMAT)?);
                return Ok(());
            }
            Kind::Known => {
                self.known.insert(name, known(value).ok_or(KNOWN_FORMAT)?);
                return Ok(());
            }
            Kind::Standards => {
                self.standards.insert(name, standards(value).ok_or(STANDARDS_FORMAT)?);
                return Ok(());
            }
            Kind::Text => {
                self.texts.insert(name, value.to_owned());
                return Ok(());
            }
            _ => {}
        }
        let number: i64 = value.parse().map_err(|_| "Invalid integer. Got: string")?;
        let minimum = match kind {
            Kind::Height => 0,
            Kind::Count => 1,
            _ => i64::MIN,
        };
        if number < minimum {
            return Err(format!("{number} is smaller than inclusive minimum {minimum}"));
        }
        if kind == Kind::Count && number > MAX_COUNT {
            return Err(format!("{number} is larger than inclusive maximum {MAX_COUNT}"));
        }
        self.integers.insert(name, number);
        Ok(())
    }

    /// The value of the parameter `name`, one of its declared names.
    pub fn name(&self, name: &str) -> Option<&'static str> {
        self.names.get(name).copied()
    }

    /// The integer value of the parameter `name`.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.integers.get(name).copied()
    }

    /// The value of a parameter that is never negative.
    pub fn height(&self, name: &str) -> Option<u64> {
        self.integer(name).and_then(|number| number.try_into().ok())
    }

    /// The address value of the parameter `name`.
    pub fn address(&self, name: &str) -> Option<Address> {
        self.addresses.get(name).copied()
    }

    /// The hash value of the parameter `name`.
    pub fn hash(&self, name: &str) -> Option<B256> {
        self.hashes.get(name).copied()
    }

    /// The text of the parameter `name`.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// The amount of the parameter `name`.
    pub fn amount(&self, name: &str) -> Option<U256> {
        self.amounts.get(name).copied()
    }

    /// The number of the parameter `name`; `None` if it is absent or not known.
    pub fn known(&self, name: &str) -> Option<u64> {
        self.known.get(name).copied().flatten()
    }

    /// The token standards of the parameter `name`, as the tables write them; empty for all.
    pub fn standards(&self, name: &str) -> Vec<&'static str> {
        self.standards.get(name).cloned().unwrap_or_default()
    }

    /// The most items of the page.
    pub fn page_size(&self) -> u64 {
        self.height("items_count").or_else(|| self.height("limit")).unwrap_or(DEFAULT_PAGE_SIZE)
    }

    /// Requires that a cursor with one of `names` has all of them.
    ///
    /// # Errors
    ///
    /// When one of them is missing.
    pub fn require_all(&self, names: &[&str]) -> Result<(), Problem> {
        names.iter().try_for_each(|given| names.iter().try_for_each(|needed| self.require(given, needed)))
    }

    /// Requires that a cursor with `given` has `needed` too.
    ///
    /// # Errors
    ///
    /// When `needed` is missing.
    pub fn require(&self, given: &str, needed: &str) -> Result<(), Problem> {
        if self.integers.contains_key(given) && !self.integers.contains_key(needed) {
            let detail = format!("Missing field: {needed}");
            return Err(Problem::invalid_parameter(needed, detail));
        }
        Ok(())
    }
}

const ADDRESS_FORMAT: &str = "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{40})$/";
const HASH_FORMAT: &str = "Invalid format. Expected ~r/^0x([A-Fa-f0-9]{64})$/";
const AMOUNT_FORMAT: &str = "Invalid format. Expected ~r/^[0-9]{1,78}$/";
const KNOWN_FORMAT: &str = "Invalid format. Expected ~r/^([0-9]{1,18}|null)?$/";
const STANDARDS_FORMAT: &str =
    "Failed to cast value using any of: Schema(type: :string), Schema(title: \"EmptyString\", type: :string)";

/// An amount in decimal digits; `None` for anything else, and above 256 bits.
fn amount(text: &str) -> Option<U256> {
    let is_number = (1..=78).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

/// A number, or that it is not known; `None` for other texts.
fn known(text: &str) -> Option<Option<u64>> {
    if matches!(text, "" | "null") {
        return Some(None);
    }
    let is_number = text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())
}

/// The standards in a list; `None` if one of them is unknown.
pub(crate) fn standards(list: &str) -> Option<Vec<&'static str>> {
    let inner = list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list);
    if inner.is_empty() {
        return Some(Vec::new());
    }
    let known = |name: &str| STANDARDS.into_iter().find(|standard| standard.eq_ignore_ascii_case(name));
    inner.split(',').map(known).collect()
}

/// An address in a path, in any letter case.
///
/// # Errors
///
/// When the text is not an address.
pub(crate) fn address(text: &str) -> Result<Address, Problem> {
    fixed_hex(text).ok_or_else(|| Problem::invalid_parameter("address_hash_param", ADDRESS_FORMAT))
}

/// An id of a token in a path, in decimal digits.
///
/// # Errors
///
/// When the text is not a number of 256 bits.
pub(crate) fn token_id(text: &str) -> Result<U256, Problem> {
    amount(text).ok_or_else(|| Problem::invalid_parameter("token_id_param", AMOUNT_FORMAT))
}

/// A transaction hash in a path, in any letter case.
///
/// # Errors
///
/// When the text is not a hash.
pub(crate) fn transaction_hash(text: &str) -> Result<B256, Problem> {
    fixed_hex(text).ok_or_else(|| Problem::invalid_parameter("transaction_hash_param", HASH_FORMAT))
}

/// `0x` and two digits for each byte of the type.
pub(crate) fn fixed_hex<T: FromStr>(text: &str) -> Option<T> {
    text.strip_prefix("0x").filter(|digits| digits.len() == 2 * size_of::<T>())?;
    text.parse().ok()
}

/// A block in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockId {
    /// A height, in decimal digits.
    Number(BlockNumber),
    /// A hash, `0x` and 64 hexadecimal digits.
    Hash(B256),
}

/// A height in decimal digits, or a hash.
///
/// # Errors
///
/// When the text is neither; [`Problem::NotFound`] for a height beyond 64 bits.
pub(crate) fn block_id(text: &str) -> Result<BlockId, Problem> {
    const NAME: &str = "block_hash_or_number_param";
    if let Some(hash) = fixed_hex(text) {
        return Ok(BlockId::Hash(hash));
    }
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // Beyond 64 bits there is no block.
        return text.parse().map(BlockId::Number).map_err(|_| Problem::NotFound);
    }
    if text
        .strip_prefix('-')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
    {
        let detail = format!("{text} is smaller than inclusive minimum 0");
        return Err(Problem::InvalidNumber(vec![InvalidParameter { name: NAME.into(), detail }]));
    }
    let entry = |detail: &str| InvalidParameter { name: NAME.into(), detail: detail.into() };
    Err(Problem::Invalid(vec![
        entry("Failed to cast value using any of: Schema(title: \"FullHash\", type: :string), Schema(type: :integer)"),
        entry("Invalid integer. Got: string"),
        entry("Invalid format. Expected ~r/^0x([A-Fa-f0-9]{64})$/"),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[ParameterGroup] = &[&[
        ("type", Kind::Name(&["block", "uncle"])),
        ("block_number", Kind::Height),
        ("index", Kind::Integer),
        ("items_count", Kind::Count),
    ]];

    fn details(query: &str) -> Vec<(String, String)> {
        match Query::read(query, DECLARED) {
            Err(Problem::Invalid(wrong)) => wrong.into_iter().map(|one| (one.name, one.detail)).collect(),
            other => panic!("{query}: {other:?}"),
        }
    }

    fn one(name: &str, detail: &str) -> Vec<(String, String)> {
        vec![(name.into(), detail.into())]
    }

    #[test]
    fn wrong_values_get_the_texts_of_the_contract() {
        assert_eq!(details("type=BLOCK"), one("type", "Invalid value for enum"));
        assert_eq!(details("type="), one("type", "Invalid value for enum"));
        assert_eq!(details("index=x"), one("index", "Invalid integer. Got: string"));
        assert_eq!(details("index=99999999999999999999"), one("index", "Invalid integer. Got: string"));
        assert_eq!(details("block_number=-1"), one("block_number", "-1 is smaller than inclusive minimum 0"));
        assert_eq!(details("items_count=101"), one("items_count", "101 is larger than inclusive maximum 100"));
        assert_eq!(details("limit=1&sort=a"), one("limit", "Unexpected field: limit"));
        assert_eq!(details("type[]=block"), one("type", "Invalid string. Got: array"));
        assert_eq!(details("type=x&index=y&z=1").len(), 3);
    }

    #[test]
    fn standards_are_case_insensitive_and_without_blanks() {
        assert_eq!(standards("erc-20,ERC-721"), Some(vec!["ERC-20", "ERC-721"]));
        assert_eq!(standards("[ERC-1155]"), Some(vec!["ERC-1155"]));
        assert_eq!(standards(""), Some(Vec::new()));
        for bad in ["ERC-20, ERC-721", "ERC20", ",", "[ERC-20"] {
            assert_eq!(standards(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_last_of_two_values_counts() {
        let query = Query::read("type=nonsense&type=uncle&apikey=x&key=y", DECLARED).expect("valid");
        assert_eq!(query.name("type"), Some("uncle"));
        assert!(Query::read("type=uncle&type=nonsense", DECLARED).is_err());
    }

    #[test]
    fn blocks_are_numbers_or_hashes() {
        assert_eq!(block_id("007"), Ok(BlockId::Number(7)));
        assert_eq!(block_id(&format!("0x{}", "aB".repeat(32))), Ok(BlockId::Hash(B256::repeat_byte(0xab))));
        assert_eq!(block_id("99999999999999999999"), Err(Problem::NotFound));
        assert!(matches!(block_id("-1"), Err(Problem::InvalidNumber(_))));
        for bad in ["", "latest", "0x10", "1.5", "-", "+1"] {
            assert!(matches!(block_id(bad), Err(Problem::Invalid(_))), "{bad}");
        }
    }
}
