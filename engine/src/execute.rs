//! One statement: its text, its connection, its data, and its entry among those in progress.

pub mod run;
pub mod running;
pub mod session;
