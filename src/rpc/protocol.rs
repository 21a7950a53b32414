//! The protocol: endpoints, messages, contexts of calls, parameters, answers.

pub(crate) mod answer;
pub(crate) mod context;
pub(crate) mod endpoint;
pub(crate) mod envelope;
pub(crate) mod params;
pub(crate) mod trace_option;
