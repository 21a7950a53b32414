//! Where a name in a query can only mean one of its own columns; knows no tables.
//!
//! Tools that draw charts call a column what it is computed from, `SUM(value) / 1e18`, and name it again to order by
//! it. A `/` is harmless there, while in the name of a table it could be the path of a file.

use std::collections::HashSet;

use crate::sql::lexer::{Kind, Token};

/// Statements that begin so are queries, if none of [`OTHERS`] is in them.
const QUERIES: [&str; 3] = ["SELECT", "WITH", "EXPLAIN"];
/// Words of other statements, in which a table or a user may follow AS.
const OTHERS: [&str; 8] = ["CREATE", "ATTACH", "PARALLEL", "EXECUTE", "BACKUP", "RESTORE", "GRANT", "INSERT"];
/// Words after which a comma no longer separates columns.
const ENDS: [&str; 15] = [
    "FROM",
    "JOIN",
    "IN",
    "TABLE",
    "INTO",
    "WITH",
    "WHERE",
    "HAVING",
    "LIMIT",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "SETTINGS",
    "FORMAT",
    "DESCRIBE",
];
/// Words after which SELECT is a name.
const BEFORE_NAMES: [&str; 7] = ["AS", "FROM", "JOIN", "IN", "TABLE", "INTO", "BY"];

/// Positions in `tokens`, a statement in the engine's own notation, of quoted names that mean a column of the query or
/// nothing: those directly after AS, and the same names again where they are whole members of the lists after SELECT,
/// GROUP BY and ORDER BY.
#[must_use]
pub fn column_names(tokens: &[Token]) -> HashSet<usize> {
    if !is_query(tokens) {
        return HashSet::new();
    }
    let quoted = |at: &usize| tokens[*at].kind == Kind::QuotedIdentifier;
    let is_alias = |at: &usize| at.checked_sub(1).is_some_and(|before| tokens[before].is_word("AS"));
    let mut found: HashSet<usize> = (0..tokens.len()).filter(quoted).filter(is_alias).collect();
    let aliases: HashSet<&[u8]> = found.iter().map(|at| tokens[*at].text).collect();
    let members = members(tokens).into_iter().filter(quoted).filter(|at| aliases.contains(tokens[*at].text));
    found.extend(members);
    found
}

fn is_query(tokens: &[Token]) -> bool {
    let begins = |first: &Token| first.is_symbol(b'(') || QUERIES.iter().any(|word| first.is_word(word));
    let is_other = |token: &Token| OTHERS.iter().any(|word| token.is_word(word));
    // `* REPLACE (…)` is part of a query.
    let replaces = |pair: &[Token]| pair[0].is_word("REPLACE") && pair[1].kind == Kind::Word;
    tokens.first().is_some_and(begins) && !tokens.iter().any(is_other) && !tokens.windows(2).any(replaces)
}

/// Positions of tokens that begin a member of a list of columns, and that nothing [continues].
fn members(tokens: &[Token]) -> Vec<usize> {
    let mut found = Vec::new();
    // Whether a list of columns goes on, for each level of brackets that is open.
    let mut lists: Vec<bool> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        lists.resize(token.depth as usize + 1, false);
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let Some(goes_on) = lists.last_mut() else { continue };
        if begins_list(tokens, at) {
            *goes_on = true;
        } else if ENDS.iter().any(|word| token.is_word(word)) {
            *goes_on = false;
        }
        let is_first = before.is_some_and(|before| {
            let is_comma = before.is_symbol(b',') && before.depth == token.depth;
            is_comma || (at > 0 && begins_list(tokens, at - 1)) || is_distinct(tokens, at - 1)
        });
        if *goes_on && is_first && !continues(&tokens[at..]) {
            found.push(at);
        }
    }
    found
}

/// Whether the name that `tokens` begin with is part of a longer one, is called, or gets another name: by that, which
/// does not look like a path, the engine would find a table of the first.
fn continues(tokens: &[Token]) -> bool {
    match tokens {
        [_, next, ..] if next.is_symbol(b'.') || next.is_symbol(b'(') => true,
        [name, next, alias, ..] if next.is_word("AS") => alias.text != name.text,
        _ => false,
    }
}

/// Whether the token at `at` is the last of SELECT, GROUP BY or ORDER BY.
fn begins_list(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| &tokens[before]);
    let is_after = |words: &[&str]| before.is_some_and(|before| words.iter().any(|word| before.is_word(word)));
    let is_after_symbol = before.is_some_and(|before| before.is_symbol(b'.') || before.is_symbol(b','));
    (tokens[at].is_word("SELECT") && !is_after(&BEFORE_NAMES) && !is_after_symbol)
        || (tokens[at].is_word("BY") && is_after(&["GROUP", "ORDER"]))
}

/// Whether the token at `at` is the DISTINCT of SELECT DISTINCT.
fn is_distinct(tokens: &[Token], at: usize) -> bool {
    tokens[at].is_word("DISTINCT") && at > 0 && begins_list(tokens, at - 1) && tokens[at - 1].is_word("SELECT")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::lexer::Lexer;

    /// Whether every name with a slash in `text` can only mean a column.
    fn are_columns(text: &str) -> bool {
        let tokens: Vec<Token> = Lexer::new(text.as_bytes()).collect();
        let columns = column_names(&tokens);
        let is_path = |at: &usize| tokens[*at].kind == Kind::QuotedIdentifier && tokens[*at].text.contains(&b'/');
        let mut paths = (0..tokens.len()).filter(is_path).peekable();
        assert!(paths.peek().is_some(), "{text}");
        paths.all(|at| columns.contains(&at))
    }

    #[test]
    fn aliases_may_be_called_anything() {
        for text in [
            "SELECT sum(v) / 1e18 AS `SUM(v)/1e18_ab12cd` FROM t GROUP BY day ORDER BY `SUM(v)/1e18_ab12cd` DESC LIMIT 10",
            "SELECT a AS `a/b`, count() AS `c/d` FROM t GROUP BY `a/b` ORDER BY x ASC, `c/d` DESC NULLS LAST, `a/b`",
            "SELECT `a/b`, x AS y FROM (SELECT v AS `a/b` FROM t) AS s ORDER BY `a/b` ASC",
            "SELECT DISTINCT `a/b`, `c/d` AS `c/d` FROM (SELECT v AS `a/b`, w AS `c/d` FROM t)",
            "WITH 1 AS `a/b` SELECT `a/b`",
            "WITH x AS (SELECT 1 AS `a/b`) SELECT `a/b` FROM x UNION ALL SELECT `a/b` FROM x",
            "(SELECT 1 AS `a/b`) UNION DISTINCT (SELECT 2 AS `a/b` ORDER BY `a/b` ASC)",
            "SELECT sum(v) OVER (PARTITION BY p ORDER BY `a/b` ASC) AS s, v AS `a/b` FROM t",
            "SELECT a FROM t AS `a/b`",
            "EXPLAIN SELECT 1 AS `a/b` ORDER BY `a/b` ASC",
            "SELECT * REPLACE (a + 1 AS a), 1 AS `a/b` FROM t",
        ] {
            assert!(are_columns(text), "{text}");
        }
    }

    /// In each of them the name could be that of a file where a table is meant.
    #[test]
    fn names_of_tables_are_refused() {
        for clause in [
            "FROM `/p`",
            "FROM `/p` AS `/p`",
            "FROM `/p` AS x",
            "FROM t, `/p`",
            "FROM t AS select, `/p`",
            "FROM select, `/p`",
            "FROM t AS t, select, `/p`",
            "FROM default.`/p`",
            "FROM `/p`.x",
            "FROM t INNER JOIN `/p` ON 1",
            "FROM t GLOBAL ANY LEFT JOIN `/p` USING (a)",
            "FROM t CROSS JOIN u, `/p`",
            "FROM t USING `/p`",
            "FROM (SELECT * FROM `/p`)",
            "FROM merge(`/p`, 'x')",
            "FROM merge('x', `/p`)",
            "FROM loop(`/p`)",
            "FROM view(SELECT * FROM x, `/p`)",
            "WHERE 1 IN `/p`",
            "WHERE 1 GLOBAL NOT IN `/p`",
            "WHERE 1 IN (`/p`)",
            "WHERE in(1, `/p`)",
            "WHERE (1, 2) IN default.`/p`",
            "WHERE joinGet(`/p`, 'x', 1)",
            "WHERE dictGet(`/p`, 'x', 1)",
            "WHERE `/p`(1)",
            "ORDER BY 1 IN `/p`",
            "ORDER BY in(1, `/p`)",
            "ORDER BY joinGet(`/p`, 'x', 1)",
            "ORDER BY a, `/p`.x",
            "ORDER BY a, `/p`(1)",
            "ORDER BY a WITH FILL FROM 1, `/p`",
            "ORDER BY a UNION ALL SELECT a FROM t, `/p`",
            "ORDER BY a UNION ALL SELECT a FROM `/p`",
            "GROUP BY (SELECT 1 FROM `/p`)",
            "GROUP BY a, (`/p`)",
            "GROUP BY [`/p`]",
            "LIMIT 1 BY a, `/p`",
            "SETTINGS x = `/p`",
            "INTO OUTFILE `/p`",
        ] {
            for text in [
                format!("SELECT 1 AS `/p` {clause}"),
                format!("WITH 1 AS `/p` SELECT `/p` {clause}"),
                format!("SELECT a FROM (SELECT 1 AS `/p`) UNION ALL SELECT b {clause}"),
                format!("EXPLAIN SELECT 1 AS `/p` {clause}"),
                format!("SELECT (SELECT 1 AS `/p` {clause})"),
            ] {
                assert!(!are_columns(&text), "{text}");
            }
        }
    }

    /// The engine takes an alias of a name for that name, also where it looks for a table.
    #[test]
    fn names_that_get_another_name_are_not_let_through() {
        for text in [
            "WITH `/p` AS x SELECT * FROM x",
            "WITH 1 AS `/p`, `/p` AS x SELECT * FROM x",
            "SELECT `/p` AS x FROM (SELECT 1 AS `/p`), x",
            "SELECT 1 AS `/p`, `/p` AS x, 1 IN x",
            "SELECT DISTINCT `/p` AS x FROM x WHERE 1 IN (SELECT 1 AS `/p`)",
            "SELECT 1 AS `/p` FROM x ORDER BY `/p` AS x ASC",
            "SELECT 1 AS `/p` FROM x GROUP BY a, `/p` AS `x`",
        ] {
            assert!(!are_columns(text), "{text}");
        }
    }

    #[test]
    fn what_is_no_query_or_names_no_alias_is_left_alone() {
        for text in [
            "SELECT `/p` FROM t",
            "SELECT 1 AS `/q` ORDER BY `/p` ASC",
            "SELECT 1 AS `/p` FROM t HAVING `/p` > 1",
            "WITH `/p` AS (SELECT 1) SELECT * FROM x",
            "WITH `/p` AS (SELECT 1 AS `/p`) SELECT * FROM `/p`",
            "WITH `/p` AS (SELECT 1 AS `/p`), b AS (SELECT 1) SELECT 1",
            "CREATE TABLE a.b AS `/p`",
            "CREATE TABLE a.b CLONE AS `/p`",
            "CREATE VIEW a.b AS SELECT 1 AS `/p`",
            "REPLACE TABLE a.b AS `/p`",
            "EXPLAIN AST CREATE TABLE a.b AS `/p`",
            "EXPLAIN AST REPLACE TABLE a.b AS `/p`",
            "SELECT 1 PARALLEL WITH CREATE TABLE a.b AS `/p`",
            "ATTACH TABLE a.b AS `/p`",
            "EXECUTE AS `/p` SELECT 1",
            "EXPLAIN EXECUTE AS `/p` SELECT 1",
            "INSERT INTO t SELECT 1 AS `/p`",
            "DESCRIBE TABLE `/p`",
            "DESCRIBE TABLE (SELECT 1 AS `/p`)",
            "EXISTS TABLE `/p`",
            "SHOW CREATE TABLE `/p`",
            "EXPLAIN SELECT 1 AS `/p` FROM (DESCRIBE TABLE `/p`)",
            "SELECT `/p`",
        ] {
            assert!(!are_columns(text), "{text}");
        }
    }
}
