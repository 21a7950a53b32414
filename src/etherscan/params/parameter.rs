//! What parameters there are, and what their values have to be.

use super::value;

/// What a value has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 20 bytes: `0x` and 40 hexadecimal digits.
    Address,
    /// Addresses, separated by commas: so many at most.
    Addresses(usize),
    /// A hash of 32 bytes.
    Hash,
    /// An integer from 0, in decimal digits.
    Number,
    /// The height of a block in decimal digits, or `latest`.
    Height,
    /// The block after which state is read: a name or a height, in decimal digits or as a quantity.
    Tag,
    /// A day of the calendar: YYYY-MM-DD, in UTC.
    Date,
    /// One of some words, in any letter case.
    Word(&'static [&'static str]),
    /// What JSON-RPC checks.
    Raw,
}

impl Kind {
    /// What is wrong with a value of the parameter `name`.
    ///
    /// # Errors
    ///
    /// The sentence that the client reads.
    fn check(self, name: &str, text: &str) -> Result<(), String> {
        let format = || match name {
            "address" => "Invalid address hash".to_owned(),
            name => format!("Invalid {name} format"),
        };
        match self {
            Self::Address => value::address(text).map(drop).ok_or_else(format),
            Self::Addresses(most) if text.split(',').count() > most => {
                Err(format!("Query parameter '{name}' has more than {most} addresses"))
            }
            Self::Addresses(_) => value::addresses(text).map(drop).ok_or_else(format),
            Self::Hash => value::hash(text).map(drop).ok_or_else(format),
            Self::Number => value::number(text).map(drop).ok_or_else(|| format!("Invalid {name}: not a number")),
            Self::Height => {
                value::height(text).map(drop).ok_or_else(|| format!("Invalid {name}: not a number, and not 'latest'"))
            }
            Self::Tag => value::tag(text)
                .map(drop)
                .ok_or_else(|| format!("Invalid {name}: use a height, 'latest', 'safe', 'finalized' or 'earliest'")),
            Self::Date => value::day(text)
                .map(drop)
                .ok_or_else(|| format!("Invalid {name}: write a day since 1970 as YYYY-MM-DD")),
            Self::Word(words) if words.iter().any(|word| word.eq_ignore_ascii_case(text)) => Ok(()),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
                Err(format!("Invalid {name}: use {}", words.join(" or ")))
            }
            Self::Raw => Ok(()),
        }
    }
}

/// Whether an action needs a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It refuses a request without it.
    Required,
    /// It has a default.
    Optional,
    /// Clients send it, and the answer is the same whatever it says.
    WithoutEffect,
}

/// A parameter of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Its name as Etherscan writes it; clients write it in any letter case.
    pub name: &'static str,
    /// Other names that clients have for it.
    pub aliases: &'static [&'static str],
    pub kind: Kind,
    pub presence: Presence,
}

impl Parameter {
    pub const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, aliases: &[], kind, presence: Presence::Required }
    }

    pub const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { name, aliases: &[], kind, presence: Presence::Optional }
    }

    pub const fn without_effect(name: &'static str) -> Self {
        Self { name, aliases: &[], kind: Kind::Raw, presence: Presence::WithoutEffect }
    }

    /// The same with other names.
    pub const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    /// Whether a request calls it so.
    pub fn is_named(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || self.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    }

    /// What is wrong with a value.
    ///
    /// # Errors
    ///
    /// The sentence that the client reads.
    pub fn check(&self, text: &str) -> Result<(), String> {
        self.kind.check(self.name, text)
    }
}

/// Wallets send `tag=latest` with any request, also to actions that read no state.
pub(crate) const NEWEST: Parameter = Parameter::optional("tag", Kind::Word(&["latest", "pending"]));

/// Parameters that every action accepts and ignores: keys, and those that avoid caches.
pub(crate) const OF_EVERY_ACTION: &[&str] = &["apikey", "key", "chainid", "_"];
