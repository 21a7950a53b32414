//! What the README's commands and the tests need of the machine: the engine library, programs, free ports.
//! No product code.

pub mod api_types;
pub mod budget;
pub mod clickhouse;
pub mod engine_library;
pub mod http;
pub mod package;
pub mod process;
pub mod tools;
pub mod workspace;
