//! What the store has of addresses: names, code, proxies, tokens, and transfers without a call.

pub(crate) mod code_timeline;
pub(crate) mod contract_calls;
pub(crate) mod info;
mod name_service;
pub(crate) mod plain_transfers;
pub(crate) mod state_proxies;
pub(crate) mod state_token;
pub(crate) mod token_facts;
