//! Addresses: as they appear in every answer, their pages, tabs, balances and ranking.

pub mod address;
pub mod coin_balances;
pub mod page;
pub mod ranking;
pub mod tab_counts;
