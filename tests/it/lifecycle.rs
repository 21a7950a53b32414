//! What becomes of contracts, of coins and of data on a chain that a test makes, against the node that runs it.

mod anvil;
mod authorizations;
mod code;
mod metadata;
mod plain;
mod proxies;
mod puppets;
mod scene;
mod tokens;
mod undone;
