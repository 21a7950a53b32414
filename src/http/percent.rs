//! Validation of the percent-escapes of request targets.

use percent_encoding::percent_decode_str;

/// Whether every `%` begins an escape and the unescaped text is UTF-8.
///
/// Checking a whole path or query is the same as checking each of its parts, because their separators are ASCII.
pub(crate) fn are_readable(text: &str) -> bool {
    let is_escape = |at: usize| {
        let digits = text.as_bytes().get(at + 1..at + 3);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    text.match_indices('%').all(|(at, _)| is_escape(at)) && percent_decode_str(text).decode_utf8().is_ok()
}

#[cfg(test)]
mod tests {
    use super::are_readable;

    #[test]
    fn wrong_escapes_are_found() {
        for good in ["", "/a/b", "a=%20&b=+", "%25zz", "%c3%a9", "%EF%BF%BD", "é", "%00"] {
            assert!(are_readable(good), "{good}");
        }
        for bad in ["%", "/a%", "%f", "%zz", "%+1", "%%41", "%ff", "%c3", "%c3/%a9", "%ed%a0%80", "%é"] {
            assert!(!are_readable(bad), "{bad}");
        }
    }
}
