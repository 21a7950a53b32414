//! Statements and settings refused to a reader, beyond those that the engine's own `readonly` refuses; executes
//! nothing.
//!
//! Everything here looks at what the engine's parser made of a text (`Connection::reformat`), never at the text as it
//! came: which characters are blanks, quotes or comments is then the engine's decision alone.

use crate::exception::Exception;
use crate::sql::aliases::column_names;
use crate::sql::harmless::is_harmless;
use crate::sql::lexer::{Kind, Lexer, Token};
use crate::sql::limits::ReaderLimits;
use crate::sql::settings;

/// Settings a reader may not give at all. A statement's text may hold the [harmless](is_harmless) ones only.
const SETTINGS: [&str; 40] = [
    // These lift the limits, or change the language.
    "readonly",
    "profile",
    "dialect",
    "implicit_select",
    "compatibility",
    "apply_settings_from_server",
    // These hold SQL, or the name of a table.
    "additional_table_filters",
    "additional_result_filter",
    "parallel_replicas_custom_key",
    "implicit_table_at_top_level",
    // These name files or servers that the engine reads or writes.
    "format_schema",
    "format_schema_source",
    "format_template_row",
    "format_template_resultset",
    "format_avro_schema_registry_url",
    "output_format_schema",
    "input_format_record_errors_file_path",
    // A statement is found by this when it is to be cancelled.
    "log_comment",
    "replace_running_query",
    "replace_running_query_max_wait_ms",
    // These make a statement use more than its limits count, or come before those of others.
    "max_untracked_memory",
    "memory_profiler_step",
    "memory_overcommit_ratio_denominator",
    "memory_overcommit_ratio_denominator_for_user",
    "memory_usage_overcommit_max_wait_microseconds",
    "max_memory_usage_for_user",
    "max_temporary_data_on_disk_size_for_user",
    "use_query_cache",
    "priority",
    "os_thread_priority",
    "os_threads_nice_value_query",
    "reserve_memory",
    "function_sleep_max_microseconds_per_block",
    // These bound what a text may make the engine's parser and planner do, which no other limit ends.
    "max_query_size",
    "max_parser_depth",
    "max_parser_backtracks",
    "max_ast_depth",
    "max_ast_elements",
    "max_expanded_ast_elements",
    "max_recursive_cte_evaluation_depth",
];

/// Functions that leave the database, or run SQL that they are given as text. Other table functions that do are
/// denied by `readonly = 1`.
const OUTSIDE: [&str; 10] = [
    "file",
    "catboostEvaluate",
    "reverseDNSQuery",
    "hasColumnInTable",
    "eval",
    "aiClassify",
    "aiEmbed",
    "aiExtract",
    "aiGenerate",
    "aiTranslate",
];

/// Refuses a setting of a reader's request. The `log_comment` of a request is harmless: it follows ours. So is a
/// `readonly` that asks for what a reader has anyway.
///
/// # Errors
///
/// If a reader may not give the setting, or not this value.
pub fn check_setting(name: &str, value: &str) -> Result<(), Exception> {
    let is_harmless = name == "log_comment" || (name == "readonly" && matches!(value, "1" | "2"));
    if !is_harmless && SETTINGS.contains(&name) { Err(locked(name)) } else { Ok(()) }
}

/// Whether a reader may give a setting with this value, in a statement's text as well as with its request.
#[must_use]
pub fn may_give(name: &str, value: &str, limits: Option<&ReaderLimits>) -> bool {
    is_harmless(name) && !SETTINGS.contains(&name) && limits.is_none_or(|limits| limits.check(name, value).is_ok())
}

fn locked(name: &str) -> Exception {
    Exception::new(164, "READONLY", format!("Cannot modify '{name}' setting in readonly mode"))
}

/// Refuses what a statement of a reader may not hold. `written` is the engine's own notation of it, `also` are settings
/// that it may give beside harmless ones.
///
/// # Errors
///
/// If the statement could reach outside the database or lift its own limits.
pub fn check_statement(
    written: &[u8],
    parameters: &[(String, String)],
    limits: Option<&ReaderLimits>,
    also: &[&str],
) -> Result<(), Exception> {
    let tokens: Vec<Token> = Lexer::new(written).collect();
    if describes_function(&tokens) {
        return Err(Exception::access_denied(
            "a read-only user may describe tables and queries, but no table functions",
        ));
    }
    check_clauses(&tokens, also)?;
    let columns = column_names(&tokens);
    for (position, token) in tokens.iter().enumerate() {
        let followed_by = |symbol| tokens.get(position + 1).is_some_and(|next| next.is_symbol(symbol));
        if let Some(name) = SETTINGS.iter().find(|name| token.names(name) && followed_by(b'=')) {
            return Err(locked(name));
        }
        limits.map_or(Ok(()), |limits| limits.check_tokens(&tokens[position..]))?;
        // `arrayMap(file, …)` and `APPLY file` call it without a bracket after it.
        let is_qualified = position > 0 && tokens[position - 1].is_symbol(b'.');
        if OUTSIDE.iter().any(|name| token.names(name)) && !is_qualified {
            return Err(Exception::access_denied("a read-only user may not access anything outside the database"));
        }
        if token.kind == Kind::QuotedIdentifier && may_be_path(token.text) && !columns.contains(&position) {
            return Err(path());
        }
        // `{name:Identifier}`: the value becomes a name.
        if token.is_word("Identifier") && position >= 2 && tokens[position - 1].is_symbol(b':') {
            let named = |(name, _): &&(String, String)| name.as_bytes() == tokens[position - 2].text;
            if parameters.iter().filter(named).any(|(_, value)| may_be_path(value.as_bytes())) {
                return Err(path());
            }
        }
    }
    Ok(())
}

/// Refuses settings in a text that are not known to be harmless: the engine applies those of a sub-query as they are.
fn check_clauses(tokens: &[Token], also: &[&str]) -> Result<(), Exception> {
    let names = settings::names(tokens);
    let Some(name) = names.iter().find(|name| !is_harmless(name) && !also.contains(&name.as_str())) else {
        return Ok(());
    };
    if SETTINGS.contains(&name.as_str()) {
        return Err(locked(name));
    }
    let text = format!(
        "a read-only user may not give the setting '{name}' in the text of a statement: leave it out, or give it as a \
         parameter of the request"
    );
    Err(Exception::new(164, "READONLY", text))
}

/// Whether a table function is described. To list its columns the engine opens what the function names, whatever
/// `readonly` is; in a query, also in one that is described, it checks `readonly` first.
fn describes_function(tokens: &[Token]) -> bool {
    tokens.iter().enumerate().filter(|(_, token)| token.is_word("DESCRIBE")).any(|(position, describe)| {
        let rest = &tokens[position + 1..];
        // The engine's own notation always has TABLE, and TEMPORARY before it where the statement has it.
        let table = rest.iter().take(2).position(|token| token.is_word("TABLE"));
        table.is_some_and(|table| {
            rest[table + 1..].windows(2).any(|pair| {
                let is_name = matches!(pair[0].kind, Kind::Word | Kind::QuotedIdentifier);
                is_name && pair[0].depth == describe.depth && pair[1].is_symbol(b'(')
            })
        })
    })
}

/// Whether a name could mean a file: the engine takes an unknown table in `default` for one. A name without a slash
/// lies in the working folder, which is empty; an escape could hide a slash.
fn may_be_path(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b'/' | b'\\'))
}

fn path() -> Exception {
    Exception::access_denied(
        "a read-only user may not use `/` or `\\` in a quoted name, except in an alias after AS and where that stands \
         alone after SELECT, GROUP BY or ORDER BY: it could mean a file",
    )
}

/// The engine's `readonly` level for a statement of a reader.
///
/// 1 denies every table function that leaves the database, which 2 does not; but it also makes `system.settings` report
/// that no setting can be changed, which clients look up when they connect, while settings of a reader's requests are
/// in fact applied. A statement without a bracket calls no function, so 2 is as safe for it.
#[must_use]
pub fn level(written: &[u8]) -> &'static str {
    if Lexer::new(written).any(|token| token.is_symbol(b'(')) { "1" } else { "2" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::limits::tests::limits;

    #[test]
    fn what_leaves_the_database_is_refused() {
        for text in [
            "SELECT * FROM (SELECT 1 SETTINGS readonly = 0)",
            "SELECT 1 SETTINGS dialect = 'prql'",
            "SELECT 1 SETTINGS additional_result_filter = 'x'",
            "SELECT file('/etc/passwd')",
            "SELECT FILE('/etc/passwd')",
            "SELECT * APPLY file FROM t",
            "SELECT arrayMap(file, ['/etc/passwd'])",
            "SELECT * FROM eval('SELECT 1')",
            "SELECT * FROM `/etc/passwd`",
            "SELECT * FROM `\\x2fetc`",
            "SELECT * FROM `/etc/passwd` AS `/etc/passwd`",
            "SELECT 1 AS `/etc/passwd` WHERE 1 IN (`/etc/passwd`)",
            "SELECT 1 AS `\\x2fetc` FROM system.one, `\\x2fetc`",
            "CREATE TABLE a.b AS `/etc/passwd`",
            "SELECT * FROM {t:Identifier}",
            "DESCRIBE TABLE url('http://127.0.0.1/', 'TSV')",
            "DESCRIBE TABLE `url`('http://127.0.0.1/', 'TSV') AS a",
            "DESCRIBE TEMPORARY TABLE sqlite('a', 'b')",
            "DESCRIBE TABLE loop(url('x'))",
            "SELECT * FROM (SELECT 1 SETTINGS max_memory_usage = 0)",
            "SELECT 1 SETTINGS max_untracked_memory = 1000000000000",
            "SELECT 1 SETTINGS max_block_size = 1, timeout_overflow_mode = 'break'",
            "SELECT 1 SETTINGS max_block_size = 1 UNION ALL SELECT 2 SETTINGS unheard_of = 1",
            "SELECT 1 SETTINGS output_format_schema = 'a'",
            "SELECT 1 SETTINGS merge_tree.x = 1",
            "SELECT * FROM view(SELECT 1 SETTINGS max_block_size = [1, 2], unheard_of = 1)",
        ] {
            let parameters = [("s".to_owned(), "a/b".to_owned()), ("t".to_owned(), "/etc/passwd".to_owned())];
            assert!(check_statement(text.as_bytes(), &parameters, Some(&limits()), &[]).is_err(), "{text}");
        }
        for text in [
            "SELECT readonly, s.file FROM system.settings AS s WHERE name = 'file(1)'",
            "SELECT {s:String}, `a b` FROM {u:Identifier}",
            "SELECT sum(a) / 2 AS `SUM(a)/2` FROM t GROUP BY b ORDER BY `SUM(a)/2` DESC LIMIT 1",
            "SELECT a AS `\\'a\\'` FROM t ORDER BY `\\'a\\'` ASC",
            "DESCRIBE TABLE system.settings",
            "SELECT settings = 1, unheard_of = 1 FROM (SELECT 1 SETTINGS max_block_size = 1), t SETTINGS max_threads = 1",
            "DESCRIBE TABLE (SELECT count() FROM numbers(1)) AS a",
            "SELECT a FROM t ORDER BY a DESC LIMIT 1 UNION ALL (SELECT count() FROM t)",
        ] {
            let parameters = [("s".to_owned(), "a/b".to_owned()), ("u".to_owned(), "blocks".to_owned())];
            assert!(check_statement(text.as_bytes(), &parameters, Some(&limits()), &[]).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_statement_that_calls_something_gets_the_stricter_level() {
        assert_eq!((level(b"SELECT a FROM t"), level(b"SELECT '(' FROM url('x')")), ("2", "1"));
        assert_eq!(level(b"SELECT '(' FROM t"), "2");
    }
}
