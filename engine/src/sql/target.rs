//! Finds the table whose rows a statement changes.

use crate::sql::lexer::{Kind, Lexer, Token};

/// The target of a statement's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nothing: it reads, or changes no rows that are there.
    Nothing,
    /// The rows of one table.
    Table {
        /// `None`: the statement names none, so it is the current one.
        database: Option<String>,
        /// Name without the database.
        table: String,
    },
    /// All tables of a database.
    Database(String),
    /// Something that the text alone does not tell, such as a table function, or several tables.
    Unknown,
}

/// The target of a statement. `parameters` are those of `{name:Identifier}`.
#[must_use]
pub fn target(text: &[u8], parameters: &[(String, String)]) -> Target {
    let tokens: Vec<Token> = Lexer::new(text).collect();
    let begins = |at: usize| {
        let follows = |word| tokens.get(at + 1).is_some_and(|next| next.is_word(word));
        tokens[at].is_word("INSERT") && (at == 0 || follows("INTO") || follows("TABLE") || follows("FUNCTION"))
    };
    let mut inserts = (0..tokens.len()).filter(|at| begins(*at));
    match (inserts.next(), inserts.next()) {
        (None, _) => changed(&tokens, parameters),
        (Some(_), None) if is_of_several(&tokens) => Target::Unknown,
        (Some(at), None) => named(&tokens[at + 1..], parameters).unwrap_or(Target::Unknown),
        (Some(_), Some(_)) => Target::Unknown,
    }
}

/// Of statements other than INSERT: the table whose rows may change.
fn changed(tokens: &[Token], parameters: &[(String, String)]) -> Target {
    let [first, rest @ ..] = tokens else { return Target::Nothing };
    let is = |words: &[&str]| words.iter().any(|word| first.is_word(word));
    if is(&["SELECT", "WITH"]) {
        return Target::Nothing;
    }
    if is_of_several(tokens) {
        return Target::Unknown;
    }
    if !is(&["ALTER", "DELETE", "DROP", "TRUNCATE", "UPDATE"]) {
        return Target::Nothing;
    }
    let without_if = |rest| {
        let has_condition = ["EXISTS", "EMPTY"].iter().any(|condition| words(rest, &["IF", condition]));
        if has_condition { &rest[2..] } else { rest }
    };
    let rest = match rest.split_first() {
        Some((next, after)) if next.is_word("TABLE") || next.is_word("FROM") => after,
        Some((next, after)) if next.is_word("DATABASE") => {
            return name(without_if(after), parameters).map_or(Target::Unknown, |(name, _)| Target::Database(name));
        }
        _ if first.is_word("UPDATE") || first.is_word("TRUNCATE") => rest,
        // A view, a function, a user: they have no rows.
        _ => return Target::Nothing,
    };
    match name(without_if(rest), parameters) {
        // `TRUNCATE ALL TABLES FROM …`, `DROP TABLE a, b`.
        Some((_, [next, ..])) if !next.is_symbol(b'.') && first.is_word("TRUNCATE") => Target::Unknown,
        Some((_, [next, ..])) if next.is_symbol(b',') => Target::Unknown,
        Some((table, [dot, after @ ..])) if dot.is_symbol(b'.') => match name(after, parameters) {
            Some((_, [next, ..])) if next.is_symbol(b',') => Target::Unknown,
            Some((own, _)) => Target::Table { database: Some(table), table: own },
            None => Target::Unknown,
        },
        Some((table, _)) => Target::Table { database: None, table },
        None => Target::Unknown,
    }
}

/// Whether a statement that is no SELECT may change several tables or whole databases, or makes a table with rows in
/// it.
fn is_of_several(tokens: &[Token]) -> bool {
    const WHOLE: [&str; 8] = ["RENAME", "EXCHANGE", "RESTORE", "UNDROP", "REPLACE", "MOVE", "ATTACH", "DETACH"];
    let has = |sequence: &[&str]| (0..tokens.len()).any(|at| words(&tokens[at..], sequence));
    WHOLE.iter().any(|word| words(tokens, &[word]))
        || words(tokens, &["CREATE", "OR", "REPLACE", "TABLE"])
        || words(tokens, &["CREATE", "OR", "REPLACE", "TEMPORARY"])
        || (words(tokens, &["CREATE", "TABLE"]) && has(&["SELECT"]))
        || (words(tokens, &["ALTER"]) && has(&["TO", "TABLE"]))
        || has(&["PARALLEL", "WITH"])
}

/// Whether `tokens` begin with these words.
fn words(tokens: &[Token], sequence: &[&str]) -> bool {
    tokens.len() >= sequence.len() && sequence.iter().zip(tokens).all(|(word, token)| token.is_word(word))
}

/// The table that `tokens`, which follow INSERT, begin with.
fn named(mut tokens: &[Token], parameters: &[(String, String)]) -> Option<Target> {
    for word in ["INTO", "TABLE"] {
        if tokens.first()?.is_word(word) {
            tokens = &tokens[1..];
        }
    }
    // FUNCTION is no table; the others mean that a table was called `table`.
    let clauses = ["FUNCTION", "VALUES", "FORMAT", "SELECT", "WITH", "SETTINGS", "FROM"];
    if clauses.iter().any(|word| tokens.first().is_some_and(|first| first.is_word(word))) {
        return None;
    }
    let (first, rest) = name(tokens, parameters)?;
    if !rest.first().is_some_and(|next| next.is_symbol(b'.')) {
        return Some(Target::Table { database: None, table: first });
    }
    let (table, _) = name(&rest[1..], parameters)?;
    Some(Target::Table { database: Some(first), table })
}

/// The name at the beginning of `tokens`, and what follows it.
fn name<'a, 'b>(tokens: &'a [Token<'b>], parameters: &[(String, String)]) -> Option<(String, &'a [Token<'b>])> {
    match tokens {
        [open, parameter, colon, kind, close, rest @ ..]
            if open.is_symbol(b'{') && colon.is_symbol(b':') && kind.is_word("Identifier") && close.is_symbol(b'}') =>
        {
            let value = parameters.iter().rfind(|(name, _)| name.as_bytes() == parameter.text)?.1.clone();
            // What is to be unescaped, or is a name of two parts, is not worth a parser.
            value.bytes().all(is_plain).then_some((value, rest))
        }
        [first, rest @ ..] => match first.kind {
            Kind::Word => Some((String::from_utf8_lossy(first.text).into_owned(), rest)),
            Kind::QuotedIdentifier => {
                let inner = first.text.get(1..first.text.len().checked_sub(1)?)?;
                let is_literal = !inner.iter().any(|byte| matches!(byte, b'\\' | b'`' | b'"'));
                is_literal.then(|| (String::from_utf8_lossy(inner).into_owned(), rest))
            }
            Kind::Literal | Kind::Symbol => None,
        },
        [] => None,
    }
}

fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(database: Option<&str>, table: &str) -> Target {
        Target::Table { database: database.map(str::to_owned), table: table.into() }
    }

    #[test]
    fn the_table_of_an_insert_is_found_or_said_to_be_unknown() {
        let parameters = [("t".to_owned(), "logs".to_owned()), ("q".to_owned(), "a.b".to_owned())];
        for (text, expected) in [
            ("INSERT INTO t VALUES", table(None, "t")),
            ("insert into table `chain`.\"t 1\" (a) FORMAT CSV", table(Some("chain"), "t 1")),
            ("INSERT INTO a . b SELECT * FROM c", table(Some("a"), "b")),
            ("WITH 1 AS x INSERT INTO t SELECT x", table(None, "t")),
            ("INSERT INTO {t:Identifier}(a) VALUES", table(None, "logs")),
            ("INSERT INTO {q:Identifier} VALUES", Target::Unknown),
            ("INSERT INTO `a``b` VALUES", Target::Unknown),
            ("INSERT INTO TABLE FUNCTION null('a Int8') VALUES", Target::Unknown),
            ("INSERT INTO table VALUES (1)", Target::Unknown),
            ("INSERT INTO a SELECT 1 PARALLEL WITH INSERT INTO b SELECT 1", Target::Unknown),
            ("CREATE TABLE insert (a UInt8) ORDER BY a", Target::Nothing),
            ("ALTER TABLE t DELETE WHERE a = 'INSERT INTO t'", table(None, "t")),
            ("DELETE FROM a.b WHERE 1", table(Some("a"), "b")),
            ("delete from {t:Identifier} where 1", table(None, "logs")),
            ("TRUNCATE TABLE IF EXISTS a.b", table(Some("a"), "b")),
            ("TRUNCATE t", table(None, "t")),
            ("TRUNCATE ALL TABLES FROM a", Target::Unknown),
            ("TRUNCATE TABLES FROM a", Target::Unknown),
            ("UPDATE t SET a = 1 WHERE 1", table(None, "t")),
            ("DROP TABLE IF EXISTS t SYNC", table(None, "t")),
            ("DROP TABLE a.t, b", Target::Unknown),
            ("DROP TABLE t, b", Target::Unknown),
            ("DROP DATABASE a", Target::Database("a".into())),
            ("DROP DATABASE IF EXISTS {t:Identifier} SYNC", Target::Database("logs".into())),
            ("TRUNCATE DATABASE `a b`", Target::Database("a b".into())),
            ("DROP TABLE IF EMPTY a.t", table(Some("a"), "t")),
            ("ALTER TABLE a MOVE PARTITION 1 TO TABLE b", Target::Unknown),
            ("DELETE FROM a WHERE 1 PARALLEL WITH DELETE FROM b WHERE 1", Target::Unknown),
            ("INSERT INTO a SELECT 1 PARALLEL WITH TRUNCATE TABLE b", Target::Unknown),
            ("SELECT 1 AS parallel WITH TOTALS", Target::Nothing),
            ("CREATE OR REPLACE TABLE a ORDER BY b AS SELECT 1 AS b", Target::Unknown),
            ("CREATE TABLE a ORDER BY b AS SELECT 1 AS b", Target::Unknown),
            ("CREATE OR REPLACE VIEW a AS SELECT 1", Target::Nothing),
            ("DROP VIEW a", Target::Nothing),
            ("ALTER USER a", Target::Nothing),
            ("RENAME TABLE a TO b", Target::Unknown),
            ("EXCHANGE TABLES a AND b", Target::Unknown),
            ("ATTACH TABLE a", Target::Unknown),
            ("OPTIMIZE TABLE t FINAL", Target::Nothing),
            ("SYSTEM FLUSH LOGS", Target::Nothing),
            ("SELECT * FROM t", Target::Nothing),
            ("", Target::Nothing),
        ] {
            assert_eq!(target(text.as_bytes(), &parameters), expected, "{text}");
        }
    }
}
