//! Whether a load adds or removes.

/// The purpose of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Adds the contents of the files.
    Add,
    /// Removes them, where nothing has replaced them since. Signatures stay: a hash never changes.
    Remove,
}
