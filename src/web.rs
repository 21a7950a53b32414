//! A web explorer beside the API: the files of a folder, and what such pages ask for beside them (docs/reference/web.md).

mod assets;
pub mod files;
mod serve;

pub(crate) use serve::serve;
