//! The flags of `status`.

use std::time::Duration;

use clap::Args;
use trawl_core::flags::units;

#[derive(Debug, Args)]
pub struct StatusFlags {
    /// Print one JSON object.
    #[arg(long, env = "TRAWL_JSON")]
    pub json: bool,
    /// Repeat at this interval (2s if none is given) until interrupted; with --json, one object per line.
    #[arg(long, env = "TRAWL_STATUS_WATCH", value_name = "INTERVAL", num_args = 0..=1, default_missing_value = "2s",
          value_parser = units::seconds)]
    pub watch: Option<Duration>,
}
