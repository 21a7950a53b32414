//! Tokens after the head: what ingest counted of them, and the transfers after that.

mod counts_at_head;
pub(crate) mod held_tokens;
pub(crate) mod holders;
pub(crate) mod id_metadata;
pub(crate) mod instances_of_holder;
pub(crate) mod instances_of_token;
pub(crate) mod token;
pub(crate) mod uncounted_transfers;
