//! Loads a chain into the tables of Trawl.
//!
//! A block flows through stages joined by bounded channels: [`source`] (where retries live) → [`decode`] (text to
//! typed block) → [`verify`] (refuses what is inconsistent) → [`rows`] → [`batch`] → [`sink`] (intent, tables, commit).
//! [`pipeline`] joins them; [`lease`] lets one run at a time write; [`recover`] makes a killed run harmless.

pub mod batch;
pub mod block;
pub mod decode;
pub mod follow;
pub mod labels;
pub mod lease;
pub mod links;
pub mod pipeline;
pub mod prepare;
pub mod progress;
pub mod prove;
pub mod recover;
pub mod rows;
pub mod sink;
pub mod source;
pub mod state;
pub mod statistics;
pub mod status;
pub mod stored;
pub mod tokens;
pub mod verify;
pub mod whole;
