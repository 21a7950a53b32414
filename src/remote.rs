//! What lies outside of the store: other nodes, and documents with prices.

pub mod prices;
pub mod upstream;
