//! What is stored and whole: damaged parts, repair, columns that lack, and sums that are compared.

pub(crate) mod damage;
pub(crate) mod damage_watch;
pub(crate) mod missing_columns;
pub(crate) mod parts;
pub(crate) mod repair;
pub(crate) mod stored;
