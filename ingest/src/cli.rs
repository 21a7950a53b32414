//! The command line: its flags, and what each subcommand does.

mod error;
pub mod flags;
mod follow;
mod labels;
mod load;
pub mod run;
mod setup;
mod verify;
