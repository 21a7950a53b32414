//! Contracts: one with its ABI and source, those of the same code, and those whose code runs most.

pub mod contract;
pub mod hot_contracts;
pub mod same_code;
pub mod source;
pub mod sourcify;
