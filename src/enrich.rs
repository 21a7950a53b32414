//! Data that a page shows beside its rows: facts of addresses, labels, selectors of calls, prices of tokens.

pub(crate) mod address_info;
mod code_timeline;
mod contract_calls;
pub(crate) mod contracts;
pub(crate) mod labels;
pub(crate) mod plain_transfers;
pub mod prices;
pub(crate) mod ran_code;
pub(crate) mod selectors;
mod state_proxies;
pub(crate) mod state_token;
mod stored_labels;
mod token_facts;
