//! Detects accounts that forward their calls, from the codes and slots that a block changed. Pure.
//!
//! Minimal proxies (EIP-1167 with its short forms, ERC-7511 and the other usual spellings) and delegated accounts
//! (EIP-7702) show it in their code; EIP-1967 and EIP-1822 proxies in a slot of their storage.

use alloy_primitives::{b256, hex};
use trawl_core::primitives::{Address, B256};
use trawl_core::schema::ProxyRow;

/// A code that a block changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CodeChange<'a> {
    /// Contract, or account that delegates (EIP-7702).
    pub address: Address,
    /// Its code before the block; empty if it had none, `None` if the source did not have it.
    pub before: Option<&'a [u8]>,
    /// Its code after the block; empty if it has none.
    pub after: &'a [u8],
}

/// A slot that a block changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StorageChange {
    /// Account whose storage has the slot.
    pub address: Address,
    /// Slot, a 256-bit big-endian number.
    pub slot: B256,
    /// Its value after the block; zero if it was cleared.
    pub value: B256,
}

/// `keccak256("eip1967.proxy.implementation") - 1`.
const IMPLEMENTATION_SLOT: B256 = b256!("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc");
/// `keccak256("eip1967.proxy.beacon") - 1`.
const BEACON_SLOT: B256 = b256!("a3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50");
/// `keccak256("PROXIABLE")` (EIP-1822), the slot of the implementation.
const PROXIABLE_SLOT: B256 = b256!("c5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7");

/// Every slot that points to an implementation.
pub const POINTING_SLOTS: [B256; 3] = [IMPLEMENTATION_SLOT, BEACON_SLOT, PROXIABLE_SLOT];

/// EIP-7702: what the code of a delegated account starts with.
const DELEGATION: [u8; 3] = hex!("ef0100");

/// Beginnings and ends of minimal proxies around an address of 20 bytes.
const MINIMAL: [(&[u8], &[u8]); 5] = [
    // EIP-1167.
    (&hex!("363d3d373d3d3d363d73"), &hex!("5af43d82803e903d91602b57fd5bf3")),
    // The same a byte shorter, as Solady writes it.
    (&hex!("3d3d3d3d363d3d37363d73"), &hex!("5af43d3d93803e602a57fd5bf3")),
    // ERC-7511: with PUSH0.
    (&hex!("365f5f375f5f365f73"), &hex!("5af43d5f5f3e5f3d91602a57fd5bf3")),
    // With PUSH0, as Solady writes it.
    (&hex!("5f5f365f5f37365f73"), &hex!("5af43d5f5f3e6029573d5ffd5b3d5ff3")),
    // Vyper before 0.2.9.
    (&hex!("366000600037611000600036600073"), &hex!("5af4602c57600080fd5b6110006000f3")),
];

/// The rows of a block for its changes, each account once per kind and in the order given.
#[must_use]
pub fn proxies<'a>(
    block_number: u64,
    code_changes: impl IntoIterator<Item = CodeChange<'a>>,
    storage_changes: impl IntoIterator<Item = StorageChange>,
) -> Vec<ProxyRow> {
    let row = |address, (kind, implementation): (&str, Address)| ProxyRow {
        address,
        block_number,
        kind: kind.into(),
        implementation,
    };
    let mut rows = Vec::new();
    for change in code_changes {
        let (before, after) = (change.before.and_then(pointed_by_code), pointed_by_code(change.after));
        if change.before.is_none() && change.after.is_empty() {
            // Only delegations are taken back, and minimal proxies end: whichever it was, it is no more.
            rows.extend(["eip1167", "eip7702"].map(|kind| row(change.address, (kind, Address::ZERO))));
        }
        // What the old code pointed to, and the new one does not, was taken away.
        if let Some((kind, _)) = before.filter(|(kind, _)| after.is_none_or(|(new, _)| new != *kind)) {
            rows.push(row(change.address, (kind, Address::ZERO)));
        }
        rows.extend(after.filter(|after| before != Some(*after)).map(|after| row(change.address, after)));
    }
    let by_slot = storage_changes.into_iter().filter_map(|change| Some((change.address, pointed_by_slot(&change)?)));
    rows.extend(by_slot.map(|(address, pointed)| row(address, pointed)));
    rows
}

fn pointed_by_slot(change: &StorageChange) -> Option<(&'static str, Address)> {
    let kind = match change.slot {
        IMPLEMENTATION_SLOT => "eip1967",
        BEACON_SLOT => "eip1967_beacon",
        PROXIABLE_SLOT => "eip1822",
        _ => return None,
    };
    // The upper bytes of such a value are not read by the proxy; some keep flags there.
    Some((kind, Address::from_word(change.value)))
}

fn pointed_by_code(code: &[u8]) -> Option<(&'static str, Address)> {
    if let Some(delegate) = code.strip_prefix(&DELEGATION) {
        return Some(("eip7702", Address::try_from(delegate).ok()?));
    }
    let whole = MINIMAL.iter().find_map(|(start, end)| between(code, start, end));
    whole.or_else(|| short_address(code)).map(|implementation| ("eip1167", implementation))
}

/// The 20 bytes between `start` and `end`; what follows are arguments that the proxy keeps in its code.
fn between(code: &[u8], start: &[u8], end: &[u8]) -> Option<Address> {
    let (address, rest) = code.strip_prefix(start)?.split_at_checked(20)?;
    rest.starts_with(end).then(|| Address::from_slice(address))
}

/// EIP-1167, "vanity address optimization": an address that begins with zeros is pushed without them, which moves the
/// target of the jump by as much.
fn short_address(code: &[u8]) -> Option<Address> {
    const PUSH1: u8 = 0x60;
    let rest = code.strip_prefix(&hex!("363d3d373d3d3d363d"))?;
    let (push, rest) = rest.split_first()?;
    let length = usize::from(push.checked_sub(PUSH1)?) + 1;
    let (address, rest) = rest.split_at_checked(length).filter(|_| length < 20)?;
    let target = 0x2b - (20 - u8::try_from(length).ok()?);
    let end = [&hex!("5af43d82803e903d9160")[..], &[target], &hex!("57fd5bf3")].concat();
    (rest == end).then(|| Address::left_padding_from(address))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{U256, address, keccak256};

    use super::*;

    const TARGET: Address = address!("bebebebebebebebebebebebebebebebebebebebe");

    fn code_rows(before: &[u8], after: &[u8]) -> Vec<(String, Address)> {
        let change = CodeChange { address: Address::repeat_byte(1), before: Some(before), after };
        proxies(7, [change], []).into_iter().map(|row| (row.kind, row.implementation)).collect()
    }

    fn pointed(code: &str) -> Option<Address> {
        let rows = code_rows(&[], &hex::decode(code).expect("hex"));
        rows.first().map(|(kind, implementation)| {
            assert_eq!((rows.len(), kind.as_str()), (1, "eip1167"));
            *implementation
        })
    }

    #[test]
    fn slots_are_those_of_the_standards() {
        let below = |name: &str| B256::from(U256::from_be_bytes(keccak256(name).0) - U256::from(1));
        assert_eq!(IMPLEMENTATION_SLOT, below("eip1967.proxy.implementation"));
        assert_eq!(BEACON_SLOT, below("eip1967.proxy.beacon"));
        assert_eq!(PROXIABLE_SLOT, keccak256("PROXIABLE"));
    }

    #[test]
    fn minimal_proxies_are_known_in_their_usual_spellings() {
        let target = "bebebebebebebebebebebebebebebebebebebebe";
        for code in [
            // The examples of EIP-1167 and ERC-7511.
            format!("363d3d373d3d3d363d73{target}5af43d82803e903d91602b57fd5bf3"),
            format!("365f5f375f5f365f73{target}5af43d5f5f3e5f3d91602a57fd5bf3"),
            format!("3d3d3d3d363d3d37363d73{target}5af43d3d93803e602a57fd5bf3"),
            format!("5f5f365f5f37365f73{target}5af43d5f5f3e6029573d5ffd5b3d5ff3"),
            format!("366000600037611000600036600073{target}5af4602c57600080fd5b6110006000f3"),
            // With arguments after it.
            format!("363d3d373d3d3d363d73{target}5af43d82803e903d91602b57fd5bf3deadbeef"),
        ] {
            assert_eq!(pointed(&code), Some(TARGET), "{code}");
        }
    }

    #[test]
    fn an_address_with_leading_zeros_may_be_pushed_short() {
        let code = "363d3d373d3d3d363d6fbebebebebebebebebebebebebebebebe5af43d82803e903d91602757fd5bf3";
        assert_eq!(pointed(code), Some(address!("00000000bebebebebebebebebebebebebebebebe")));
        assert_eq!(pointed(&code.replace("6027", "6028")), None, "it would jump elsewhere");
        assert_eq!(
            pointed("363d3d373d3d3d363d60ff5af43d82803e903d91601857fd5bf3"),
            Some(Address::with_last_byte(0xff))
        );
    }

    #[test]
    fn other_codes_point_nowhere() {
        let minimal = format!("363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3", "be".repeat(20));
        for length in 0..minimal.len() / 2 {
            assert_eq!(pointed(&minimal[..2 * length]), None, "{length} bytes");
        }
        assert_eq!(pointed(&format!("00{minimal}")), None);
        assert_eq!(pointed("363d3d373d3d3d363d5fff"), None);
        assert_eq!(pointed("363d3d373d3d3d363dff"), None);
    }

    #[test]
    fn a_delegation_comes_moves_and_goes() {
        let delegated = |byte: u8| [&DELEGATION[..], &[byte; 20]].concat();
        let row = |byte: u8| ("eip7702".to_owned(), Address::repeat_byte(byte));
        assert_eq!(code_rows(&[], &delegated(1)), [row(1)]);
        assert_eq!(code_rows(&delegated(1), &delegated(2)), [row(2)]);
        assert_eq!(code_rows(&delegated(2), &[]), [row(0)]);
        assert!(code_rows(&delegated(1), &delegated(1)).is_empty());
        assert!(code_rows(&[], &delegated(1)[..22]).is_empty(), "too short to be one");
        assert!(code_rows(&[1, 2], &[]).is_empty(), "it never pointed anywhere");
    }

    #[test]
    fn removed_code_that_is_unknown_ends_every_kind_of_proxy() {
        let change = CodeChange { address: TARGET, before: None, after: &[] };
        let rows: Vec<_> = proxies(7, [change], []).into_iter().map(|row| (row.kind, row.implementation)).collect();
        assert_eq!(rows, [("eip1167".to_owned(), Address::ZERO), ("eip7702".to_owned(), Address::ZERO)]);
        let change = CodeChange { after: &[1], ..change };
        assert!(proxies(7, [change], []).is_empty());
    }

    #[test]
    fn slots_point_and_are_cleared() {
        let change = |slot, value| StorageChange { address: TARGET, slot, value };
        let word = Address::repeat_byte(9).into_word();
        let changes = [
            change(IMPLEMENTATION_SLOT, word),
            change(BEACON_SLOT, word),
            change(PROXIABLE_SLOT, B256::ZERO),
            change(B256::ZERO, word),
        ];
        let rows: Vec<_> =
            proxies(7, [], changes).into_iter().map(|row| (row.block_number, row.kind, row.implementation)).collect();
        let nine = Address::repeat_byte(9);
        assert_eq!(
            rows,
            [(7, "eip1967".into(), nine), (7, "eip1967_beacon".into(), nine), (7, "eip1822".into(), Address::ZERO)]
        );
    }
}
