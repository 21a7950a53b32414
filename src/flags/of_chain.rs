//! Flags whose values may differ by chain, where several are served.

use std::time::Duration;

use clap::builder::Resettable;
use clap::{Args, Command, FromArgMatches};
use trawl_core::flags::units;

use super::chain::ChainFlags;
use super::chains::{ChainSetting, ChainsError};
use super::prices::PriceFlags;
use super::upstream::UpstreamFlags;

/// What holds for one chain.
#[derive(Debug, Clone, Args)]
pub(super) struct ChainSettings {
    #[command(flatten)]
    pub names: ChainFlags,
    #[command(flatten)]
    pub upstream: UpstreamFlags,
    /// How long a followed chain may have no new block before /api/health is 503; `off` for an idle chain.
    #[arg(long, env = "TRAWL_STALE_AFTER", value_name = "DURATION|off", default_value = "60s", help_heading = "Server",
          value_parser = stale_after)]
    pub stale_after: StaleAfter,
    #[command(flatten)]
    pub prices: PriceFlags,
}

impl ChainSettings {
    /// These, and what one chain has in place of them.
    ///
    /// # Errors
    ///
    /// [`ChainsError::Setting`] for what is no such flag, or has a wrong value.
    pub fn with(&self, settings: &[&ChainSetting]) -> Result<Self, ChainsError> {
        let mut own = self.clone();
        for setting in settings {
            // What is not given stays as it is.
            let command = Self::augment_args_for_update(Command::new("trawl-api").no_binary_name(true));
            let command = command
                .disable_help_flag(true)
                .mut_args(|argument| argument.env(Resettable::Reset).default_value(Resettable::Reset));
            let wrong = |error: clap::Error| ChainsError::Setting(setting.to_string(), first_line(&error));
            let given = command.try_get_matches_from([format!("--{}={}", setting.flag, setting.value)]);
            own.update_from_arg_matches(&given.map_err(wrong)?).map_err(wrong)?;
        }
        Ok(own)
    }
}

/// The first line of an error: the usage below it is of no command here.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

/// `--stale-after`; `None` for never.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StaleAfter(pub Option<Duration>);

fn stale_after(text: &str) -> Result<StaleAfter, String> {
    match text {
        "off" => Ok(StaleAfter(None)),
        text => units::seconds(text).map(|duration| StaleAfter(Some(duration))),
    }
}
