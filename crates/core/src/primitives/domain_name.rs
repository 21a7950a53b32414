//! Names of the name service ENS, in the form in which they are registered. Pure.

/// Longest name that is looked up, in bytes.
const MAX_BYTES: usize = 255;

/// A name as it is registered: of ENSIP-15, which says what that is for all of Unicode, the names of ASCII letters.
///
/// <https://docs.ens.domains/ensip/15>. Tables for the rest would be some 3 MB of the program; names that need them are
/// not looked up, rather than as another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainName(String);

impl DomainName {
    /// The name that a text of two or more labels is; capital letters count as small ones. `None` if it is none, or
    /// if other letters than those of ASCII are in it.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let name = text.to_ascii_lowercase();
        let is_short = name.len() <= MAX_BYTES && name.contains('.');
        (is_short && name.split('.').all(is_label)).then_some(Self(name))
    }

    /// The text, as it is registered.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Small letters, digits, hyphens, `$`, and underscores at the beginning; no two hyphens where Punycode has its mark.
fn is_label(label: &str) -> bool {
    let is_known = |byte: &u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'$');
    let rest = label.trim_start_matches('_').as_bytes();
    !label.is_empty() && rest.iter().all(is_known) && label.as_bytes().get(2..4) != Some(b"--")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_as_they_are_registered() {
        for (text, name) in [
            ("vitalik.eth", "vitalik.eth"),
            ("Vitalik.ETH", "vitalik.eth"),
            ("__a-$0.pay.eth", "__a-$0.pay.eth"),
            ("a-.-b.eth", "a-.-b.eth"),
            ("_.eth", "_.eth"),
        ] {
            assert_eq!(DomainName::new(text).as_ref().map(DomainName::as_str), Some(name), "{text}");
        }
    }

    #[test]
    fn what_is_no_name_is_not_looked_up() {
        let long = format!("{}.eth", "a".repeat(252));
        for text in [
            "",
            ".",
            "eth",
            ".eth",
            "a..eth",
            "a.eth.",
            "a b.eth",
            "a_b.eth",
            "xn--a.eth",
            "ab--c.eth",
            "a'b.eth",
            "а.eth",
            "ab\u{200d}.eth",
            "1.5 ETH",
            "0x12/eth",
            "a.eth\0",
            &long,
        ] {
            assert_eq!(DomainName::new(text), None, "{text}");
        }
    }
}
