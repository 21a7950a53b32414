//! A web explorer beside the API: the page that the program holds, or the files of a folder, and what such pages
//! load beside them (docs/reference/web.md).

mod assets;
pub mod files;
mod head;
mod page;
mod serve;
mod sourcify;

pub use page::{IndexPage, PageAttributes, has_paths};
pub(crate) use page::{accepts_pages, asset};
pub(crate) use serve::serve;
pub(crate) use sourcify::contract as sourcify_contract;

/// Which page is served at the paths of no route.
#[derive(Debug, Clone, Default)]
pub enum Web {
    /// That of this project.
    #[default]
    Page,
    /// The same, which knows something of its server.
    Index(IndexPage),
    /// That of a folder.
    Folder(files::WebDir),
    /// None: such paths are 404.
    None,
}
