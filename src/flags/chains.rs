//! Flags of a server of several chains (docs/operate/several-chains.md).

use std::fmt;
use std::str::FromStr;

use clap::Args;

/// Longest name of a chain.
const MAX_NAME: usize = 32;

/// First words of paths that are of no chain, beside those that the page knows.
const TAKEN: [&str; 3] = ["chains", "mcp", "v2"];

/// The chains that are served.
#[derive(Debug, Args)]
#[command(next_help_heading = "Several chains")]
pub struct ChainsFlags {
    /// A chain and its database, instead of --clickhouse-database; its routes and its page are below /NAME. For several
    /// chains, repeat the flag or separate by commas.
    #[arg(long = "chain", env = "TRAWL_CHAINS", value_name = "NAME=DATABASE", value_delimiter = ',',
          conflicts_with_all = ["chain_id", "chain_name", "coin", "urls", "token_prices", "web_dir"])]
    pub chains: Vec<ChainDatabase>,
    /// A flag for one of several chains, such as base.upstream-rpc-url=http://127.0.0.1:9545. Repeat the flag, or
    /// separate by semicolons.
    #[arg(
        long = "chain-setting",
        env = "TRAWL_CHAIN_SETTINGS",
        value_name = "NAME.FLAG=VALUE",
        value_delimiter = ';',
        requires = "chains",
        hide_env_values = true
    )]
    pub settings: Vec<ChainSetting>,
}

/// A chain, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainDatabase {
    /// What its paths begin with.
    pub name: String,
    /// The database with its tables.
    pub database: String,
}

/// A flag of one chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSetting {
    /// The name of its chain.
    pub chain: String,
    /// The flag, without its dashes.
    pub flag: String,
    /// The value, as on a command line.
    pub value: String,
}

/// Flags of chains that do not fit each other.
#[derive(Debug, thiserror::Error)]
pub enum ChainsError {
    /// Two chains have one name.
    #[error("--chain names {0} twice: each chain needs a name of its own")]
    Twice(String),
    /// A setting is of a chain that is not served.
    #[error("--chain-setting {0}: there is no --chain of that name")]
    Unknown(String),
    /// A setting is no flag of a chain, or has a wrong value.
    #[error(
        "--chain-setting {0}: {1}; a chain may have its own chain-id, chain-name, coin, ens-registry, entry-points, \
         upstream-rpc-url, upstream-timeout, upstream-connections, stale-after, token-prices, token-prices-interval \
         and token-prices-max-age"
    )]
    Setting(String, String),
}

impl ChainsFlags {
    /// Whether the names fit each other.
    ///
    /// # Errors
    ///
    /// When two have one name, or a setting is of none.
    pub fn check(&self) -> Result<(), ChainsError> {
        let is_known = |name: &str| self.chains.iter().filter(|chain| chain.name == name).count();
        if let Some(chain) = self.chains.iter().find(|chain| is_known(&chain.name) > 1) {
            return Err(ChainsError::Twice(chain.name.clone()));
        }
        match self.settings.iter().find(|setting| is_known(&setting.chain) == 0) {
            Some(setting) => Err(ChainsError::Unknown(setting.to_string())),
            None => Ok(()),
        }
    }

    /// The settings of a chain, in their order.
    pub fn settings_of(&self, chain: &str) -> Vec<&ChainSetting> {
        self.settings.iter().filter(|setting| setting.chain == chain).collect()
    }
}

impl FromStr for ChainDatabase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, database) = text.trim().split_once('=').ok_or("write NAME=DATABASE")?;
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_word) || name.starts_with('-') {
            return Err(format!("a name has 1 to {MAX_NAME} lower-case letters, digits and hyphens"));
        }
        if TAKEN.contains(&name) || trawl::web::has_paths(name) {
            return Err(format!("/{name} is a path of the server itself: choose another name"));
        }
        if database.is_empty() {
            return Err("there is no database: write NAME=DATABASE".into());
        }
        Ok(Self { name: name.into(), database: database.into() })
    }
}

impl FromStr for ChainSetting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (chain, rest) = text.trim().split_once('.')?;
            let (flag, value) = rest.split_once('=')?;
            Some(Self { chain: chain.into(), flag: flag.into(), value: value.into() })
        };
        read().ok_or_else(|| "write NAME.FLAG=VALUE, such as base.coin=ETH".into())
    }
}

/// Without the value, which may be secret.
impl fmt::Display for ChainSetting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.chain, self.flag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_a_word_and_a_database() {
        let read = |text: &str| text.parse::<ChainDatabase>().map(|chain| (chain.name, chain.database));
        assert_eq!(read("base=trawl_base"), Ok(("base".into(), "trawl_base".into())));
        assert_eq!(read(" op-2=a=b"), Ok(("op-2".into(), "a=b".into())));
        for wrong in ["base", "=x", "base=", "Base=x", "a/b=x", "-a=x", "_=x", "a.b=x", "é=x", "api=x", "tx=x", "v2=x"]
        {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        assert!(read(&format!("{}=x", "a".repeat(33))).is_err());
    }

    #[test]
    fn a_setting_is_a_flag_of_a_chain() {
        let setting: ChainSetting = "base.upstream-rpc-url=http://a.b/?c=d".parse().expect("a setting");
        let [chain, flag, value] = ["base", "upstream-rpc-url", "http://a.b/?c=d"].map(str::to_owned);
        assert_eq!(setting, ChainSetting { chain, flag, value });
        assert_eq!(setting.to_string(), "base.upstream-rpc-url");
        assert!("base.coin".parse::<ChainSetting>().is_err() && "coin=ETH".parse::<ChainSetting>().is_err());
    }
}
