//! Figures about the chain: sums by day, fees, and charts.

pub mod charts;
pub mod days;
pub mod fees;
pub mod storage;
