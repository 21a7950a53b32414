//! What moves next.

pub mod describe;
