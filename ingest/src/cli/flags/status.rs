//! The flags of `status`.

use std::time::Duration;

use clap::Args;
use trawl_core::flags::units;

#[derive(Debug, Args)]
pub struct StatusFlags {
    /// As one JSON object.
    #[arg(long, env = "TRAWL_JSON")]
    pub json: bool,
    /// Again and again, at this interval (2s if none is given), until it is ended; with --json an object a line.
    #[arg(long, env = "TRAWL_STATUS_WATCH", value_name = "INTERVAL", num_args = 0..=1, default_missing_value = "2s",
          value_parser = units::seconds)]
    pub watch: Option<Duration>,
}
