//! libchdb: found, loaded, and made safe.
//!
//! [`library`] has its C functions, [`configuration`] what it starts with; [`outcome`] and [`insert`] own what they
//! return; a [`connection`] runs one statement at a time; the [`engine`] is the one of this process, opens connections,
//! finds [`damage`] (of parts that it has `set_aside`, and others), looks for `room` where libchdb does not, keeps some
//! in its [`pool`], and remembers the queries it has [`query_cache`].

pub mod configuration;
pub mod connection;
pub mod damage;
mod elf;
pub mod engine;
pub mod insert;
pub mod library;
pub mod outcome;
mod parameters;
pub mod pool;
pub mod query_cache;
mod room;
mod set_aside;
