//! Flags of `views add`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trawl_core::primitives::Address;

#[derive(Debug, Subcommand)]
pub enum ViewsCommand {
    /// Create the view of an event, or of each event of an ABI; existing views are replaced.
    Add(ViewsFlags),
}

#[derive(Debug, Args)]
#[group(id = "events", required = true, args = ["event", "abi"])]
pub struct ViewsFlags {
    /// Event signature with parameter names and `indexed`: 'Swap(address indexed sender, uint256 amount)'.
    #[arg(long, value_name = "EVENT", conflicts_with = "abi")]
    pub event: Option<String>,
    /// JSON file with an ABI, or a build artifact with the member `abi`.
    #[arg(long, value_name = "FILE")]
    pub abi: Option<PathBuf>,
    /// Only logs of this contract.
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<Address>,
    /// Read the logs by contract instead of by height: for an event that few contracts emit.
    #[arg(long, conflicts_with = "address")]
    pub by_contract: bool,
    /// Name of the view; with --abi, prefix of all names [default: v_ and the event in lower case].
    #[arg(long)]
    pub name: Option<String>,
    /// Print the statements without creating views.
    #[arg(long)]
    pub print: bool,
}
