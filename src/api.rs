//! What moves next.

pub mod accept;
pub mod describe;
