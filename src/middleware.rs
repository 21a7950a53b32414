//! What every request passes: its head, its client, its rate, the cache of answers, its turn among the reads,
//! and the newest block.

pub(crate) mod access_log;
pub(crate) mod cached;
pub(crate) mod newest_block;
pub(crate) mod queued;
pub(crate) mod rates;
pub(crate) mod request_head;
pub(crate) mod request_origin;
pub(crate) mod requester;
