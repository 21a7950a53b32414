//! What kind of statement a text is, and where its clauses begin; executes nothing.
//!
//! A server parses the whole statement and then reads data from the same buffer. libchdb wants the
//! parts separately (where results go, which format, where data starts), so this finds where each begins.

use crate::exception::Exception;
use crate::sql::format::{is_name, unknown_format};
use crate::sql::insert::outside_file;
use crate::sql::lexer::{Kind, Lexer, Token};
use crate::sql::log_comment::client_query_id;

/// A statement parsed for libchdb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// A query with a result of any size: SELECT, SHOW, DESCRIBE, EXPLAIN, EXISTS, CHECK.
    Read(ReadQuery),
    /// Anything else, run as it is: DDL, SET, SYSTEM, KILL, INSERT … SELECT.
    Whole(Vec<u8>),
}

/// A query, with the position where its output clauses belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadQuery {
    /// Text before the output clauses.
    pub body: Vec<u8>,
    /// The format of its FORMAT clause.
    pub format: Option<String>,
    /// Text after the FORMAT clause: a SETTINGS clause or nothing.
    pub tail: Vec<u8>,
}

/// Parses a complete text. `pooled` are the statements that KILL cannot find by their `log_comment`.
///
/// # Errors
///
/// If the text is empty, names no valid format, or writes to a file.
pub fn parse(text: &[u8], pooled: &[(u64, String)]) -> Result<Statement, Exception> {
    let all: Vec<Token> = Lexer::new(text).collect();
    let mut tokens: &[Token] = &all;
    while let Some((last, rest)) = tokens.split_last()
        && last.is_symbol(b';')
    {
        tokens = rest;
    }
    let Some(first) = tokens.first() else {
        return Err(Exception::syntax_error("Empty query"));
    };
    let outer: Vec<Token> = tokens.iter().filter(|token| token.depth == 0).copied().collect();
    if outer.windows(2).any(|pair| pair[0].is_word("INTO") && pair[1].is_word("OUTFILE")) {
        return Err(outside_file());
    }
    if first.is_word("KILL") {
        return Ok(Statement::Whole(kill_by_our_id(text, &all, pooled)));
    }
    let reads = ["SELECT", "FROM", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "EXISTS", "CHECK"];
    let is_read = first.is_symbol(b'(')
        || reads.iter().any(|word| first.is_word(word))
        || (first.is_word("WITH") && !outer.windows(2).any(|pair| inserts(&pair[0], &pair[1])));
    if !is_read {
        return Ok(Statement::Whole(text.into()));
    }
    let read = split_output(text, &outer);
    match &read.format {
        // The name is written into a text again.
        Some(name) if !is_name(name) => Err(unknown_format(name)),
        _ => Ok(Statement::Read(read)),
    }
}

/// Whether `text` ends other statements.
#[must_use]
pub fn is_kill(text: &[u8]) -> bool {
    first_is(text, &["KILL"])
}

/// Whether `text` may make or remove databases and tables, or change what they are.
#[must_use]
pub fn may_change_names(text: &[u8]) -> bool {
    !first_is(text, &["INSERT", "SET", "KILL", "OPTIMIZE"])
}

/// Whether `text` writes what a table, view or database is, or what is to become of rows that are there, rather than
/// rows.
#[must_use]
pub fn writes_definitions(text: &[u8]) -> bool {
    let tokens: Vec<Token> = Lexer::new(text).filter(|token| token.depth == 0).collect();
    let Some(first) = tokens.first() else { return false };
    let has = |word: &str, next: &[&str]| {
        tokens.windows(2).any(|two| two[0].is_word(word) && next.iter().any(|next| two[1].is_word(next)))
    };
    let is_of_memory = tokens.iter().take(4).any(|token| token.is_word("TEMPORARY"));
    let frees = has("DROP", &["PARTITION", "PART", "DETACHED"]) && !tokens.iter().any(|token| token.is_symbol(b','));
    match first {
        first if first.is_word("CREATE") => !is_of_memory,
        first if first.is_word("ALTER") => !frees,
        first => ["ATTACH", "DELETE", "REPLACE", "RESTORE", "UPDATE"].iter().any(|word| first.is_word(word)),
    }
}

/// Whether `text` asks that logs be written.
#[must_use]
pub fn flushes_logs(text: &[u8]) -> bool {
    let mut tokens = Lexer::new(text);
    ["SYSTEM", "FLUSH", "LOGS"].iter().all(|word| tokens.next().is_some_and(|token| token.is_word(word)))
}

/// What kind of statement `text` is, as a server's log has it: its first word, if that is plain.
#[must_use]
pub fn kind(text: &[u8]) -> String {
    let Some(first) = Lexer::new(text).next() else { return String::new() };
    let is_query = first.is_symbol(b'(') || first.is_word("WITH") || first.is_word("FROM");
    match String::from_utf8_lossy(first.text).to_lowercase().as_str() {
        _ if is_query => "Select".into(),
        "desc" => "Describe".into(),
        "kill" => "KillQuery".into(),
        word if first.kind == Kind::Word && word.len() < 16 => word
            .chars()
            .enumerate()
            .map(|(at, letter)| if at == 0 { letter.to_ascii_uppercase() } else { letter })
            .collect(),
        _ => String::new(),
    }
}

fn first_is(text: &[u8], words: &[&str]) -> bool {
    Lexer::new(text).next().is_some_and(|first| words.iter().any(|word| first.is_word(word)))
}

/// Whether an INSERT begins here; a column may have that name too.
fn inserts(word: &Token, next: &Token) -> bool {
    word.is_word("INSERT") && ["INTO", "TABLE", "FUNCTION"].iter().any(|follows| next.is_word(follows))
}

/// `outer`: the tokens outside all brackets, without a final semicolon; not empty.
fn split_output(text: &[u8], outer: &[Token]) -> ReadQuery {
    let end = outer.last().map_or(text.len(), Token::end);
    for position in (1..outer.len().saturating_sub(1)).rev() {
        let (token, name) = (&outer[position], &outer[position + 1]);
        let ends_here = outer.get(position + 2).is_none_or(|next| next.is_word("SETTINGS"));
        if token.is_word("FORMAT") && matches!(name.kind, Kind::Word | Kind::QuotedIdentifier) && ends_here {
            return ReadQuery {
                body: text[..token.start].into(),
                format: Some(String::from_utf8_lossy(name.text).trim_matches(['`', '"']).to_owned()),
                tail: text[name.end()..end].into(),
            };
        }
    }
    // SELECT takes SETTINGS itself; the others take it as an output clause, after INTO OUTFILE.
    let is_select = ["SELECT", "WITH", "FROM"].iter().any(|word| outer[0].is_word(word)) || outer[0].is_symbol(b'(');
    let settings = outer.windows(3).rposition(|three| three[0].is_word("SETTINGS") && three[2].is_symbol(b'='));
    let seam = match settings {
        Some(position) if !is_select => outer[position].start,
        _ => end,
    };
    ReadQuery { body: text[..seam].into(), format: None, tail: text[seam..end].into() }
}

/// Lets `KILL QUERY WHERE query_id = …` find queries by the id their client gave.
fn kill_by_our_id(text: &[u8], tokens: &[Token], pooled: &[(u64, String)]) -> Vec<u8> {
    let ours = client_query_id(pooled);
    let mut rewritten = Vec::with_capacity(text.len() + ours.len());
    let mut copied = 0;
    for token in tokens.iter().filter(|token| token.names("query_id")) {
        rewritten.extend_from_slice(&text[copied..token.start]);
        rewritten.extend_from_slice(ours.as_bytes());
        copied = token.end();
    }
    rewritten.extend_from_slice(&text[copied..]);
    rewritten
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Option<String>, String) {
        match parse(text.as_bytes(), &[]) {
            Ok(Statement::Read(ReadQuery { body, format, tail })) => {
                (String::from_utf8(body).expect("utf-8"), format, String::from_utf8(tail).expect("utf-8"))
            }
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_writes_definitions_is_known_by_its_words() {
        for text in [
            "CREATE TABLE t (k UInt8) ORDER BY k",
            "/* a */ create or replace view v AS SELECT 1",
            "CREATE DATABASE d",
            "ALTER TABLE t MODIFY COMMENT 'DROP PARTITION 1'",
            "ALTER TABLE t DROP COLUMN partition",
            "ALTER TABLE t DROP PARTITION 1, ADD COLUMN c UInt8",
            "DELETE FROM t WHERE k = 1",
            "UPDATE t SET k = 1 WHERE 1",
            "ATTACH TABLE t",
            "RESTORE TABLE t FROM File('a')",
        ] {
            assert!(writes_definitions(text.as_bytes()), "{text}");
        }
        for text in [
            "INSERT INTO t SELECT * FROM u",
            "CREATE TEMPORARY TABLE t (k UInt8)",
            "ALTER TABLE t DROP PARTITION (1, 2)",
            "ALTER TABLE t DROP DETACHED PART 'all_1_1_0' SETTINGS allow_drop_detached = 1",
            "DROP TABLE t",
            "TRUNCATE TABLE t",
            "SYSTEM STOP MERGES",
            "SET a = 1",
            "",
        ] {
            assert!(!writes_definitions(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn format_clause_is_found_only_where_it_is_one() {
        assert_eq!(read("SELECT 1 FORMAT JSON;"), ("SELECT 1 ".into(), Some("JSON".into()), String::new()));
        assert_eq!(read("select 1 format CSV settings a=1 -- x").2, " settings a=1");
        for text in ["SELECT format FROM t", "SELECT 'a FORMAT b'", "SELECT (SELECT 1 FORMAT x)", "SELECT x AS format"]
        {
            assert_eq!(read(text), (text.into(), None, String::new()));
        }
    }

    #[test]
    fn settings_of_a_select_stay_with_it_and_others_move_behind_the_output() {
        assert_eq!(read("SELECT 1 SETTINGS max_threads=1").2, "");
        assert_eq!(read("DESCRIBE TABLE t SETTINGS describe_include_subcolumns=0").0, "DESCRIBE TABLE t ");
    }

    #[test]
    fn files_of_the_host_are_out_of_reach() {
        assert!(parse(b"SELECT 1 INTO OUTFILE '/tmp/x'", &[]).is_err());
        assert!(parse(b"SELECT 1 FORMAT `TSV SETTINGS max_threads = 1`", &[]).is_err());
    }

    #[test]
    fn kinds_are_first_words() {
        for (text, expected) in [
            ("-- a\nselect 1", "Select"),
            ("(SELECT 1)", "Select"),
            ("with 1 AS a SELECT a", "Select"),
            ("INSERT INTO t VALUES (1)", "Insert"),
            ("desc t", "Describe"),
            ("'x'", ""),
            ("", ""),
        ] {
            assert_eq!(kind(text.as_bytes()), expected, "{text}");
        }
        assert!(flushes_logs(b"system/**/flush logs query_log") && !flushes_logs(b"SYSTEM FLUSH"));
    }

    #[test]
    fn only_a_statement_that_inserts_is_one() {
        assert_eq!(read("WITH 1 AS insert SELECT insert").0, "WITH 1 AS insert SELECT insert");
        assert!(matches!(parse(b"WITH 1 AS a INSERT INTO t SELECT a", &[]), Ok(Statement::Whole(_))));
    }

    #[test]
    fn kill_matches_the_id_a_client_gave() {
        let Ok(Statement::Whole(text)) = parse(b"KILL QUERY WHERE query_id = 'query_id' ASYNC", &[]) else {
            panic!("not whole")
        };
        let text = String::from_utf8(text).expect("utf-8");
        assert!(text.starts_with("KILL QUERY WHERE if(startsWith(") && text.ends_with(" = 'query_id' ASYNC"), "{text}");
    }
}
