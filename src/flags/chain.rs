//! Flags about the chain that is served.

use clap::Args;
use trawl_core::primitives::user_operation::EntryPoint;

/// Longest name of a chain, in characters.
const MAX_NAME: usize = 60;
/// Longest symbol of a coin, in characters.
const MAX_SYMBOL: usize = 12;

/// What is served under which names.
#[derive(Debug, Args)]
#[command(next_help_heading = "Answers")]
pub(super) struct ChainFlags {
    /// The chain id, used while the loaded data has none; refused if the data has another one.
    #[arg(long, env = "TRAWL_CHAIN_ID")]
    pub chain_id: Option<u64>,
    /// The name of the chain on the web page; that of a known chain without.
    #[arg(long, env = "TRAWL_CHAIN_NAME", value_name = "NAME", value_parser = name)]
    pub chain_name: Option<String>,
    /// The symbol of the chain's coin on the web page; that of a known chain without.
    #[arg(long, env = "TRAWL_COIN", value_name = "SYMBOL", value_parser = symbol)]
    pub coin: Option<String>,
    /// Further contracts whose events are user operations (ERC-4337), beside the EntryPoints v0.6 to v0.9 at their
    /// known addresses; of one address the version given here counts.
    #[arg(long, env = "TRAWL_ENTRY_POINTS", value_name = "VERSION=ADDRESS", value_delimiter = ',')]
    pub entry_points: Vec<EntryPoint>,
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
    fn names_are_short_and_printable() {
        assert_eq!(symbol(" ETH ").as_deref(), Ok("ETH"));
        assert_eq!(name("Our chain").as_deref(), Ok("Our chain"));
        for wrong in ["", "  ", "A\nB", "ABCDEFGHIJKLM"] {
            assert!(symbol(wrong).is_err(), "{wrong:?}");
        }
    }
}
