//! The root of a trie whose keys are the RLP-encoded positions of its values: transactions, receipts, withdrawals.
//!
//! Yellow paper, appendix D. All leaves are hashed together, which is where nearly all of the bytes are; branches and
//! extensions follow from below.

use alloy_primitives::{B256, keccak256};
use alloy_rlp::{Encodable, Header};

use trawl_keccak::keccak256_all;

/// Root of a trie without values.
pub const EMPTY_ROOT: B256 =
    alloy_primitives::b256!("56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");

/// The root over `values` by position.
#[must_use]
pub fn ordered_root<V: AsRef<[u8]>>(values: &[V]) -> B256 {
    if values.is_empty() {
        return EMPTY_ROOT;
    }
    let mut items: Vec<(Key, usize)> = (0..values.len()).map(|position| (Key::of(position), position)).collect();
    items.sort_unstable_by(|a, b| a.0.nibbles().cmp(b.0.nibbles()));
    let keys: Vec<Key> = items.iter().map(|(key, _)| *key).collect();
    let leaves = leaves(&items, values);
    match branch(&keys, &leaves, 0) {
        Node::Hash(hash) => hash,
        Node::Inline(node) => keccak256(node),
    }
}

/// The nibbles of an RLP-encoded position; no key is the beginning of another.
#[derive(Clone, Copy)]
struct Key {
    nibbles: [u8; 18],
    length: usize,
}

impl Key {
    fn of(position: usize) -> Self {
        let mut bytes = [0; 9];
        let mut rest = &mut bytes[..];
        position.encode(&mut rest);
        let used = 9 - rest.len();
        let mut nibbles = [0; 18];
        for (pair, byte) in nibbles.chunks_exact_mut(2).zip(bytes) {
            pair.copy_from_slice(&[byte >> 4, byte & 15]);
        }
        Self { nibbles, length: 2 * used }
    }

    fn nibbles(&self) -> &[u8] {
        &self.nibbles[..self.length]
    }

    fn common(&self, other: &Self) -> usize {
        self.nibbles().iter().zip(other.nibbles()).take_while(|(a, b)| a == b).count()
    }
}

/// How a parent refers to a node: by hash, or by the node itself where that is shorter.
#[derive(Clone)]
enum Node {
    Hash(B256),
    Inline(Vec<u8>),
}

impl Node {
    fn of(encoded: Vec<u8>) -> Self {
        if encoded.len() < 32 { Self::Inline(encoded) } else { Self::Hash(keccak256(encoded)) }
    }

    fn length(&self) -> usize {
        match self {
            Self::Hash(_) => 33,
            Self::Inline(node) => node.len(),
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hash(hash) => hash.encode(out),
            Self::Inline(node) => out.extend_from_slice(node),
        }
    }
}

/// One leaf per value in key order. A leaf's path begins after what it shares with its neighbours, and one nibble more.
fn leaves<V: AsRef<[u8]>>(items: &[(Key, usize)], values: &[V]) -> Vec<Node> {
    let shared = |at: usize, other: Option<usize>| other.map_or(0, |other| 1 + items[at].0.common(&items[other].0));
    // One piece of memory for all: they are read once, right after being written.
    let mut encoded = Vec::with_capacity(values.iter().map(|value| value.as_ref().len() + LEAF_OVERHEAD).sum());
    let mut ends = Vec::with_capacity(items.len());
    for (at, (key, position)) in items.iter().enumerate() {
        let next = Some(at + 1).filter(|next| *next < items.len());
        let depth = shared(at, at.checked_sub(1)).max(shared(at, next));
        let value = values[*position].as_ref();
        add_two_items(&mut encoded, &path(&key.nibbles()[depth..], 2), |out| value.encode(out), value.length());
        ends.push(encoded.len());
    }
    let leaves: Vec<&[u8]> = split(&encoded, &ends).collect();
    let node = |(leaf, hash): (&[u8], B256)| if leaf.len() < 32 { Node::Inline(leaf.into()) } else { Node::Hash(hash) };
    leaves.iter().copied().zip(keccak256_all(&leaves)).map(node).collect()
}

/// Bytes of a leaf beyond its value: two headers, and the path with one of its own.
const LEAF_OVERHEAD: usize = 20;

/// The pieces that stand one after another in `bytes`, by where they end.
pub(super) fn split<'a>(bytes: &'a [u8], ends: &'a [usize]) -> impl Iterator<Item = &'a [u8]> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| &bytes[start..*end])
}

/// The node over `keys`, which share their first `depth` nibbles, and their `leaves`.
fn branch(keys: &[Key], leaves: &[Node], depth: usize) -> Node {
    let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return Node::Inline(vec![0x80]) };
    if keys.len() == 1 {
        return leaves[0].clone();
    }
    let shared = first.common(last);
    if shared > depth {
        let below = branch(keys, leaves, shared);
        let extension = path(&first.nibbles()[depth..shared], 0);
        return Node::of(two_items(&extension, |out| below.encode(out), below.length()));
    }
    let mut children: [Option<Node>; 16] = Default::default();
    let mut from = 0;
    while from < keys.len() {
        let nibble = keys[from].nibbles()[depth];
        let many = keys[from..].iter().take_while(|key| key.nibbles()[depth] == nibble).count();
        children[usize::from(nibble)] = Some(branch(&keys[from..from + many], &leaves[from..from + many], depth + 1));
        from += many;
    }
    // The seventeenth item is a branch's own value, which no key ends at.
    let payload = 1 + children.iter().map(|child| child.as_ref().map_or(1, Node::length)).sum::<usize>();
    let mut out = Vec::with_capacity(payload + 3);
    Header { list: true, payload_length: payload }.encode(&mut out);
    for child in &children {
        match child {
            Some(node) => node.encode(&mut out),
            None => out.push(0x80),
        }
    }
    out.push(0x80);
    Node::of(out)
}

/// The list of a path and one more item that `write` adds, `length` bytes long.
fn two_items(path: &[u8], write: impl FnOnce(&mut Vec<u8>), length: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(path.len() + length + LEAF_OVERHEAD);
    add_two_items(&mut out, path, write, length);
    out
}

fn add_two_items(out: &mut Vec<u8>, path: &[u8], write: impl FnOnce(&mut Vec<u8>), length: usize) {
    Header { list: true, payload_length: path.length() + length }.encode(out);
    path.encode(out);
    write(out);
}

/// Hex-prefix encoding; `kind` is 2 for leaves and 0 for extensions.
fn path(nibbles: &[u8], kind: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(1 + nibbles.len() / 2);
    let (odd, even) = if nibbles.len() % 2 == 1 { nibbles.split_at(1) } else { nibbles.split_at(0) };
    out.push(odd.first().map_or(kind << 4, |nibble| (kind + 1) << 4 | nibble));
    out.extend(even.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]));
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn library(values: &[Vec<u8>]) -> B256 {
        alloy_trie::root::ordered_trie_root_with_encoder(values, |value, out: &mut Vec<u8>| {
            out.extend_from_slice(value);
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn equals_the_library(values in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..80), 0..300)) {
            prop_assert_eq!(ordered_root(&values), library(&values));
        }
    }

    #[test]
    fn every_size_up_to_seventy_thousand_takes_the_right_shape() {
        for size in (0..600).chain([65_535, 65_536, 65_537, 70_000]) {
            let values: Vec<Vec<u8>> = (0..size).map(|value: u32| value.to_be_bytes()[..].to_vec()).collect();
            assert_eq!(ordered_root(&values), library(&values), "{size}");
        }
    }
}
