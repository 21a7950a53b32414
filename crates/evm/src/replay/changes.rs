//! The state before a block or a call, with what ran since.

use revm::database::CacheDB;

use crate::partial_state::Probe;

/// The state that is known, with what ran since. Runs read it without changing it, so that a value which is only
/// guessed never stays.
pub(crate) type Changes<'p> = CacheDB<&'p Probe<'p>>;
