//! WebSockets: connections, their sessions, and events for subscribers.

pub(crate) mod connections;
pub(crate) mod feed;
pub(crate) mod news;
pub(crate) mod session;
pub(crate) mod socket;
