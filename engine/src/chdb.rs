//! libchdb: found, loaded, and made safe.
//!
//! [`library`] has its C functions; [`outcome`] and [`insert`] own what they return; a [`connection`] runs one
//! statement at a time; the [`engine`] is the one of this process, and opens connections.

pub mod connection;
pub mod engine;
pub mod insert;
pub mod library;
pub mod outcome;
mod parameters;
