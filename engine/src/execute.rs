//! One statement: its text, its connection, its data, and its entry among those in progress.
//!
//! A [`job`] is prepared and [`run`]: its text is read, its user's rights are checked, a connection of its own or of
//! its [`session`] opened (a [`reader_session`] has none), and its result sent whole or through a pipe. [`running`]
//! lists those in progress, which a [`kill`] or their client's leaving [`cancel`]s; the [`query_log`] has those that are
//! over; [`admission`] bound how many of a [`workload`] there are.

mod access;
pub mod admission;
pub mod cancel;
pub mod changes;
mod connect;
pub mod figures;
pub mod job;
pub mod kill;
mod pipe;
pub mod query;
pub mod query_log;
pub mod reader_session;
pub mod run;
pub mod running;
pub mod session;
mod text;
pub mod workload;
