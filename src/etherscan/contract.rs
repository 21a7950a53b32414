//! `module=contract`: ABIs that operators loaded, and who created contracts.

pub(crate) mod creation;
pub(crate) mod source;
pub(crate) mod verified;
