//! `module=logs`.

mod filters;
pub(crate) mod list;
mod union;
