//! Flags of `views add`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trawl_core::primitives::Address;

#[derive(Debug, Subcommand)]
pub enum ViewsCommand {
    /// Make the view of an event, or of each event of an ABI; one that is there is made anew.
    Add(ViewsFlags),
}

#[derive(Debug, Args)]
#[group(id = "events", required = true, args = ["event", "abi"])]
pub struct ViewsFlags {
    /// The event with names and `indexed`: 'Swap(address indexed sender, uint256 amount)'.
    #[arg(long, value_name = "EVENT", conflicts_with = "abi")]
    pub event: Option<String>,
    /// An ABI as JSON, or an artifact with the member `abi`.
    #[arg(long, value_name = "FILE")]
    pub abi: Option<PathBuf>,
    /// Only logs of this contract.
    #[arg(long, value_name = "ADDRESS")]
    pub address: Option<Address>,
    /// Read the logs by contract, not by height: for an event that few contracts emit.
    #[arg(long, conflicts_with = "address")]
    pub by_contract: bool,
    /// Name of the view, with --abi what the names of all begin with [default: v_ and the event in lower case].
    #[arg(long)]
    pub name: Option<String>,
    /// Print the statements and make nothing.
    #[arg(long)]
    pub print: bool,
}
