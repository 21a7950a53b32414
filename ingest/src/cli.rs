//! The command line: its flags, and what each subcommand does.

pub mod flags;
pub mod run;
