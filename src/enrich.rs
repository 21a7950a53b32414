//! Data that a page shows beside its rows: caches of contracts, labels, selectors of calls and of code that ran.

pub(crate) mod contracts;
pub(crate) mod labels;
pub(crate) mod primary_names;
pub(crate) mod ran_code;
pub(crate) mod selectors;
mod stored_labels;
