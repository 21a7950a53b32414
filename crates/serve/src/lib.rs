//! The HTTP accept loop that `trawl-api` and `trawl-engine` share.

pub mod accept;
