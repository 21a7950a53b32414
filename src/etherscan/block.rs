//! `module=block`.

pub(crate) mod countdown;
pub(crate) mod reward;
pub(crate) mod time;
