//! libchdb: found, loaded, and made safe.

pub mod connection;
pub mod library;
