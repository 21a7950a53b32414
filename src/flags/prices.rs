//! Flags of the prices of tokens.

use std::time::Duration;

use clap::Args;
use trawl::remote::prices::PriceSettings;
use trawl_core::flags::units;

/// Where prices of tokens come from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Token prices")]
pub(super) struct PriceFlags {
    /// File or http(s) URL of a JSON document with token prices, described in docs/explain/tokens.md [default: none;
    /// prices are null].
    #[arg(long, env = "TRAWL_TOKEN_PRICES", value_name = "FILE|URL")]
    token_prices: Option<String>,
    /// How often to read the prices.
    #[arg(long, env = "TRAWL_TOKEN_PRICES_INTERVAL", default_value = "1m", value_parser = units::seconds)]
    token_prices_interval: Duration,
    /// Maximum age of a price; older ones are null.
    #[arg(long, env = "TRAWL_TOKEN_PRICES_MAX_AGE", default_value = "1h", value_parser = max_age)]
    token_prices_max_age: Duration,
}

impl PriceFlags {
    /// Where they are read, if anywhere.
    pub fn settings(&self) -> Option<PriceSettings> {
        Some(PriceSettings {
            source: self.token_prices.clone()?,
            interval: self.token_prices_interval,
            max_age: self.token_prices_max_age,
        })
    }
}

/// A duration, or 0: every price is too old then.
fn max_age(text: &str) -> Result<Duration, String> {
    if text == "0" { Ok(Duration::ZERO) } else { units::seconds(text) }
}
