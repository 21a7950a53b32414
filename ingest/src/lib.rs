//! Loads a chain into the tables of Trawl.
//!
//! A block flows through stages joined by bounded channels: [`source`] (where retries live) → [`decode`] (text to typed
//! block) → [`verify`] (refuses what is inconsistent) → [`rows`] → [`mod@write`] (intent, tables, commit). [`load`]
//! joins them into a load of a range, [`follow`] into one of a node's head, [`fill`] adds parts that a load lacked;
//! [`background`] adds facts of tokens, [`watch`] reports how following goes, [`merge`] keeps tables in few parts,
//! [`labels`] adds what people know of accounts, [`audit`] reads back what is stored,
//! and [`backup`] copies it.

pub mod audit;
pub mod background;
pub mod backup;
pub mod block;
pub mod decode;
pub mod doctor;
pub mod fill;
pub mod follow;
pub mod labels;
pub mod load;
pub mod merge;
pub mod rows;
pub mod source;
pub mod state;
pub mod verify;
pub mod watch;
pub mod write;
