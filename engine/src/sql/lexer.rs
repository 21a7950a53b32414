//! ClickHouse SQL tokens, just enough to find clauses; knows no grammar.
//!
//! Works on bytes, because an INSERT may carry binary data after its text.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A bare word: keyword or identifier.
    Word,
    /// An identifier in back-ticks or double quotes, quotes included.
    QuotedIdentifier,
    /// A string, here-document or number.
    Literal,
    /// One byte of punctuation.
    Symbol,
}

/// One token of a query text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// Its bytes, quotes included.
    pub text: &'a [u8],
    /// Offset of its first byte.
    pub start: usize,
    /// How many brackets are open around it; an opening or closing bracket counts as outside its own pair.
    pub depth: u32,
}

impl Token<'_> {
    /// Offset after the last byte.
    #[must_use]
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether this is the bare word `word`, in any letter case.
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(word.as_bytes())
    }

    /// Whether this is the punctuation `symbol`.
    #[must_use]
    pub fn is_symbol(&self, symbol: u8) -> bool {
        self.kind == Kind::Symbol && self.text == [symbol]
    }

    /// Whether this names `name`, bare or quoted, in any letter case.
    #[must_use]
    pub fn names(&self, name: &str) -> bool {
        let text = match self.kind {
            Kind::Word => self.text,
            Kind::QuotedIdentifier if self.text.len() >= 2 => &self.text[1..self.text.len() - 1],
            _ => return false,
        };
        text.eq_ignore_ascii_case(name.as_bytes())
    }
}

/// Iterates over the tokens of a text; white space and comments are passed over.
#[derive(Debug, Clone)]
pub struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Lexer<'a> {
    /// Starts at the first byte of `text`.
    #[must_use]
    pub fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, depth: 0 }
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = blank(rest);
            if blank > 0 {
                self.at += blank;
            } else if rest.starts_with(b"--") || rest.starts_with(b"# ") || rest.starts_with(b"#!") {
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                self.at += comment(rest);
            } else {
                return;
            }
        }
    }

    /// Length of a quoted run: ends at an undoubled, unescaped closing quote, or with the text.
    fn quoted(&self, quote: u8) -> usize {
        let mut length = 1;
        loop {
            match self.text.get(self.at + length) {
                None => return length,
                Some(b'\\') => length += 2,
                Some(byte) if *byte == quote => {
                    if self.text.get(self.at + length + 1) != Some(&quote) {
                        return length + 1;
                    }
                    length += 2;
                }
                Some(_) => length += 1,
            }
        }
    }

    fn word(&self) -> usize {
        self.text[self.at..].iter().position(|byte| !is_word_byte(*byte)).unwrap_or(self.text.len() - self.at)
    }

    /// Length of a here-document `$tag$…$tag$`, if one starts here.
    fn here_document(&self) -> Option<usize> {
        let rest = &self.text[self.at..];
        let tag_length = rest[1..].iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')? + 2;
        if rest.get(tag_length - 1) != Some(&b'$') {
            return None;
        }
        let tag = &rest[..tag_length];
        find(&rest[tag_length..], tag).map(|at| at + 2 * tag_length)
    }
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        if self.at >= self.text.len() {
            return None;
        }
        let first = self.peek(0);
        let mut depth = self.depth;
        let (kind, length) = match first {
            b'\'' => (Kind::Literal, self.quoted(first)),
            b'`' | b'"' => (Kind::QuotedIdentifier, self.quoted(first)),
            b'$' => match self.here_document() {
                Some(length) => (Kind::Literal, length),
                None => (Kind::Word, self.word().max(1)),
            },
            b'0'..=b'9' => (Kind::Literal, self.word()),
            byte if is_word_byte(byte) => (Kind::Word, self.word()),
            b'(' | b'[' | b'{' => {
                self.depth += 1;
                (Kind::Symbol, 1)
            }
            b')' | b']' | b'}' => {
                self.depth = self.depth.saturating_sub(1);
                depth = self.depth;
                (Kind::Symbol, 1)
            }
            _ => (Kind::Symbol, 1),
        };
        let start = self.at;
        self.at = (start + length).min(self.text.len());
        Some(Token { kind, text: &self.text[start..self.at], start, depth })
    }
}

/// Length of the blank that `text` starts with, 0 if it starts with none. Blanks are what they are to ClickHouse
/// (`skipWhitespacesUTF8`): those of ASCII, the vertical tab among them, and what word processors and byte order marks
/// leave in a text.
fn blank(text: &[u8]) -> usize {
    match text {
        [b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r', ..] => 1,
        // U+0085, U+00A0
        [0xc2, 0x85 | 0xa0, ..] => 2,
        // U+180E; U+2000 to U+200D, U+2028, U+2029, U+202F; U+205F, U+2060; U+3000; U+FEFF
        [0xe1, 0xa0, 0x8e, ..]
        | [0xe2, 0x80, 0x80..=0x8d | 0xa8 | 0xa9 | 0xaf, ..]
        | [0xe2, 0x81, 0x9f | 0xa0, ..]
        | [0xe3, 0x80, 0x80, ..]
        | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// Words are ASCII to ClickHouse: other characters stand in quotes, or are blanks, or are no SQL.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

/// Length of the comment that `text` starts with; comments nest. One that is not closed goes to the end.
fn comment(text: &[u8]) -> usize {
    let (mut at, mut depth) = (2, 1);
    while depth > 0 && at < text.len() {
        let step = match &text[at..] {
            [b'/', b'*', ..] => 1,
            [b'*', b'/', ..] => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
    }
    at
}

fn find(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(Kind, String, u32)> {
        Lexer::new(text.as_bytes())
            .map(|token| (token.kind, String::from_utf8_lossy(token.text).into_owned(), token.depth))
            .collect()
    }

    #[test]
    fn strings_comments_and_brackets_hide_what_they_hold() {
        let tokens = words("SELECT 'FORMAT \\' x''' /* FORMAT a */ , `FORMAT`(1, [2]) -- FORMAT b\n# FORMAT c\nFROM t");
        let bare: Vec<_> =
            tokens.iter().filter(|(kind, _, _)| *kind == Kind::Word).map(|(_, text, _)| text.as_str()).collect();
        assert_eq!(bare, ["SELECT", "FROM", "t"]);
        assert!(tokens.contains(&(Kind::Literal, "2".into(), 2)));
        assert!(tokens.contains(&(Kind::Symbol, ")".into(), 0)));
    }

    #[test]
    fn comments_nest() {
        assert_eq!(words("/* /* */ ' */ file /* ' */").len(), 1);
        assert_eq!(words("/*/ a */ b /**/ c").len(), 2);
    }

    /// The code points are those of the comment in ClickHouse's `src/Common/StringUtils.h`, and their neighbours.
    #[test]
    fn blanks_are_those_of_clickhouse() {
        let of_unicode = [0x85, 0xa0, 0x180e, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff];
        let blanks = "\t\n\u{b}\u{c}\r ".chars().map(u32::from).chain(of_unicode).chain(0x2000..=0x200d);
        for blank in blanks.filter_map(char::from_u32) {
            let text = format!("{blank}INSERT{blank}INTO{blank}{blank}t");
            let found: Vec<String> = words(&text).into_iter().map(|(_, text, _)| text).collect();
            assert_eq!(found, ["INSERT", "INTO", "t"], "{blank:?}");
        }
        for other in [0x84, 0x1680, 0x180d, 0x200e, 0x2027, 0x202a, 0x2030, 0x205e, 0x2061, 0x3001, 0xe9] {
            let other = char::from_u32(other).expect("a character");
            assert!(words(&format!("a{other}b")).len() > 2, "{other:?}");
        }
    }

    #[test]
    fn here_documents_are_literals() {
        assert_eq!(words("$x$ FORMAT $y$ $x$ a").len(), 2);
        assert_eq!(words("$$ a $$").len(), 1);
    }

    #[test]
    fn unfinished_text_ends_quietly() {
        for text in ["'abc", "`abc", "/* abc", "$x$ abc", "'abc\\", "(", ")"] {
            let _ = words(text);
        }
    }
}
