//! Decodes what contracts return to calls for token metadata: a contract may return anything. Pure.

use alloy_sol_types::{SolType, sol_data};

use super::U256;

/// Most characters stored of a name or symbol.
pub const MAX_CHARACTERS: usize = 1000;

/// A name or a symbol: a `string`, or a `bytes32` as the first tokens had it. `None` if it is neither.
///
/// What is no UTF-8 is replaced, NUL is left out, and the rest is as the contract gave it: markup too.
#[must_use]
pub fn text(answer: &[u8]) -> Option<String> {
    let bytes = match <[u8; 32]>::try_from(answer) {
        Ok(word) => short_text(&word)?,
        Err(_) => <sol_data::Bytes as SolType>::abi_decode(answer).ok()?.to_vec(),
    };
    // No character is longer than four bytes, so a megabyte is not looked at for a thousand characters of it.
    let start = &bytes[..bytes.len().min(MAX_CHARACTERS * 8)];
    let text = String::from_utf8_lossy(start);
    Some(text.chars().filter(|character| *character != '\0').take(MAX_CHARACTERS).collect())
}

/// A `string` of at most so many bytes as the contract gave it; `None` if it is longer, no UTF-8 or no `string`.
#[must_use]
pub fn string(answer: &[u8], max_bytes: usize) -> Option<String> {
    let bytes = <sol_data::Bytes as SolType>::abi_decode(answer).ok()?;
    (bytes.len() <= max_bytes).then(|| String::from_utf8(bytes.to_vec()).ok()).flatten()
}

/// The text in a word, filled up with zeros at its end. A number is none: it has its zeros in front.
fn short_text(word: &[u8; 32]) -> Option<Vec<u8>> {
    let length = word.iter().position(|byte| *byte == 0).unwrap_or(word.len());
    let (text, filling) = word.split_at(length);
    let is_text = length > 0 && filling.iter().all(|byte| *byte == 0) && std::str::from_utf8(text).is_ok();
    is_text.then(|| text.to_vec())
}

/// A number: one word and nothing else, so that a `string` is not taken for its offset.
#[must_use]
pub fn number(answer: &[u8]) -> Option<U256> {
    <[u8; 32]>::try_from(answer).ok().map(U256::from_be_bytes)
}

/// Decimals; those that do not fit their type are none.
#[must_use]
pub fn decimals(answer: &[u8]) -> Option<u8> {
    number(answer).and_then(|number| u8::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use alloy_sol_types::SolValue;
    use proptest::prelude::*;

    use super::*;

    fn word(number: u64) -> Vec<u8> {
        U256::from(number).to_be_bytes::<32>().to_vec()
    }

    fn padded(text: &[u8]) -> Vec<u8> {
        [text, &vec![0; 32 - text.len()]].concat()
    }

    #[test]
    fn text_is_read_in_both_forms() {
        assert_eq!(text(&"Dev Dollar".to_owned().abi_encode()).as_deref(), Some("Dev Dollar"));
        assert_eq!(text(&padded(b"Old Coin")).as_deref(), Some("Old Coin"));
        assert_eq!(text(&padded(&[b'x'; 32])).as_deref(), Some("x".repeat(32).as_str()));
        assert_eq!(text(&String::new().abi_encode()).as_deref(), Some(""));
    }

    #[test]
    fn hostile_text_is_tamed() {
        let bytes = |bytes: &[u8]| alloy_primitives::Bytes::copy_from_slice(bytes).abi_encode();
        assert_eq!(text(&bytes(b"\0ab\0\xff")).as_deref(), Some("ab\u{fffd}"));
        assert_eq!(text(&bytes("<b>\"🚀'\n".as_bytes())).as_deref(), Some("<b>\"🚀'\n"));
        assert_eq!(text(&bytes(&vec![b'x'; 1 << 20])).map(|text| text.len()), Some(MAX_CHARACTERS));
        assert_eq!(text(&bytes("🚀".repeat(5000).as_bytes())).map(|text| text.chars().count()), Some(MAX_CHARACTERS));
        for (case, answer) in [
            ("nothing", vec![]),
            ("a number", word(7)),
            ("zero", word(0)),
            ("a word with a hole", padded(b"a\0b")),
            ("a word of no text", padded(b"\xff\xfe")),
            ("half a word", vec![b'x'; 16]),
            ("a length beyond the answer", [word(32), word(u64::MAX), word(0)].concat()),
            ("an offset beyond the answer", [word(u64::MAX), word(1), word(0)].concat()),
        ] {
            assert_eq!(text(&answer), None, "{case}");
        }
    }

    #[test]
    fn a_string_is_whole_or_none() {
        let written = "<b>\0🚀\u{202e}".to_owned();
        assert_eq!(string(&written.abi_encode(), written.len()).as_ref(), Some(&written));
        assert_eq!(string(&written.abi_encode(), written.len() - 1), None);
        let no_text = alloy_primitives::Bytes::from_static(b"\xff").abi_encode();
        for (case, answer) in [
            ("nothing", vec![]),
            ("a number", word(7)),
            ("a word of text", padded(b"Old Coin")),
            ("no UTF-8", no_text),
            ("a length beyond the answer", [word(32), word(u64::MAX), word(0)].concat()),
            ("an offset beyond the answer", [word(u64::MAX), word(1), word(0)].concat()),
        ] {
            assert_eq!(string(&answer, 1 << 16), None, "{case}");
        }
    }

    #[test]
    fn only_a_word_is_a_number() {
        assert_eq!(number(&word(7)), Some(U256::from(7)));
        assert_eq!(number(&[0xff; 32]), Some(U256::MAX));
        assert_eq!(number(&"seven".to_owned().abi_encode()), None);
        assert_eq!(number(&[]), None);
        assert_eq!((decimals(&word(255)), decimals(&word(256)), decimals(&[0xff; 32])), (Some(255), None, None));
    }

    proptest! {
        #[test]
        fn any_answer_gives_short_text_or_none(noise in proptest::collection::vec(any::<u8>(), 0..300),
                                               words in proptest::collection::vec(0_u64..200, 0..10)) {
            for answer in [noise, words.into_iter().flat_map(word).collect()] {
                if let Some(text) = text(&answer) {
                    prop_assert!(text.chars().count() <= MAX_CHARACTERS && !text.contains('\0'));
                }
            }
        }

        #[test]
        fn text_is_read_as_it_was_written(written in "[^\0]{0,200}") {
            prop_assert_eq!(text(&written.abi_encode()), Some(written));
        }
    }
}
