//! The flag of what is done while another run may write.

use clap::Args;
use trawl_ingest::write::lease::ContentionPolicy;

/// What to do about the lease of another run.
#[derive(Debug, Clone, Copy, Args)]
pub struct LeaseFlags {
    /// Take over the lease of another run that you know is gone, instead of waiting for its end. Its lease is revoked,
    /// and this run writes once the other can no longer write: 20 seconds later, or as soon as its process has ended. A
    /// stopped process (SIGSTOP) on this machine must be ended first.
    #[arg(long, help_heading = "Lease")]
    pub take_over: bool,
}

impl LeaseFlags {
    /// The same as a lease knows it.
    pub fn contention(self) -> ContentionPolicy {
        if self.take_over { ContentionPolicy::TakeOver } else { ContentionPolicy::Wait }
    }
}
