//! The names of well-known functions, by the first four bytes of their hash.
//!
//! The list is `signatures/functions.txt`, one signature a line in the form the ABI specification hashes
//! (<https://docs.soliditylang.org/en/latest/abi-spec.html#function-selector>).

use std::collections::HashMap;
use std::sync::LazyLock;

use alloy_primitives::keccak256;

static FUNCTIONS: LazyLock<HashMap<[u8; 4], &'static str>> = LazyLock::new(|| {
    let signatures = include_str!("signatures/functions.txt").lines().filter(|line| !line.is_empty());
    signatures.map(|signature| (selector(signature), signature)).collect()
});

fn selector(signature: &str) -> [u8; 4] {
    let [first, second, third, fourth, ..] = keccak256(signature).0;
    [first, second, third, fourth]
}

/// What a transaction with this beginning of its input calls: the name of a known function, else the four bytes in
/// hexadecimal; `None` for fewer than four.
#[must_use]
pub fn method_name(selector: &[u8]) -> Option<String> {
    let selector: [u8; 4] = selector.get(..4)?.try_into().ok()?;
    let known = FUNCTIONS.get(&selector).and_then(|signature| signature.split('(').next());
    Some(known.map_or_else(|| format!("0x{}", const_hex::encode(selector)), Into::into))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_functions_have_names_and_others_their_bytes() {
        assert_eq!(method_name(&[0xa9, 0x05, 0x9c, 0xbb]).as_deref(), Some("transfer"));
        assert_eq!(method_name(&[0x23, 0xb8, 0x72, 0xdd, 1]).as_deref(), Some("transferFrom"));
        assert_eq!(method_name(&[1, 2, 3, 4]).as_deref(), Some("0x01020304"));
        assert_eq!(method_name(&[1, 2, 3]), None);
    }

    #[test]
    fn no_two_signatures_share_a_selector() {
        let lines = include_str!("signatures/functions.txt").lines().filter(|line| !line.is_empty()).count();
        assert_eq!(FUNCTIONS.len(), lines);
    }
}
