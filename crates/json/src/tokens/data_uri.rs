//! URIs that hold what they name (RFC 2397). Contracts write them, so they may be anything.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// Contracts leave the padding out, and some leave bits in the last digit.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A `data:` URI in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DataUri<'u> {
    /// The media type without its parameters, in lower case; empty where the URI names none.
    pub media_type: String,
    /// Whether the body is base64.
    pub is_base64: bool,
    /// What follows the comma, as it is written.
    pub body: &'u str,
}

impl<'u> DataUri<'u> {
    /// `None` for other URIs.
    pub fn new(uri: &'u str) -> Option<Self> {
        let (scheme, rest) = uri.split_once(':')?;
        let (kind, body) = rest.split_once(',').filter(|_| scheme.eq_ignore_ascii_case("data"))?;
        let mut parts = kind.split(';').map(str::trim);
        let media_type = parts.next().unwrap_or_default().to_ascii_lowercase();
        let is_base64 = parts.any(|part| part.eq_ignore_ascii_case("base64"));
        Some(Self { media_type, is_base64, body })
    }

    /// The bytes of the body; `None` for what is no base64 but should be. A `%` that begins no escape is itself.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let mut bytes: Vec<u8> = percent_decode_str(self.body).collect();
        if !self.is_base64 {
            return Some(bytes);
        }
        bytes.retain(|byte| !byte.is_ascii_whitespace());
        BASE64.decode(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(uri: &str) -> Option<Vec<u8>> {
        DataUri::new(uri)?.bytes()
    }

    #[test]
    fn parts_are_those_of_the_rfc() {
        let uri = DataUri::new("data:Text/HTML;charset=utf-8;base64,PGI+,;").expect("a data URI");
        assert_eq!(uri, DataUri { media_type: "text/html".into(), is_base64: true, body: "PGI+,;" });
        let uri = DataUri::new("DATA:,a:b").expect("a data URI");
        assert_eq!(uri, DataUri { media_type: String::new(), is_base64: false, body: "a:b" });
        for other in ["", "data", "data:text/plain", "https://example.org/,", "ipfs://data:,", " data:,x", "xdata:,x"] {
            assert_eq!(DataUri::new(other), None, "{other}");
        }
    }

    #[test]
    fn bodies_are_decoded() {
        for (uri, expected) in [
            ("data:,", ""),
            ("data:,a%20b%c3%a9", "a bé"),
            ("data:,100% %zz %", "100% %zz %"),
            ("data:,a+b", "a+b"),
            ("data:;base64,aGk=", "hi"),
            ("data:;base64,aGk", "hi"),
            ("data:;base64,aGl", "hi"),
            ("data:;BASE64,a G\nk%3D", "hi"),
            ("data:;base64,", ""),
        ] {
            assert_eq!(bytes(uri), Some(expected.as_bytes().to_vec()), "{uri}");
        }
        for wrong in ["data:;base64,a", "data:;base64,aG-_", "data:;base64,{}", "data:;base64,aGk=aGk="] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }
}
