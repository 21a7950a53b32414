//! A chain by its id, its name and its coin.

/// A chain of a family (<https://chainlist.org>, and the documents of the chains).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Its id (EIP-155).
    pub id: u64,
    /// Its name for readers.
    pub name: &'static str,
    /// The symbol of its coin; `None` where it has none, or that is not known.
    pub coin: Option<&'static str>,
}

impl Chain {
    pub(crate) const fn new(id: u64, name: &'static str, coin: &'static str) -> Self {
        Self { id, name, coin: Some(coin) }
    }

    pub(crate) const fn without_coin(id: u64, name: &'static str) -> Self {
        Self { id, name, coin: None }
    }
}
