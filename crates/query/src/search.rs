//! Plans for the search for names.

use trawl_core::primitives::Address;
use trawl_core::schema::columns::columns;
use trawl_core::statement::Statement;

columns! {
    /// An address, and a name of it from one of its words on.
    pub struct SearchTerm / SearchTermView {
        /// The name in lower case, from the word on.
        term: String,
        /// The address that has the name.
        address: Address,
    }
}

/// Words of a name that are terms: the views of `search_terms` count the same.
pub const MAX_WORDS: usize = 8;
/// Characters of a term, at most; see [`MAX_WORDS`].
pub const MAX_CHARACTERS: usize = 100;

/// Invisible characters: the property `Default_Ignorable_Code_Point` of Unicode, from and to. The views of
/// `search_terms` leave out the same.
const IGNORABLE: [(char, char); 17] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fff8}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The words of a text in lower case, without invisible characters. Any white space separates them, and so does a
/// control character.
fn words(text: &str) -> Vec<String> {
    let is_seen = |one: &char| !IGNORABLE.iter().any(|(first, last)| (first..=last).contains(&one));
    let lower: String = text.to_lowercase().chars().filter(is_seen).collect();
    let is_between = |one: char| one.is_whitespace() || one.is_control();
    lower.split(is_between).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A text as terms are written: its words with one blank between them.
#[must_use]
pub fn normalized(text: &str) -> String {
    words(text).join(" ")
}

/// The terms of a name, as the views of `search_terms` make them.
#[must_use]
pub fn terms(name: &str) -> Vec<String> {
    let words = words(name);
    let from = |first: usize| words[first..].join(" ").chars().take(MAX_CHARACTERS).collect();
    (0..words.len().min(MAX_WORDS)).map(from).collect()
}

/// The terms that begin with `prefix`, in their order, below them the addresses; those beyond `after`. Names that were
/// replaced are among them.
#[must_use]
pub fn beginning_with(prefix: &str, after: Option<(&str, &Address)>, limit: u64) -> Statement<SearchTerm> {
    // Text of clients travels as hexadecimal digits: a parameter would be read with escapes.
    let beyond = match after {
        Some(_) => {
            "\n  AND term >= unhex({after_term:String})\n  AND (term, address) > (unhex({after_term:String}), toFixedString(unhex({after_address:String}), 20))"
        }
        None => "",
    };
    let sql = format!(
        "SELECT term, address\nFROM search_terms\nWHERE startsWith(term, unhex({{prefix:String}})){beyond}\nORDER BY term, address\nLIMIT 1 BY term, address\nLIMIT {{limit:UInt64}}"
    );
    let statement = Statement::page(sql).with("prefix", const_hex::encode(prefix).as_str()).with("limit", limit);
    match after {
        Some((term, address)) => {
            statement.with("after_term", const_hex::encode(term).as_str()).with("after_address", address)
        }
        None => statement,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_term_for_each_of_its_first_words() {
        assert_eq!(terms("  USD  Coin "), ["usd coin", "coin"]);
        assert_eq!(terms(&"a ".repeat(20)).len(), MAX_WORDS);
        assert_eq!(terms(&"É".repeat(200)), ["é".repeat(MAX_CHARACTERS)]);
        assert!(terms(" ").is_empty());
    }

    #[test]
    fn words_are_what_a_reader_sees() {
        assert_eq!(terms("USD\r\nCoin\t2\0.0"), ["usd coin 2 .0", "coin 2 .0", "2 .0", ".0"]);
        // No-break space, line separator, ideographic space, next line.
        assert_eq!(normalized("a\u{a0}b\u{2028}c\u{3000}d\u{85}e"), "a b c d e");
        // Zero-width space, soft hyphen, byte order mark, a mark of direction, a variation selector.
        assert_eq!(normalized("\u{feff}US\u{200b}D\u{ad}C \u{202e}\u{2764}\u{fe0f}"), "usdc \u{2764}");
    }

    #[test]
    fn a_page_begins_beyond_a_term_and_its_address() {
        let statement = beginning_with("usd", Some(("usd coin", &Address::ZERO)), 51);
        insta::assert_snapshot!(statement.sql, @r"
        SELECT term, address
        FROM search_terms
        WHERE startsWith(term, unhex({prefix:String}))
          AND term >= unhex({after_term:String})
          AND (term, address) > (unhex({after_term:String}), toFixedString(unhex({after_address:String}), 20))
        ORDER BY term, address
        LIMIT 1 BY term, address
        LIMIT {limit:UInt64}
        ");
    }
}
