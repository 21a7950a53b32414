//! SETTINGS clauses in the text of a statement: which names they give, and which of them may be given with the request
//! instead.

use crate::sql::lexer::{Kind, Lexer, Token};

/// Settings that the end of a text gives, and the text without them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Split {
    /// The text without the clauses.
    pub text: Vec<u8>,
    /// Names and values, in the order of the text.
    pub settings: Vec<(String, String)>,
}

/// Clauses at the end of a text that are looked at; a SELECT has one, and one may follow FORMAT.
const MAX_CLAUSES: usize = 4;

/// Takes the SETTINGS clauses off the end of `text`, brackets around members of a UNION aside, if all their values are
/// plain numbers, strings or truths and `may_go` says so of each name and value. A clause that stays is the engine's to
/// judge.
#[must_use]
pub fn split(text: &[u8], may_go: impl Fn(&str, &str) -> bool) -> Split {
    let mut split = Split { text: text.into(), settings: Vec::new() };
    for _ in 0..MAX_CLAUSES {
        let tokens: Vec<Token> = Lexer::new(&split.text).collect();
        let Some((clause, start, end)) = last_clause(&tokens) else { break };
        if !clause.iter().all(|(name, value)| may_go(name, value)) {
            break;
        }
        split.text.splice(start..end, *b" ");
        split.settings.splice(0..0, clause);
    }
    split
}

/// The settings of `text` if it is a SET of plain values and nothing else.
#[must_use]
pub fn of_set(text: &[u8]) -> Option<Vec<(String, String)>> {
    let set = Lexer::new(text).next().filter(|first| first.is_word("SET"))?;
    let clause = [b"SETTINGS", &text[set.end()..]].concat();
    let tokens: Vec<Token> = Lexer::new(&clause).collect();
    let (settings, start, end) = last_clause(&tokens)?;
    let is_after = |token: &&Token| token.start >= end;
    let is_whole = start == 0 && tokens.iter().filter(is_after).all(|token| token.is_symbol(b';'));
    is_whole.then_some(settings)
}

/// The database of `text` if it is a USE and nothing else.
#[must_use]
pub fn of_use(text: &[u8]) -> Option<String> {
    let tokens: Vec<Token> = Lexer::new(text).filter(|token| !token.is_symbol(b';')).collect();
    let name = match &tokens[..] {
        [first, name] if first.is_word("USE") => name,
        [first, word, name] if first.is_word("USE") && word.is_word("DATABASE") => name,
        _ => return None,
    };
    unquoted(name).filter(|name| !name.is_empty() && !name.contains(['\\', '`', '"']))
}

/// The names that SETTINGS clauses anywhere in `tokens` give. What is no name and value ends its clause, and counts as
/// a name: the text that it begins with.
#[must_use]
pub fn names(tokens: &[Token]) -> Vec<String> {
    let mut names = Vec::new();
    for start in (0..tokens.len()).filter(|at| begins(tokens, *at)) {
        let mut at = start + 1;
        loop {
            let Some((name, next)) = pair(tokens, at) else {
                let rest: Vec<_> =
                    tokens[at..].iter().take(3).map(|token| String::from_utf8_lossy(token.text)).collect();
                names.push(rest.concat());
                break;
            };
            names.push(name);
            match tokens.get(next) {
                Some(comma) if comma.is_symbol(b',') => at = next + 1,
                _ => break,
            }
        }
    }
    names
}

/// Whether a clause begins at `at`: a column called so is followed by neither.
fn begins(tokens: &[Token], at: usize) -> bool {
    let follows = |ahead: usize, symbol| tokens.get(at + ahead).is_some_and(|token| token.is_symbol(symbol));
    tokens[at].is_word("SETTINGS")
        && tokens.get(at + 1).is_some_and(|name| unquoted(name).is_some())
        && (follows(2, b'=') || follows(2, b'.'))
}

/// The name of the setting at `at`, and the position after its value.
fn pair(tokens: &[Token], at: usize) -> Option<(String, usize)> {
    let name = unquoted(tokens.get(at)?)?;
    tokens.get(at + 1).filter(|equals| equals.is_symbol(b'='))?;
    let depth = tokens[at].depth;
    let mut next = at + 2;
    // A value is one word, or literals with signs and dots between them, or whatever brackets hold.
    while let Some(token) = tokens.get(next) {
        let is_first = next == at + 2;
        let is_inside = token.depth > depth;
        let is_end = token.depth < depth
            || token.is_symbol(b',')
            || token.is_symbol(b';')
            || (!is_first && matches!(token.kind, Kind::Word | Kind::QuotedIdentifier));
        if !is_inside && is_end {
            break;
        }
        next += 1;
    }
    Some((name, next))
}

type Clause = (Vec<(String, String)>, usize, usize);

/// The clause after which nothing but brackets and semicolons comes, with its position in the text.
fn last_clause(tokens: &[Token]) -> Option<Clause> {
    let start = (0..tokens.len()).rfind(|at| begins(tokens, *at))?;
    if !is_of_the_whole(&tokens[..start], tokens[start].depth) {
        return None;
    }
    let mut settings = Vec::new();
    let mut at = start + 1;
    loop {
        let (name, next) = pair(tokens, at)?;
        settings.push((name, plain(&tokens[at + 2..next])?));
        at = next;
        match tokens.get(at) {
            Some(comma) if comma.is_symbol(b',') => at += 1,
            _ => break,
        }
    }
    let is_last = tokens[at..].iter().all(|token| token.is_symbol(b')') || token.is_symbol(b';'));
    is_last.then(|| (settings, tokens[start].start, tokens[at - 1].end()))
}

/// Whether the brackets that are open after `before` are around the statement or members of a UNION, and not around a
/// sub-query.
fn is_of_the_whole(before: &[Token], mut depth: u32) -> bool {
    let mut end = before.len();
    while depth > 0 {
        let is_open = |token: &Token| token.depth == depth - 1 && token.kind == Kind::Symbol && token.text != b")";
        let Some(open) = before[..end].iter().rposition(is_open) else { return false };
        if !before[open].is_symbol(b'(') || !joins(&before[..open]) {
            return false;
        }
        (end, depth) = (open, depth - 1);
    }
    true
}

/// Whether a member of a UNION may follow.
fn joins(before: &[Token]) -> bool {
    let is_join = |token: &Token| ["UNION", "EXCEPT", "INTERSECT"].iter().any(|word| token.is_word(word));
    match before {
        [] => true,
        [.., bracket] if bracket.is_symbol(b'(') => true,
        [.., join, word] if word.is_word("ALL") || word.is_word("DISTINCT") => is_join(join),
        [.., join] => is_join(join),
    }
}

/// The value that a setting of a request has where a text says the same.
fn plain(value: &[Token]) -> Option<String> {
    let (first, last) = (value.first()?, value.last()?);
    let is_part =
        |token: &Token| token.kind == Kind::Literal || [b'.', b'-', b'+'].iter().any(|sign| token.is_symbol(*sign));
    let is_literal = value.iter().all(is_part);
    let text: Vec<u8> = value.iter().flat_map(|token| token.text).copied().collect();
    let text = String::from_utf8(text).ok()?;
    if text.contains('\\') || last.end() - first.start != text.len() {
        return None;
    }
    match text.strip_prefix('\'') {
        Some(quoted) if value.len() == 1 => quoted.strip_suffix('\'').map(|inner| inner.replace("''", "'")),
        Some(_) => None,
        None if value.len() == 1 && (first.is_word("true") || first.is_word("false")) => Some(text.to_lowercase()),
        None => (is_literal && !text.contains(['\'', '$'])).then_some(text),
    }
}

/// A name without its quotes; `None` for what is none, or has an escape in it.
fn unquoted(token: &Token) -> Option<String> {
    let text = match token.kind {
        Kind::Word => token.text,
        Kind::QuotedIdentifier => token.text.get(1..token.text.len().checked_sub(1)?)?,
        Kind::Literal | Kind::Symbol => return None,
    };
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> (String, String) {
        let split = split(text.as_bytes(), |_, _| true);
        let settings: Vec<String> = split.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (String::from_utf8(split.text).expect("utf-8"), settings.join(" "))
    }

    #[test]
    fn clauses_at_the_end_are_taken_off() {
        for (text, rest, settings) in [
            ("SELECT 1 SETTINGS a = 1, `b`='x''y' ;", "SELECT 1   ;", "a=1 b=x'y"),
            ("SELECT 1 settings/**/a=-1.5e3, b = true -- c", "SELECT 1   -- c", "a=-1.5e3 b=true"),
            ("(SELECT 1) UNION ALL (SELECT 2 SETTINGS a = 1)", "(SELECT 1) UNION ALL (SELECT 2  )", "a=1"),
            ("((SELECT 2 SETTINGS a = 1))", "((SELECT 2  ))", "a=1"),
            (" SETTINGS a = 1", "  ", "a=1"),
        ] {
            assert_eq!(taken(text), (rest.into(), settings.into()), "{text}");
        }
    }

    #[test]
    fn clauses_of_sub_queries_and_those_with_other_values_stay() {
        for text in [
            "SELECT * FROM (SELECT 1 SETTINGS a = 1)",
            "SELECT 1 > ALL (SELECT 1 SETTINGS a = 1)",
            "SELECT DISTINCT (SELECT 1 SETTINGS a = 1)",
            "SELECT * FROM url('x', SETTINGS a = 1)",
            "SELECT [(SELECT 1 SETTINGS a = 1)]",
            "SELECT 1 SETTINGS a = {b:UInt8}",
            "SELECT 1 SETTINGS a = [1]",
            "SELECT 1 SETTINGS a = '\\x41'",
            "SELECT 1 SETTINGS a = DEFAULT",
            "SELECT 1 SETTINGS a = 1, b.c = 2",
            "SELECT 1 SETTINGS a = 1 FORMAT CSV",
            "SELECT settings, a = 1 FROM settings",
            "SELECT 'SETTINGS a = 1'",
        ] {
            assert_eq!(taken(text), (text.into(), String::new()), "{text}");
        }
    }

    #[test]
    fn a_set_and_a_use_are_read_whole_or_not_at_all() {
        for (text, expected) in [
            ("SET a = 1", Some("a=1")),
            ("set a=1, `b` = 'x''y';", Some("a=1 b=x'y")),
            ("/* x */ SET\na = true -- y", Some("a=true")),
            ("SET a = DEFAULT", None),
            ("SET a = (SELECT 1)", None),
            ("SET a = 1; DROP TABLE t", None),
            ("SET a = 1 SETTINGS b = 2", None),
            ("SET a = 1 FORMAT CSV", None),
            ("SET a = 1)", None),
            ("SET a = 1,", None),
            ("SET a", None),
            ("SET ROLE a", None),
            ("SET DEFAULT ROLE a TO b", None),
            ("SET", None),
            ("SETTINGS a = 1", None),
            ("SELECT 1 SETTINGS a = 1", None),
        ] {
            let settings = of_set(text.as_bytes()).map(|settings| {
                settings.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(settings.as_deref(), expected, "{text}");
        }
        for (text, expected) in [
            ("USE a", Some("a")),
            ("use `a b`;", Some("a b")),
            ("USE DATABASE \"a\" -- x", Some("a")),
            ("USE database", Some("database")),
            ("USE a b", None),
            ("USE 'a'", None),
            ("USE `a``b`", None),
            ("USE `\\x61`", None),
            ("USE ``", None),
            ("USE", None),
            ("USE a; DROP TABLE t", None),
            ("USED a", None),
        ] {
            assert_eq!(of_use(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn names_are_found_wherever_a_clause_is() {
        for (text, expected) in [
            ("SELECT 1 SETTINGS a = 1, b = -2.5, c = [1, d = 2], e = {f:UInt8} UNION ALL SELECT x, g = 1", "a b c e"),
            ("WITH x AS (SELECT 1 SETTINGS a = 'b, c = 1'), y = 1 AS z SELECT (SELECT 1 SETTINGS d = 1), e = 2", "a d"),
            (
                "SELECT * FROM url('x', SETTINGS a = 1), view(SELECT 1 SETTINGS `b` = true, c = DEFAULT) FORMAT CSV",
                "a b c",
            ),
            ("SELECT 1 SETTINGS a = disk(type = local), b = 1", "a b"),
            ("SELECT settings, settings = 1, t.settings AS settings FROM settings WHERE a = 1", ""),
        ] {
            let tokens: Vec<Token> = Lexer::new(text.as_bytes()).collect();
            assert_eq!(names(&tokens).join(" "), expected, "{text}");
        }
        for (text, expected) in [("a.b = 1, c = 1", "a.b"), ("a = 1, b.c = 1", "a b.c"), ("a = 1, 'b' = 1", "a 'b'=1")]
        {
            let text = format!("SELECT 1 SETTINGS {text}");
            let tokens: Vec<Token> = Lexer::new(text.as_bytes()).collect();
            assert_eq!(names(&tokens).join(" "), expected, "{text}");
        }
    }
}
