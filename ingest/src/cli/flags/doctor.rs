//! The flags of `doctor`.

use clap::Args;
use trawl_core::flags::well_known;

use super::source::separated;

#[derive(Debug, Args)]
pub struct DoctorFlags {
    /// JSON-RPC endpoint of a node to check too; repeat the flag for several. In the environment they are separated by
    /// commas (also ETH_RPC_URL) [env: TRAWL_RPC_URL=].
    #[arg(long, value_name = "URL")]
    pub rpc_url: Vec<String>,
}

impl DoctorFlags {
    /// The nodes; the environment counts where no flag names one.
    pub fn nodes(&self) -> Vec<String> {
        if !self.rpc_url.is_empty() {
            return self.rpc_url.clone();
        }
        well_known("TRAWL_RPC_URL").or_else(|| well_known("ETH_RPC_URL")).map(separated).unwrap_or_default()
    }
}
