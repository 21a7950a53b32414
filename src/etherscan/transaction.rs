//! `module=transaction`.

pub(crate) mod gas;
pub(crate) mod info;
pub(crate) mod status;
