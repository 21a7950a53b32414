//! Flags about the chain that is served.

use clap::Args;
use trawl_core::primitives::Address;
use trawl_core::primitives::user_operation::EntryPoint;

/// Longest name of a chain, in characters.
const MAX_NAME: usize = 60;
/// Longest symbol of a coin, in characters.
const MAX_SYMBOL: usize = 12;

/// What is served under which names.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Answers")]
pub(super) struct ChainFlags {
    /// Chain id, while the loaded data does not name it; an error if the data names a different one.
    #[arg(long, env = "TRAWL_CHAIN_ID")]
    pub chain_id: Option<u64>,
    /// Name of the chain on the web page [default: by chain id, if known].
    #[arg(long, env = "TRAWL_CHAIN_NAME", value_name = "NAME", value_parser = name)]
    pub chain_name: Option<String>,
    /// Symbol of the chain's coin on the web page [default: by chain id, if known].
    #[arg(long, env = "TRAWL_COIN", value_name = "SYMBOL", value_parser = symbol)]
    pub coin: Option<String>,
    /// ENS registry, used to resolve names if its state is loaded; `off` to resolve none.
    #[arg(long, env = "TRAWL_ENS_REGISTRY", value_name = "ADDRESS|off",
          default_value = "0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e", value_parser = ens_registry)]
    pub ens_registry: EnsRegistry,
    /// Additional ERC-4337 EntryPoint contracts, besides v0.6 to v0.9 at their known addresses; a version named here
    /// overrides that of a known address.
    #[arg(long, env = "TRAWL_ENTRY_POINTS", value_name = "VERSION=ADDRESS", value_delimiter = ',')]
    pub entry_points: Vec<EntryPoint>,
}

/// Where names are registered; none where no names are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EnsRegistry(pub Option<Address>);

fn ens_registry(text: &str) -> Result<EnsRegistry, String> {
    match text {
        "off" => Ok(EnsRegistry(None)),
        _ => match text.starts_with("0x").then(|| text.parse().ok()).flatten() {
            Some(address) => Ok(EnsRegistry(Some(address))),
            None => Err("must be an address such as 0x0123…, or off".to_owned()),
        },
    }
}

fn name(text: &str) -> Result<String, String> {
    printable(text, MAX_NAME)
}

fn symbol(text: &str) -> Result<String, String> {
    printable(text, MAX_SYMBOL)
}

fn printable(text: &str, most: usize) -> Result<String, String> {
    let text = text.trim();
    let is_printable = !text.is_empty() && text.chars().count() <= most && !text.chars().any(char::is_control);
    if is_printable { Ok(text.to_owned()) } else { Err(format!("must be 1 to {most} printable characters")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_is_an_address_or_off() {
        assert_eq!(ens_registry("off"), Ok(EnsRegistry(None)));
        assert_eq!(
            ens_registry("0x00000000000C2E074eC69A0dFb2997BA6C7d2e1e"),
            Ok(EnsRegistry(Some(trawl::options::ENS_REGISTRY)))
        );
        for wrong in ["", "0x12", "no", "00000000000C2E074eC69A0dFb2997BA6C7d2e1e"] {
            assert!(ens_registry(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn names_are_short_and_printable() {
        assert_eq!(symbol(" ETH ").as_deref(), Ok("ETH"));
        assert_eq!(name("Our chain").as_deref(), Ok("Our chain"));
        for wrong in ["", "  ", "A\nB", "ABCDEFGHIJKLM"] {
            assert!(symbol(wrong).is_err(), "{wrong:?}");
        }
    }
}
