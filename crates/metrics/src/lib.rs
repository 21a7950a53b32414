//! What the programs of Trawl measure: [one list](list) of metrics with their help, and the text in which a program
//! answers with those that are its own.
//!
//! A metric is an entry of the list, and `metrics::counter!`, `gauge!` or `histogram!` of the same name where its event
//! happens. The list knows nothing of what is counted.

mod by_chain;
pub mod exposition;
pub mod list;
pub mod metric;
mod page;
mod process;
pub mod queue;

pub use by_chain::ChainOfTask;
pub use exposition::{Build, CONTENT_TYPE, Exposition, InstallError, start_at_zero};
pub use metric::{Kind, Label, Metric, Program, Scope};
pub use page::page;
