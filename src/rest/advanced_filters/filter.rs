//! The filter of rows: by kind, addresses, amount, token and method.

use std::collections::BTreeSet;

use alloy_primitives::{Selector, U512};

use crate::error::Problem;
use crate::http::query::{Query, fixed_hex};
use trawl_core::primitives::{Address, Direction, U256};
use trawl_json::advanced_filters::{Movement, MovementKind};

/// Most values of a list.
const MAX_VALUES: usize = 100;
/// Most addresses and sides, or tokens, of a filter: each is a range of a key for every kind of row.
pub(super) const MAX_RANGES: usize = 8;
/// Digits of an amount, so that it can be compared with any number of smallest units.
const MAX_DIGITS: usize = 60;

/// Kinds of rows of coins, as clients name them.
const COIN_TYPES: [&str; 3] = ["coin_transfer", "contract_interaction", "contract_creation"];
/// Token standards; the last two have no transfers in the tables.
const STANDARDS: [&str; 5] = ["ERC-20", "ERC-721", "ERC-1155", "ERC-404", "ERC-7984"];
/// What clients write for the coin of the chain among token contracts.
const COIN: &str = "native";

/// Addresses to include (any if empty), and addresses to exclude.
#[derive(Debug, Default)]
pub(super) struct Addresses {
    pub include: BTreeSet<Address>,
    pub exclude: BTreeSet<Address>,
}

/// Whether both sides must be among the included addresses, or either of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    And,
    Or,
}

/// An amount in whole coins or tokens: `digits` without the point, of which `scale` stand behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Amount {
    digits: U256,
    scale: usize,
}

/// A filter; what is empty allows everything.
#[derive(Debug)]
pub(super) struct Filter {
    pub types: Vec<&'static str>,
    pub methods: BTreeSet<Selector>,
    pub from: Addresses,
    pub to: Addresses,
    pub relation: Relation,
    amounts: (Option<Amount>, Option<Amount>),
    pub tokens: Addresses,
    /// Whether the coin is among the included tokens, and among the excluded ones.
    coins: (bool, bool),
}

impl Filter {
    /// Reads the parameters.
    ///
    /// # Errors
    ///
    /// When one of them is wrong.
    pub fn read(query: &Query) -> Result<Self, Problem> {
        let (tokens, with_coins) = contracts(query, "token_contract_address_hashes_to_include")?;
        let (not_tokens, without_coins) = contracts(query, "token_contract_address_hashes_to_exclude")?;
        let addresses = |name: &'static str| list(query, name, fixed_hex::<Address>).map(BTreeSet::from_iter);
        let filter = Self {
            types: list(query, "transaction_types", known_type)?,
            methods: list(query, "methods", fixed_hex::<Selector>)?.into_iter().collect(),
            from: Addresses {
                include: addresses("from_address_hashes_to_include")?,
                exclude: addresses("from_address_hashes_to_exclude")?,
            },
            to: Addresses {
                include: addresses("to_address_hashes_to_include")?,
                exclude: addresses("to_address_hashes_to_exclude")?,
            },
            relation: match query.name("address_relation") {
                Some("and") => Relation::And,
                _ => Relation::Or,
            },
            amounts: (amount(query, "amount_from")?, amount(query, "amount_to")?),
            tokens: Addresses { include: tokens, exclude: not_tokens },
            coins: (with_coins, without_coins),
        };
        if filter.ranges().len() > MAX_RANGES {
            let detail = format!("at most {MAX_RANGES} addresses can be included, counting both sides");
            return Err(Problem::invalid_parameter("from_address_hashes_to_include", detail));
        }
        if filter.tokens.include.len() > MAX_RANGES {
            let detail = format!("at most {MAX_RANGES} token contracts can be included");
            return Err(Problem::invalid_parameter("token_contract_address_hashes_to_include", detail));
        }
        Ok(filter)
    }

    /// The addresses and sides whose rows include all that match; none if any address may take part.
    pub fn ranges(&self) -> Vec<(Address, Direction)> {
        let side = |addresses: &Addresses, side| addresses.include.iter().map(|one| (*one, side)).collect::<Vec<_>>();
        let (from, to) = (side(&self.from, Direction::From), side(&self.to, Direction::To));
        match self.relation {
            Relation::Or => [from, to].concat(),
            Relation::And if from.is_empty() || (!to.is_empty() && to.len() < from.len()) => to,
            Relation::And => from,
        }
    }

    /// Whether transactions and call frames are included.
    pub fn includes_coins(&self) -> bool {
        let by_type = self.types.is_empty() || self.types.iter().any(|name| COIN_TYPES.contains(name));
        let by_token = self.tokens.include.is_empty() || self.coins.0;
        by_type && by_token && !self.coins.1
    }

    /// Whether token transfers are included.
    pub fn includes_transfers(&self) -> bool {
        let by_type = self.types.is_empty() || !self.standards().is_empty();
        by_type && !(self.tokens.include.is_empty() && self.coins.0)
    }

    /// The standards of the included transfers; all if empty.
    pub fn standards(&self) -> Vec<&'static str> {
        self.types.iter().filter(|name| STANDARDS.contains(name)).copied().collect()
    }

    /// Whether amounts are compared.
    pub fn has_amounts(&self) -> bool {
        self.amounts != (None, None)
    }

    /// Whether few of the rows that are read may match, however far a read goes.
    fn is_rare(&self) -> bool {
        self.has_amounts() || !self.methods.is_empty()
    }

    /// Whether rows are read that do not match.
    pub fn passes_over(&self) -> bool {
        let both_sides = self.relation == Relation::And && !self.from.include.is_empty() && !self.to.include.is_empty();
        let excludes = [&self.from, &self.to, &self.tokens].into_iter().any(|one| !one.exclude.is_empty());
        self.is_rare() || both_sides || excludes || !self.types.is_empty() || self.tokens.include.len() > 1
    }

    /// Whether the kind, the sides and the token of a row match.
    pub fn allows(&self, row: &Movement) -> bool {
        let to: Vec<Address> = row.to.into_iter().chain(row.created).collect();
        let is_from = self.from.include.contains(&row.from);
        let is_to = to.iter().any(|to| self.to.include.contains(to));
        let sides = match (self.from.include.is_empty(), self.to.include.is_empty(), self.relation) {
            (true, true, _) => true,
            (false, false, Relation::And) => is_from && is_to,
            _ => is_from || is_to,
        };
        let excluded = self.from.exclude.contains(&row.from) || to.iter().any(|to| self.to.exclude.contains(to));
        let of_token = row.token().is_none_or(|token| {
            (self.tokens.include.is_empty() || self.tokens.include.contains(token))
                && !self.tokens.exclude.contains(token)
        });
        let kind = self.types.is_empty() || self.types.contains(&row.kind());
        sides && !excluded && of_token && kind
    }

    /// Whether the amount of a row matches; `decimals` are those of its token. An amount in unknown units does not.
    pub fn allows_amount(&self, row: &Movement, decimals: Option<u8>) -> bool {
        let decimals = match &row.what {
            MovementKind::Transaction { .. } | MovementKind::Frame { .. } => Some(18),
            MovementKind::Transfer { standard, .. } if standard == "ERC-20" => decimals,
            // Tokens with ids are counted.
            MovementKind::Transfer { .. } => Some(0),
        };
        let value = match &row.what {
            MovementKind::Transfer { standard, .. } if standard == "ERC-721" => U256::from(1),
            _ => row.value,
        };
        let side = |amount: Option<Amount>, outside: std::cmp::Ordering| match (amount, decimals) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(amount), Some(decimals)) => amount.of(value, decimals) != outside,
        };
        side(self.amounts.0, std::cmp::Ordering::Less) && side(self.amounts.1, std::cmp::Ordering::Greater)
    }
}

impl Amount {
    fn read(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let digits = format!("{whole}{rest}");
        if whole.is_empty() || !is_number(&digits) || digits.len() > MAX_DIGITS {
            return None;
        }
        Some(Self { digits: digits.parse().ok()?, scale: rest.len() })
    }

    /// How a number of smallest units compares to the amount.
    fn of(self, units: U256, decimals: u8) -> std::cmp::Ordering {
        let ten = |power: usize| U512::from(10).saturating_pow(U512::from(power));
        let units = U512::from(units).saturating_mul(ten(self.scale));
        units.cmp(&U512::from(self.digits).saturating_mul(ten(usize::from(decimals))))
    }
}

/// The comma-separated values of a parameter; empty ones and `null` are ignored.
fn list<T>(query: &Query, name: &'static str, read: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, Problem> {
    let given = query.text(name).unwrap_or_default().split(',').filter(|one| !matches!(*one, "" | "null"));
    let wrong = |one: &str| Problem::invalid_parameter(name, format!("not a value of this list: {}", shortened(one)));
    let values: Vec<T> = given.map(|one| read(one).ok_or_else(|| wrong(one))).collect::<Result<_, _>>()?;
    if values.len() > MAX_VALUES {
        return Err(Problem::invalid_parameter(name, format!("at most {MAX_VALUES} values")));
    }
    Ok(values)
}

fn shortened(text: &str) -> String {
    text.chars().take(42).collect()
}

/// Token contracts, and whether the coin is among them.
fn contracts(query: &Query, name: &'static str) -> Result<(BTreeSet<Address>, bool), Problem> {
    let one = |text: &str| if text.eq_ignore_ascii_case(COIN) { Some(None) } else { fixed_hex(text).map(Some) };
    let all: Vec<Option<Address>> = list(query, name, one)?;
    let has_coin = all.contains(&None);
    Ok((all.into_iter().flatten().collect(), has_coin))
}

fn known_type(text: &str) -> Option<&'static str> {
    COIN_TYPES.into_iter().chain(STANDARDS).find(|known| known.eq_ignore_ascii_case(text))
}

fn amount(query: &Query, name: &'static str) -> Result<Option<Amount>, Problem> {
    let Some(text) = query.text(name).filter(|text| !matches!(*text, "" | "null")) else { return Ok(None) };
    let wrong = || Problem::invalid_parameter(name, format!("is not a decimal number of at most {MAX_DIGITS} digits"));
    Amount::read(text).map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    #[test]
    fn amounts_are_compared_in_whole_coins() {
        let compare = |units: u64, decimals: u8, text: &str| {
            Amount::read(text).expect("a number").of(U256::from(units), decimals)
        };
        assert_eq!(compare(1_500_000, 6, "1.5"), Ordering::Equal);
        assert_eq!(compare(1_500_001, 6, "1.5"), Ordering::Greater);
        assert_eq!(compare(1, 18, "0.000000000000000001"), Ordering::Equal);
        assert_eq!(compare(1, 18, "0.0000000000000000011"), Ordering::Less);
        assert_eq!(compare(7, 0, "7"), Ordering::Equal);
        assert_eq!(compare(7, 255, "1"), Ordering::Less);
        let most = "9".repeat(MAX_DIGITS);
        assert_eq!(Amount::read(&most).expect("a number").of(U256::MAX, 0), Ordering::Greater);
        for bad in ["", ".", ".5", "-1", "1e3", "1.2.3", "0x1", &"9".repeat(MAX_DIGITS + 1)] {
            assert_eq!(Amount::read(bad), None, "{bad}");
        }
    }
}
