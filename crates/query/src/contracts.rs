//! Contracts: lists of them, whose code runs most, and what code ran.

pub mod hot_contracts;
pub mod list;
pub mod ran_code;
