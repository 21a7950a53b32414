//! Which source a command line names.

use std::path::PathBuf;

use clap::Args;
use trawl_core::flags::well_known;

#[derive(Debug, Clone, Args)]
#[group(multiple = false)]
pub struct SourceFlags {
    /// JSON-RPC endpoint of a node: http, https, ws or wss. Repeat the flag for several: the next one is used when one
    /// fails; in the environment they are separated by commas (also ETH_RPC_URL) [env: TRAWL_RPC_URL=].
    // Not clap's `env`: a variable of the shell must not stand against a source that is named on the command line.
    #[arg(long, value_name = "URL", help_heading = "Source")]
    rpc_url: Vec<String>,
    /// Dump files with one JSON object per line, plain or gzipped [env: TRAWL_DUMP=].
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Source")]
    dump: Vec<PathBuf>,
    /// Folder of files written by cryo: blocks, transactions and logs as Parquet, CSV or JSON [env: TRAWL_CRYO=].
    #[arg(long, value_name = "DIR", help_heading = "Source")]
    cryo: Option<PathBuf>,
    /// Folder of files written by ethereum-etl, as CSV or JSON lines [env: TRAWL_ETL=].
    #[arg(long, value_name = "DIR", help_heading = "Source")]
    etl: Option<PathBuf>,
    /// era1 files, or folders of them [env: TRAWL_ERA1=].
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = "Source")]
    era1: Vec<PathBuf>,
}

/// Where blocks come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nodes of one chain.
    Rpc(Vec<String>),
    /// Dump files: one JSON object on each line.
    Dump(Vec<PathBuf>),
    /// A folder of cryo.
    Cryo(PathBuf),
    /// A folder of ethereum-etl.
    Etl(PathBuf),
    /// era1 archives, or folders of them.
    Era1(Vec<PathBuf>),
}

impl SourceFlags {
    /// The source that is named; the environment counts where no flag names one.
    pub fn source(&self) -> Option<Source> {
        self.named().or_else(Self::from_environment)
    }

    /// At most one of them is there.
    fn named(&self) -> Option<Source> {
        let node = || (!self.rpc_url.is_empty()).then(|| Source::Rpc(self.rpc_url.clone()));
        let dump = || (!self.dump.is_empty()).then(|| Source::Dump(self.dump.clone()));
        node()
            .or_else(dump)
            .or_else(|| self.cryo.clone().map(Source::Cryo))
            .or_else(|| self.etl.clone().map(Source::Etl))
            .or_else(|| (!self.era1.is_empty()).then(|| Source::Era1(self.era1.clone())))
    }

    fn from_environment() -> Option<Source> {
        let nodes = |urls: String| Source::Rpc(separated(urls));
        well_known("TRAWL_DUMP")
            .map(|file| Source::Dump(vec![file.into()]))
            .or_else(|| well_known("TRAWL_CRYO").map(|folder| Source::Cryo(folder.into())))
            .or_else(|| well_known("TRAWL_ETL").map(|folder| Source::Etl(folder.into())))
            .or_else(|| well_known("TRAWL_ERA1").map(|file| Source::Era1(vec![file.into()])))
            .or_else(|| well_known("TRAWL_RPC_URL").or_else(|| well_known("ETH_RPC_URL")).map(nodes))
    }
}

/// The addresses in a variable.
pub(super) fn separated(urls: String) -> Vec<String> {
    urls.split(',').map(|url| url.trim().into()).collect()
}
