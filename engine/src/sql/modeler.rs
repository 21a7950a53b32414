//! Statements of modelers besides queries: a few kinds, about tables and views that hold rows of this
//! engine.
//!
//! Which databases, the role of its connections says. Here is refused what the engine's access control has no word for:
//! kinds of tables and views that reach outside, run later or run as another user. Like [`reader`](super::reader), it
//! looks at the engine's own notation.

use crate::exception::Exception;
use crate::sql::harmless::is_harmless;
use crate::sql::lexer::{Kind, Lexer, Token};
use crate::sql::table_functions::is_refused;

/// Settings of a table that it may be made with.
pub const TABLE_SETTINGS: [&str; 3] =
    ["allow_nullable_key", "replicated_deduplication_window", "non_replicated_deduplication_window"];

/// With these an INSERT takes values as they are written, and runs nothing that stands among them.
pub const OF_INSERT: [(&str, &str); 2] =
    [("input_format_values_interpret_expressions", "0"), ("input_format_values_deduce_templates_of_expressions", "0")];

/// First words of statements that may change something.
const BEGINNINGS: [&[&str]; 15] = [
    &["CREATE", "DATABASE"],
    &["CREATE", "TABLE"],
    &["CREATE", "OR", "REPLACE", "TABLE"],
    &["CREATE", "VIEW"],
    &["CREATE", "OR", "REPLACE", "VIEW"],
    &["REPLACE", "TABLE"],
    &["DROP", "DATABASE"],
    &["DROP", "TABLE"],
    &["DROP", "VIEW"],
    &["TRUNCATE", "TABLE"],
    &["RENAME", "TABLE"],
    &["EXCHANGE", "TABLES"],
    &["INSERT", "INTO"],
    &["ALTER", "TABLE"],
    &["DELETE", "FROM"],
];

/// Words that no such statement has: other databases, other times, other users, parts of tables, and files.
const REFUSED: [&str; 22] = [
    "MATERIALIZED",
    "LIVE",
    "WINDOW",
    "REFRESH",
    "DEFINER",
    "SECURITY",
    "CLUSTER",
    "PARALLEL",
    "TEMPORARY",
    "DICTIONARY",
    "FUNCTION",
    "INFILE",
    "OUTFILE",
    "DISK",
    "VOLUME",
    "PARTITION",
    "FREEZE",
    "FETCH",
    "ATTACH",
    "DETACH",
    "MOVE",
    "UNFREEZE",
];

/// Kinds of tables that hold their rows here.
const ENGINES: [&str; 13] = [
    "MergeTree",
    "ReplacingMergeTree",
    "SummingMergeTree",
    "AggregatingMergeTree",
    "CollapsingMergeTree",
    "VersionedCollapsingMergeTree",
    "CoalescingMergeTree",
    "Memory",
    "Log",
    "TinyLog",
    "StripeLog",
    "Null",
    "Atomic",
];

/// Settings that clients send with every request and that change nothing that is refused here.
const OF_CLIENTS: [&str; 30] = [
    "log_comment",
    "readonly",
    "workload",
    "wait_end_of_query",
    "send_progress_in_http_headers",
    "http_headers_progress_interval_ms",
    "cancel_http_readonly_queries_on_client_close",
    "enable_http_compression",
    "http_zlib_compression_level",
    "network_compression_method",
    "network_zstd_compression_level",
    "receive_timeout",
    "send_timeout",
    "connect_timeout",
    "date_time_input_format",
    "input_format_null_as_default",
    "input_format_skip_unknown_fields",
    "mutations_sync",
    "lightweight_deletes_sync",
    "alter_sync",
    "allow_nondeterministic_mutations",
    "insert_distributed_sync",
    "insert_deduplicate",
    "distributed_ddl_task_timeout",
    // Types of columns, and how texts become values of them.
    "cast_string_to_dynamic_use_inference",
    "allow_experimental_json_type",
    "allow_experimental_dynamic_type",
    "allow_experimental_variant_type",
    "enable_json_type",
    "enable_time_time64_type",
];

/// Formats whose data is rows and nothing else, such as the name of a file.
const FORMATS: [&str; 17] = [
    "Values",
    "CSV",
    "CSVWithNames",
    "CSVWithNamesAndTypes",
    "TabSeparated",
    "TSV",
    "TabSeparatedWithNames",
    "TSVWithNames",
    "TabSeparatedWithNamesAndTypes",
    "JSONEachRow",
    "JSONCompactEachRow",
    "RowBinary",
    "RowBinaryWithNames",
    "RowBinaryWithNamesAndTypes",
    "Native",
    "Parquet",
    "ArrowStream",
];

fn begin(tokens: &[Token], words: &[&str]) -> bool {
    tokens.len() >= words.len() && words.iter().zip(tokens).all(|(word, token)| token.is_word(word))
}

/// Whether `written` is one of the statements that a modeler has and a reader has not.
#[must_use]
pub fn changes(written: &[u8]) -> bool {
    let tokens: Vec<Token> = Lexer::new(written).take(4).collect();
    BEGINNINGS.iter().any(|words| begin(&tokens, words))
}

fn denied(what: &str) -> Exception {
    Exception::access_denied(format!("a modeler may not use {what}"))
}

/// Refuses what such a statement may not contain.
///
/// # Errors
///
/// If it names a kind of table or view, a database or a function that is not a modeler's.
pub fn check_change(written: &[u8]) -> Result<(), Exception> {
    let tokens: Vec<Token> = Lexer::new(written).collect();
    // A column may have the name of a function or a clause if it is quoted.
    if let Some(word) = REFUSED.iter().find(|word| tokens.iter().any(|token| token.is_word(word))) {
        return Err(denied(&format!("{word}: quote it if it is a name")));
    }
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        if next.is_some_and(|next| next.is_symbol(b'(')) && is_refused(token) {
            return Err(denied("this table function"));
        }
        if token.is_word("UUID") && next.is_some_and(|next| next.kind == Kind::Literal) {
            return Err(denied("a UUID of its choice"));
        }
        if token.is_word("ENGINE") && next.is_some_and(|next| next.is_symbol(b'=')) {
            let engine = tokens.get(at + 2).map(|token| String::from_utf8_lossy(token.text).into_owned());
            if !engine.as_deref().is_some_and(|engine| ENGINES.contains(&engine)) {
                return Err(denied(&format!("this engine: {}", ENGINES.join(", "))));
            }
        }
    }
    if begin(&tokens, &["CREATE", "DATABASE"]) {
        check_database(&tokens)?;
    }
    Ok(())
}

/// `CREATE DATABASE [IF NOT EXISTS] name [ENGINE = Atomic] [COMMENT '…']`.
fn check_database(tokens: &[Token]) -> Result<(), Exception> {
    let words = ["CREATE", "DATABASE", "IF", "NOT", "EXISTS", "ENGINE", "Atomic", "COMMENT"];
    let is_other = |token: &&Token| token.kind == Kind::Word && !words.iter().any(|word| token.is_word(word));
    let names = tokens.iter().filter(is_other).count();
    let is_plain = tokens.iter().all(|token| token.kind != Kind::Symbol || token.is_symbol(b'='));
    let quoted = tokens.iter().filter(|token| token.kind == Kind::QuotedIdentifier).count();
    if is_plain && names + quoted == 1 { Ok(()) } else { Err(denied("a database of another engine or with settings")) }
}

/// Refuses a setting of a request whose statement changes something, unless it is known to change nothing of what is
/// refused.
///
/// # Errors
///
/// If it is not among them.
pub fn check_setting(name: &str) -> Result<(), Exception> {
    if is_harmless(name) || OF_CLIENTS.contains(&name) {
        return Ok(());
    }
    let text = format!("a modeler may not give the setting '{name}' with a statement that changes something");
    Err(Exception::new(164, "READONLY", text))
}

/// Refuses an INSERT with data unless its text is `INSERT INTO table (columns)`, in characters that cannot be read in
/// two ways.
///
/// # Errors
///
/// If it holds anything else, or the format is not one of rows alone.
pub fn check_insert(head: &[u8], format: &str) -> Result<(), Exception> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_`\".,() \t\r\n".contains(byte);
    let tokens: Vec<Token> = Lexer::new(head).collect();
    let is_named = begin(&tokens, &["INSERT", "INTO"]) && tokens.len() > 2;
    let has_clause = ["FUNCTION", "SETTINGS", "SELECT", "WITH", "INFILE", "PARTITION", "WATCH"]
        .iter()
        .any(|word| tokens.iter().any(|token| token.is_word(word)));
    if !head.iter().all(is_plain) || !is_named || has_clause {
        return Err(denied("more than a table and its columns in an INSERT with data"));
    }
    if FORMATS.contains(&format) {
        Ok(())
    } else {
        Err(denied(&format!("this format of data: {}", FORMATS.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_outside_or_runs_as_another_is_refused() {
        for text in [
            "CREATE DATABASE a ENGINE = PostgreSQL('h', 'd', 'u', 'p')",
            "CREATE DATABASE a ENGINE = Filesystem",
            "CREATE DATABASE a ON CLUSTER c",
            "CREATE DATABASE a SETTINGS disk = 1",
            "CREATE TABLE a.b (`c` Int8) ENGINE = URL('http://127.0.0.1/', 'CSV')",
            "CREATE TABLE a.b (`c` Int8) ENGINE = `File`(CSV)",
            "CREATE TABLE a.b UUID 'x' (`c` Int8) ENGINE = Memory",
            "CREATE TABLE a.b (`c` Int8) ENGINE = Merge('.*', '.*')",
            "CREATE VIEW a.b (`c` String) DEFINER = default SQL SECURITY DEFINER AS SELECT 1",
            "CREATE VIEW a.b (`c` String) AS SELECT * FROM url('http://127.0.0.1/')",
            "CREATE VIEW a.b (`c` String) AS SELECT * FROM `s3`('http://127.0.0.1/')",
            "CREATE MATERIALIZED VIEW a.b TO a.c AS SELECT 1",
            "INSERT INTO FUNCTION file('x') SELECT 1",
            "INSERT INTO a.b FROM INFILE 'x'",
            "ALTER TABLE a.b (FREEZE PARTITION 1)",
            "ALTER TABLE a.b (MOVE PARTITION 1 TO DISK 'x')",
            "DROP TABLE a.b ON CLUSTER c",
        ] {
            assert!(check_change(text.as_bytes()).is_err(), "{text}");
        }
        for text in [
            "CREATE DATABASE IF NOT EXISTS analytics",
            "CREATE DATABASE `an a` ENGINE = Atomic COMMENT 'x'",
            "CREATE TABLE a.b (`c` Int8, `uuid` UUID, `window` Int8) ENGINE = MergeTree ORDER BY tuple() SETTINGS allow_nullable_key = 1 AS SELECT 1",
            "CREATE OR REPLACE VIEW a.b AS SELECT format('{}', 1), file FROM numbers(3)",
            "EXCHANGE TABLES a.b AND a.c",
        ] {
            assert!(changes(text.as_bytes()) && check_change(text.as_bytes()).is_ok(), "{text}");
        }
        for text in [
            "SELECT 1",
            "SET ROLE x",
            "KILL QUERY WHERE 1",
            "SYSTEM FLUSH LOGS",
            "GRANT ALL ON *.* TO x",
            "USE a",
            "ATTACH TABLE a.b",
        ] {
            assert!(!changes(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn an_insert_with_data_is_a_table_and_columns() {
        for (head, format) in
            [("INSERT INTO a.b", "CSV"), ("insert into `a`.\"b\" (c, d)\n", "Values"), ("INSERT INTO b", "Native")]
        {
            assert!(check_insert(head.as_bytes(), format).is_ok(), "{head}");
        }
        for (head, format) in [
            ("INSERT INTO FUNCTION file('x')", "CSV"),
            ("INSERT INTO a -- b", "CSV"),
            ("INSERT INTO a SETTINGS x", "CSV"),
            ("INSERT INTO a", "Protobuf"),
            ("INSERT INTO {t:Identifier}", "CSV"),
        ] {
            assert!(check_insert(head.as_bytes(), format).is_err(), "{head}");
        }
    }
}
