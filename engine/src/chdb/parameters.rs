//! Query parameters as libchdb takes them.

use std::ffi::c_char;

/// Query parameters as parallel arrays of pointers, valid as long as the slice they come from.
pub(super) struct Parameters {
    pub(super) names: Vec<*const c_char>,
    pub(super) name_lengths: Vec<usize>,
    pub(super) values: Vec<*const c_char>,
    pub(super) value_lengths: Vec<usize>,
}

impl Parameters {
    pub(super) fn new(pairs: &[(String, String)]) -> Self {
        Self {
            names: pairs.iter().map(|(name, _)| name.as_ptr().cast()).collect(),
            name_lengths: pairs.iter().map(|(name, _)| name.len()).collect(),
            values: pairs.iter().map(|(_, value)| value.as_ptr().cast()).collect(),
            value_lengths: pairs.iter().map(|(_, value)| value.len()).collect(),
        }
    }
}

/// A value in the text form of query parameters: tab-separated escapes.
pub(super) fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t")
}

/// The value of a field of tab-separated text.
pub(super) fn unescaped(field: &str) -> String {
    let mut value = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        value.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('0') => '\0',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_the_same_after_it_was_escaped() {
        for value in ["", "plain", "a\tb\nc", "\\n", "\\", "it's `quoted`", "é\\\\t"] {
            assert_eq!(unescaped(&escaped(value)), value);
        }
        assert_eq!(unescaped("a\\0b\\rc\\bd\\fe\\'f\\"), "a\0b\rc\u{8}d\u{c}e'f\\");
    }
}
