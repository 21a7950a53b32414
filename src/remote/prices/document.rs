//! The document of prices: a JSON object by token address. `docs/explain/tokens.md` describes it.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use trawl_core::primitives::Address;
use trawl_json::tokens::prices::{Decimal, TokenPrice};

/// Prices by token address.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Prices(HashMap<Address, StatedPrice>);

/// The price of a token, and its time in Unix seconds.
#[derive(Debug, PartialEq, Eq)]
struct StatedPrice {
    price: TokenPrice,
    at: u64,
}

/// The document is not one of prices.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The text is no JSON object of objects.
    #[error("the token prices are not a JSON object of objects")]
    Json(#[from] serde_json::Error),
    /// A key is not an address.
    #[error("the token prices have the key `{key}`, which is not an address: write 0x and 40 hexadecimal digits")]
    Key {
        /// The key, which should be an address.
        key: String,
    },
    /// A value is not a number.
    #[error(
        "the {field} of {token} is {value}, which is not a decimal number: write digits and a point, such as \
         \"1.25\""
    )]
    Number {
        /// The token whose member is wrong.
        token: Address,
        /// The name of the value.
        field: &'static str,
        /// The text of the value.
        value: String,
    },
}

/// Numbers as they are written, in quotes or without, so that no digit is lost.
#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow, default)]
    exchange_rate: Option<&'a RawValue>,
    #[serde(borrow, default)]
    volume_24h: Option<&'a RawValue>,
    #[serde(borrow, default)]
    circulating_market_cap: Option<&'a RawValue>,
    #[serde(borrow, default)]
    circulating_supply: Option<&'a RawValue>,
    #[serde(default)]
    icon_url: Option<String>,
    #[serde(default)]
    updated_at: Option<u64>,
}

impl Prices {
    /// Parses a document that was written at a time, in Unix seconds, which is the time of prices without their own.
    ///
    /// # Errors
    ///
    /// When the text is no JSON object of objects, or a key or value of it is wrong.
    pub fn parse(text: &[u8], written_at: u64) -> Result<Self, DocumentError> {
        let entries: HashMap<String, Entry<'_>> = serde_json::from_slice(text)?;
        let prices = entries.into_iter().map(|(key, entry)| {
            let token: Address = key.parse().map_err(|_| DocumentError::Key { key: cut(&key) })?;
            let price = TokenPrice {
                exchange_rate: number(token, "exchange_rate", entry.exchange_rate)?,
                volume_24h: number(token, "volume_24h", entry.volume_24h)?,
                circulating_market_cap: number(token, "circulating_market_cap", entry.circulating_market_cap)?,
                circulating_supply: number(token, "circulating_supply", entry.circulating_supply)?,
                icon_url: entry.icon_url,
            };
            Ok((token, StatedPrice { price, at: entry.updated_at.unwrap_or(written_at) }))
        });
        prices.collect::<Result<_, _>>().map(Self)
    }

    /// The number of tokens.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no tokens.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The price of a token, if the document has one. Of a price from before `oldest`, in Unix seconds, only the icon
    /// is left, which does not age.
    #[must_use]
    pub fn of(&self, token: &Address, oldest: u64) -> Option<TokenPrice> {
        let stated = self.0.get(token)?;
        let is_old = stated.at < oldest;
        Some(match is_old {
            false => stated.price.clone(),
            true => TokenPrice { icon_url: stated.price.icon_url.clone(), ..TokenPrice::default() },
        })
    }
}

fn number(token: Address, field: &'static str, raw: Option<&RawValue>) -> Result<Option<Decimal>, DocumentError> {
    let Some(raw) = raw.map(RawValue::get).filter(|raw| *raw != "null") else { return Ok(None) };
    let text = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')).unwrap_or(raw);
    let refused = || DocumentError::Number { token, field, value: cut(raw) };
    Decimal::parse(text).map(Some).ok_or_else(refused)
}

/// The first 80 characters, which is enough for a message.
fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = r#"{
        "0xdAC17F958D2ee523a2206206994597C13D831ec7":
            {"exchange_rate": "1.0003", "volume_24h": 48123456789.123456789123456789, "updated_at": 1000},
        "0x6b175474e89094c44da98b954eedeac495271d0f":
            {"exchange_rate": null, "icon_url": "https://icons.example/dai.svg", "circulating_supply": "5365382702.66487", "note": 1}
    }"#;

    fn token(hex: &str) -> Address {
        hex.parse().expect("an address")
    }

    #[test]
    fn every_digit_is_kept() {
        let prices = Prices::parse(DOCUMENT.as_bytes(), 500).expect("a document");
        let tether = prices.of(&token("0xdac17f958d2ee523a2206206994597c13d831ec7"), 1000).expect("tether");
        assert_eq!(tether.exchange_rate.as_ref().map(Decimal::text), Some("1.0003"));
        assert_eq!(tether.volume_24h.as_ref().map(Decimal::text), Some("48123456789.123456789123456789"));
        assert_eq!(prices.of(&Address::ZERO, 0), None);
    }

    #[test]
    fn old_prices_are_dropped_except_for_the_icon() {
        let prices = Prices::parse(DOCUMENT.as_bytes(), 500).expect("a document");
        let tether = token("0xdac17f958d2ee523a2206206994597c13d831ec7");
        assert_eq!(prices.of(&tether, 1001), Some(TokenPrice::default()));
        // Without a time of its own a price is as old as the document.
        let dai = token("0x6b175474e89094c44da98b954eedeac495271d0f");
        let supply = |oldest| prices.of(&dai, oldest).and_then(|price| price.circulating_supply).is_some();
        assert!(supply(500) && !supply(501));
        let icon = prices.of(&dai, 501).and_then(|price| price.icon_url);
        assert_eq!(icon.as_deref(), Some("https://icons.example/dai.svg"));
    }

    #[test]
    fn other_documents_are_refused_with_the_position() {
        let error = |text: &str| Prices::parse(text.as_bytes(), 0).expect_err("no prices").to_string();
        assert!(error(r#"{"0x12": {}}"#).contains("`0x12`"));
        for value in [r#""1e5""#, "-1", "1e5", r#""""#, "true", "[1]", r#""1,5""#] {
            let text = format!(r#"{{"0x6b175474e89094c44da98b954eedeac495271d0f": {{"volume_24h": {value}}}}}"#);
            let error = error(&text);
            assert!(error.contains("volume_24h of 0x6B17") && error.contains(value), "{error}");
        }
        for text in ["", "[]", "{", r#"{"0x6b175474e89094c44da98b954eedeac495271d0f": 1}"#] {
            assert!(Prices::parse(text.as_bytes(), 0).is_err(), "{text}");
        }
    }
}
