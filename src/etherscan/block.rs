//! `module=block`.

pub(crate) mod countdown;
pub(crate) mod counts;
mod readable_block;
pub(crate) mod reward;
pub(crate) mod time;
