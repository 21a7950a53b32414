//! The methods that Otterscan adds to those of nodes (docs/reference/json-rpc.md#otterscan).

mod accounts;
mod block_lists;
mod blocks;
mod bounds;
mod frames;
mod params;
mod search;

pub(super) use accounts::{api_level, contract_creator, has_code, transaction_of_nonce};
pub(super) use block_lists::transactions;
pub(super) use blocks::{details_by_hash, details_by_number, header};
pub(super) use frames::{operations, trace, transaction_error};
pub(super) use search::{after, before};
