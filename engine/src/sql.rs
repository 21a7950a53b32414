//! ClickHouse SQL, as far as a server in front of libchdb has to read it; executes nothing.

pub mod aliases;
pub mod format;
pub mod harmless;
pub mod insert;
pub mod kill;
pub mod lexer;
pub mod limits;
pub mod log_comment;
pub mod modeler;
pub mod reader;
pub mod settings;
pub mod statement;
pub mod table_functions;
pub mod target;
