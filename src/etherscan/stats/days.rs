//! `daily…`: figures of days (UTC).

pub(crate) mod blocks;
pub(crate) mod gas;
pub(crate) mod mining;
mod period;
