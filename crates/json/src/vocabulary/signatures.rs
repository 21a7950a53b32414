//! The names of well-known functions, by the first four bytes of their hash.
//!
//! The list is `sql/signatures/functions.txt`, one signature a line in the form the ABI specification hashes
//! (<https://docs.soliditylang.org/en/latest/abi-spec.html#function-selector>).

use std::collections::HashMap;
use std::sync::LazyLock;

use alloy_primitives::keccak256;
use trawl_core::primitives::abi::KnownFunction;

use super::packages;

static FUNCTIONS: LazyLock<HashMap<[u8; 4], &'static str>> = LazyLock::new(|| well_known_methods().collect());

/// The same with types.
static KNOWN: LazyLock<HashMap<[u8; 4], KnownFunction>> = LazyLock::new(|| {
    let known = |(selector, text): (&[u8; 4], &&str)| Some((*selector, KnownFunction::parse(text).ok()?));
    FUNCTIONS.iter().filter_map(known).collect()
});

/// The well-known function with this selector.
pub(crate) fn well_known_function(selector: [u8; 4]) -> Option<&'static KnownFunction> {
    KNOWN.get(&selector)
}

/// The well-known functions in the order of their list, each with its selector.
pub fn well_known_methods() -> impl Iterator<Item = ([u8; 4], &'static str)> {
    let signatures = include_str!("../../../../sql/signatures/functions.txt").lines().filter(|line| !line.is_empty());
    signatures.map(|signature| (selector(signature), signature))
}

fn selector(signature: &str) -> [u8; 4] {
    let [first, second, third, fourth, ..] = keccak256(signature).0;
    [first, second, third, fourth]
}

/// The well-known function with this selector, else the only one that packages declare: its name and types.
#[must_use]
pub fn well_known_signature(selector: [u8; 4]) -> Option<String> {
    let of_packages = || packages::function(selector).map(|known| known.function.signature());
    FUNCTIONS.get(&selector).map(|text| (*text).to_owned()).or_else(of_packages)
}

/// The name of the well-known function with this selector.
pub(crate) fn well_known(selector: [u8; 4]) -> Option<&'static str> {
    FUNCTIONS.get(&selector)?.split('(').next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_functions_have_names() {
        assert_eq!(well_known([0xa9, 0x05, 0x9c, 0xbb]), Some("transfer"));
        assert_eq!(well_known([0x23, 0xb8, 0x72, 0xdd]), Some("transferFrom"));
        assert_eq!(well_known([1, 2, 3, 4]), None);
    }

    #[test]
    fn known_functions_have_types() {
        assert_eq!(KNOWN.len(), FUNCTIONS.len());
    }

    #[test]
    fn no_two_signatures_share_a_selector() {
        let lines =
            include_str!("../../../../sql/signatures/functions.txt").lines().filter(|line| !line.is_empty()).count();
        assert_eq!(FUNCTIONS.len(), lines);
    }
}
