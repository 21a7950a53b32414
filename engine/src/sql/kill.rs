//! KILL as far as users may say it who end their own statements only; ends nothing.

use crate::sql::lexer::{Kind, Lexer, Token};

/// `KILL QUERY WHERE query_id = '…' [SYNC | ASYNC] [FORMAT name]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KillQuery {
    /// The id in its condition.
    pub query_id: String,
    /// When it is answered.
    pub mode: Mode,
    /// The format of its FORMAT clause.
    pub format: Option<String>,
}

/// When a KILL is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// At once, while the statement may still run.
    Async,
    /// When the statement has ended.
    Sync,
}

/// Reads `text` if it is such a statement and nothing else: one id, written as a string without escapes.
#[must_use]
pub fn kill_by_id(text: &[u8]) -> Option<KillQuery> {
    let all: Vec<Token> = Lexer::new(text).collect();
    let mut tokens: &[Token] = &all;
    while let Some((last, rest)) = tokens.split_last()
        && last.is_symbol(b';')
    {
        tokens = rest;
    }
    let [kill, query, condition, name, equals, id, rest @ ..] = tokens else { return None };
    let is_by_id = kill.is_word("KILL")
        && query.is_word("QUERY")
        && condition.is_word("WHERE")
        && name.names("query_id")
        && equals.is_symbol(b'=');
    let (mode, rest) = match rest {
        [word, rest @ ..] if word.is_word("SYNC") => (Mode::Sync, rest),
        [word, rest @ ..] if word.is_word("ASYNC") => (Mode::Async, rest),
        _ => (Mode::Async, rest),
    };
    let format = match rest {
        [] => None,
        [word, name] if word.is_word("FORMAT") && name.kind == Kind::Word => {
            Some(String::from_utf8_lossy(name.text).into_owned())
        }
        _ => return None,
    };
    let query_id = string(id).filter(|_| is_by_id)?;
    Some(KillQuery { query_id, mode, format })
}

/// The value of a string; `None` for what is none, or has an escape other than a doubled quote in it.
fn string(token: &Token) -> Option<String> {
    let text = std::str::from_utf8(token.text).ok()?;
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let is_plain = !inner.contains('\\') && inner.split("''").all(|part| !part.contains('\''));
    is_plain.then(|| inner.replace("''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_by_one_id_is_read() {
        for (text, query_id, mode, format) in [
            ("KILL QUERY WHERE query_id = 'a'", "a", Mode::Async, None),
            ("kill query where query_id='a-b' sync;", "a-b", Mode::Sync, None),
            ("/* x */ KILL QUERY WHERE `query_id` = 'it''s' ASYNC FORMAT JSON ; ;", "it's", Mode::Async, Some("JSON")),
            ("KILL QUERY WHERE query_id = '' FORMAT TSV -- x", "", Mode::Async, Some("TSV")),
            ("KILL QUERY WHERE query_id = ''' OR 1 = 1 --'", "' OR 1 = 1 --", Mode::Async, None),
        ] {
            let expected = KillQuery { query_id: query_id.into(), mode, format: format.map(str::to_owned) };
            assert_eq!(kill_by_id(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "KILL QUERY WHERE 1",
            "KILL QUERY WHERE user = 'ana'",
            "KILL QUERY WHERE query_id = 'a' OR 1",
            "KILL QUERY WHERE query_id = 'a' OR query_id = 'b'",
            "KILL QUERY WHERE query_id != 'a'",
            "KILL QUERY WHERE query_id IN ('a')",
            "KILL QUERY WHERE query_id = concat('a', 'b')",
            "KILL QUERY WHERE (query_id = 'a')",
            "KILL QUERY WHERE query_id = a",
            "KILL QUERY WHERE query_id = 1",
            "KILL QUERY WHERE query_id = {id:String}",
            "KILL QUERY WHERE query_id = $$a$$",
            "KILL QUERY WHERE query_id = 'a\\'b'",
            "KILL QUERY WHERE query_id = '\\x61'",
            "KILL QUERY WHERE query_id = 'a",
            "KILL QUERY WHERE query_id = 'a''",
            "KILL QUERY WHERE query_id = '",
            "KILL QUERY WHERE query_id = 'a' TEST",
            "KILL QUERY WHERE query_id = 'a' SYNC ASYNC",
            "KILL QUERY WHERE query_id = 'a' FORMAT",
            "KILL QUERY WHERE query_id = 'a' FORMAT `JSON`",
            "KILL QUERY WHERE query_id = 'a' FORMAT JSON SETTINGS max_threads = 1",
            "KILL QUERY WHERE query_id = 'a'; DROP TABLE t",
            "KILL QUERY WHERE query_id = 'a' INTO OUTFILE 'x'",
            "KILL QUERY ON CLUSTER c WHERE query_id = 'a'",
            "KILL MUTATION WHERE query_id = 'a'",
            "KILL QUERY WHERE query_id = 'a' 'b'",
            "KILL QUERY",
            "SELECT 1",
            "",
        ] {
            assert_eq!(kill_by_id(text.as_bytes()), None, "{text}");
        }
    }
}
