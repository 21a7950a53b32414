//! Functions, events and errors that the ABIs of packages on npm declare: `sql/signatures/package_*.txt`, a line each,
//! made by `cargo xtask signatures` from the packages that `packages.txt` lists. Others may have the same selector, so
//! that what packages say counts only where a single one of them fits the data.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{LazyLock, OnceLock};

use alloy_primitives::{B256, keccak256};
use trawl_core::primitives::abi::{AbiError, KnownEvent, KnownFunction};

static FUNCTIONS: LazyLock<Declarations<[u8; 4], KnownFunction>> =
    LazyLock::new(|| Declarations::new(include_bytes!(concat!(env!("OUT_DIR"), "/functions.zst")), selector));
static ERRORS: LazyLock<Declarations<[u8; 4], KnownFunction>> =
    LazyLock::new(|| Declarations::new(include_bytes!(concat!(env!("OUT_DIR"), "/errors.zst")), selector));
static EVENTS: LazyLock<Declarations<B256, KnownEvent>> =
    LazyLock::new(|| Declarations::new(include_bytes!(concat!(env!("OUT_DIR"), "/events.zst")), |hash| hash));

/// The functions with a selector.
pub(crate) fn functions(selector: [u8; 4]) -> &'static [KnownFunction] {
    FUNCTIONS.of(&selector, KnownFunction::parse)
}

/// Selector and name of every function.
pub(crate) fn function_names() -> impl Iterator<Item = ([u8; 4], &'static str)> {
    let of = |(key, declared): (&'static [u8; 4], &'static Declaration<KnownFunction>)| {
        declared.lines.iter().map(|line| (*key, line.split('(').next().unwrap_or_default()))
    };
    FUNCTIONS.by_hash.iter().flat_map(of)
}

/// The errors with a selector, `Error` and `Panic` of Solidity among them: their data is written as that of a call
/// (<https://docs.soliditylang.org/en/latest/abi-spec.html#errors>).
pub(crate) fn errors(selector: [u8; 4]) -> &'static [KnownFunction] {
    ERRORS.of(&selector, KnownFunction::parse)
}

/// The events with a hash, which differ in what is indexed.
pub(crate) fn events(hash: &B256) -> &'static [KnownEvent] {
    EVENTS.of(hash, KnownEvent::parse)
}

/// The only function with a selector, of which nothing else is known. Zeros are rather no selector at all.
pub(crate) fn function(selector: [u8; 4]) -> Option<&'static KnownFunction> {
    only(functions(selector).iter()).filter(|_| selector != [0; 4])
}

/// The only one; `None` of none and of several.
pub(crate) fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.next().is_none().then_some(first)
}

/// Lines by the hash of what they declare. A line is read when it is first looked up.
struct Declarations<K, V> {
    by_hash: HashMap<K, Declaration<V>>,
}

struct Declaration<V> {
    lines: Vec<&'static str>,
    read: OnceLock<Vec<V>>,
}

impl<K: Hash + Eq, V> Declarations<K, V> {
    fn new(packed: &'static [u8], key: fn(B256) -> K) -> Self {
        // A test reads them whole.
        let text = zstd::decode_all(packed).ok().and_then(|text| String::from_utf8(text).ok()).unwrap_or_default();
        let text: &'static str = Box::leak(text.into_boxed_str());
        let mut by_hash: HashMap<K, Declaration<V>> = HashMap::with_capacity(text.len() / 50);
        for line in text.lines() {
            let declared = || Declaration { lines: Vec::with_capacity(1), read: OnceLock::new() };
            by_hash.entry(key(keccak256(signature(line)))).or_insert_with(declared).lines.push(line);
        }
        Self { by_hash }
    }

    fn of(&'static self, key: &K, read: fn(&str) -> Result<V, AbiError>) -> &'static [V] {
        self.by_hash.get(key).map_or(&[], |declared| {
            declared.read.get_or_init(|| declared.lines.iter().filter_map(|line| read(line).ok()).collect())
        })
    }
}

fn selector(hash: B256) -> [u8; 4] {
    let [first, second, third, fourth, ..] = hash.0;
    [first, second, third, fourth]
}

/// What a line's hash is made of: its name and types. Only a comma between parameters has a space behind it.
fn signature(line: &str) -> String {
    let (name, inputs) = line.split_once('(').unwrap_or((line, ")"));
    let types = inputs[..inputs.len() - 1].split(", ").map(|input| input.split(' ').next().unwrap_or_default());
    format!("{name}({})", types.collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_found_by_its_hash() {
        let lines = |list: &Declarations<[u8; 4], KnownFunction>| {
            list.by_hash.iter().flat_map(|(key, declared)| declared.lines.iter().map(|line| (*key, *line))).collect()
        };
        let (functions, errors): (Vec<_>, Vec<_>) = (lines(&FUNCTIONS), lines(&ERRORS));
        assert!(functions.len() > 20_000 && errors.len() > 4_000, "{} {}", functions.len(), errors.len());
        for (key, line) in functions.into_iter().chain(errors) {
            let known = KnownFunction::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(known.function.selector().0, key, "{line}");
        }
        let mut events = 0;
        for (hash, declared) in &EVENTS.by_hash {
            for line in &declared.lines {
                let known = KnownEvent::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
                assert_eq!(known.event.selector(), *hash, "{line}");
                let indexed = known.event.inputs.iter().filter(|input| input.indexed).count();
                let flags = line.split([' ', ',', ')']).filter(|word| *word == "indexed").count();
                assert_eq!(indexed, flags, "{line}");
                events += 1;
            }
        }
        assert!(events > 4_000, "{events}");
    }

    #[test]
    fn one_alone_counts() {
        let name = |selector| function(selector).map(|known| known.function.name.as_str());
        assert_eq!(name([0x2e, 0x1a, 0x7d, 0x4d]), Some("withdraw"));
        assert_eq!(name([0xde, 0xad, 0xbe, 0xef]), None);
        assert_eq!((functions([0; 4]).len(), name([0; 4])), (1, None));
        assert_eq!((only([1].iter()), only([1, 2].iter()), only([1; 0].iter())), (Some(&1), None, None));
    }
}
