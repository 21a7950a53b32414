//! Gas prices: the oracle for the next block, and the history of fees.

pub(crate) mod cache;
mod gas_price;
mod headers;
mod history;
mod oracle;
mod settled;

pub(crate) use gas_price::{base_fee, blob_base_fee, gas_price, newest_prices, priority_fee};
pub(crate) use history::history;
pub(crate) use oracle::{acceptance, oracle};
