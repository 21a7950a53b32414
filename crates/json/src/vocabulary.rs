//! Events, functions and errors of the contracts on a page, from ABIs and dictionaries.

pub mod decoded;
mod packages;
pub mod signatures;

use std::collections::HashMap;
use std::sync::Arc;

use alloy_primitives::Selector;

use decoded::{decoded_input, decoded_output, function_of};
use signatures::{well_known, well_known_function, well_known_results};
use trawl_core::primitives::abi::{KnownEvent, KnownFunction};
use trawl_core::primitives::{Address, B256, BlockNumber};
use trawl_core::schema::ProxyRow;

/// An entry of an ABI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// An event, with the types of its parameters.
    Event(Box<KnownEvent>),
    /// The name of a function, and the function if its types can be used.
    Function(String, Option<Box<KnownFunction>>),
    /// An error, whose data is written as that of a function.
    Error(Box<KnownFunction>),
}

/// Events and functions by hash and selector. For others, only the signatures of well-known standards are used.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    /// Entries of the ABIs of contracts, by contract and selector.
    pub entries: HashMap<(Address, Selector), Arc<[Entry]>>,
    /// Events of any contract, by hash, the most trusted first.
    pub events: HashMap<B256, Arc<[KnownEvent]>>,
    /// Functions and errors of any contract, by selector, as lines of text.
    pub functions: HashMap<Selector, Arc<[String]>>,
    /// Implementations of proxies, the oldest record first.
    pub pointers: HashMap<Address, Vec<ProxyRow>>,
    /// Implementations of beacons, the oldest record first.
    pub beacons: HashMap<Address, Vec<ProxyRow>>,
}

impl Vocabulary {
    /// The candidate events of a log, the most certain first: of the contract, of its implementations at that block, of
    /// dictionaries.
    pub fn events(&self, emitter: &Address, block: BlockNumber, topics: &[B256]) -> Vec<&KnownEvent> {
        let Some(hash) = topics.first() else { return Vec::new() };
        let own = self.entries_of(emitter, block, &selector(hash)).filter_map(|entry| match entry {
            Entry::Event(event) => Some(&**event),
            Entry::Function(..) | Entry::Error(_) => None,
        });
        own.chain(self.events.get(hash).into_iter().flat_map(|events| events.iter())).collect()
    }

    /// The method of a transaction to `contract` with this input: its name if known, else the selector in hexadecimal;
    /// `None` for an input of fewer than four bytes. An ambiguous name does not count. A creation has no method name,
    /// since its input is code.
    #[must_use]
    pub fn method(&self, contract: Option<&Address>, block: BlockNumber, input: &[u8]) -> Option<String> {
        let selector = Selector::from_slice(input.get(..4)?);
        let Some(contract) = contract else { return Some(const_hex::encode_prefixed(selector)) };
        let mut own = self.entries_of(contract, block, &selector);
        let name = own.find_map(|entry| match entry {
            Entry::Function(name, _) => Some(name.as_str()),
            Entry::Event(_) | Entry::Error(_) => None,
        });
        let of_dictionary = || {
            let mut names = self.functions.get(&selector)?.iter().filter_map(|text| text.split('(').next());
            let name = names.next()?;
            names.all(|other| other == name).then_some(name)
        };
        let of_packages = || function_of(input).map(|known| known.function.name.as_str());
        let name = name.or_else(of_dictionary).or_else(|| well_known(selector.0)).or_else(of_packages);
        Some(name.map_or_else(|| const_hex::encode_prefixed(selector), Into::into))
    }

    /// The call that this input of a transaction to `contract` is, as a JSON object: by the ABI of the contract or of
    /// its implementations at that block, else by a well-known function, else by the only one of packages that fits;
    /// `None` if it fits none.
    #[must_use]
    pub fn decoded_input(&self, contract: &Address, block: BlockNumber, input: &[u8]) -> Option<Vec<u8>> {
        let selector = Selector::from_slice(input.get(..4)?);
        let mut own = self.entries_of(contract, block, &selector).filter_map(|entry| match entry {
            Entry::Function(_, known) => known.as_deref(),
            Entry::Event(_) | Entry::Error(_) => None,
        });
        let of_abi = own.find_map(|known| decoded_input(known, input));
        of_abi.or_else(|| decoded_input(well_known_function(selector.0).or_else(|| function_of(input))?, input))
    }

    /// What a call of `contract` with this input returned, as a JSON array of name, type and value: by the ABI of the
    /// contract or of its implementations at that block, else as well-known functions return; `None` if nothing fits.
    #[must_use]
    pub fn decoded_output(
        &self,
        contract: &Address,
        block: BlockNumber,
        input: &[u8],
        output: &[u8],
    ) -> Option<Vec<u8>> {
        let selector = Selector::from_slice(input.get(..4)?);
        let mut own = self.entries_of(contract, block, &selector).filter_map(|entry| match entry {
            Entry::Function(_, Some(known)) if !known.function.outputs.is_empty() => Some(&known.function.outputs),
            Entry::Function(..) | Entry::Event(_) | Entry::Error(_) => None,
        });
        let of_abi = own.find_map(|results| decoded_output(results, output));
        of_abi.or_else(|| decoded_output(&well_known_results(selector.0)?.function.inputs, output))
    }

    /// What code of one of `contracts` reverted with, as a JSON object: by their ABIs, the first that fits, or those of
    /// their implementations at that block; else by the only error that packages declare and that fits, or one that was
    /// loaded; `None` if it fits none.
    #[must_use]
    pub fn decoded_error(&self, contracts: &[Address], block: BlockNumber, output: &[u8]) -> Option<Vec<u8>> {
        let selector = Selector::from_slice(output.get(..4)?);
        let entries = contracts.iter().flat_map(|contract| self.entries_of(contract, block, &selector));
        let mut of_abi = entries.filter_map(|entry| match entry {
            Entry::Error(known) => decoded_input(known, output),
            Entry::Event(_) | Entry::Function(..) => None,
        });
        let of_packages =
            || packages::only(packages::errors(selector.0).iter().filter_map(|known| decoded_input(known, output)));
        of_abi.next().or_else(of_packages).or_else(|| {
            let mut loaded = self.functions.get(&selector)?.iter();
            loaded.find_map(|text| decoded_input(&KnownFunction::parse(text).ok()?, output))
        })
    }

    fn entries_of(
        &self,
        contract: &Address,
        block: BlockNumber,
        selector: &Selector,
    ) -> impl Iterator<Item = &Entry> + use<'_> {
        let contracts = [*contract].into_iter().chain(self.implementations(contract, block));
        let keys: Vec<_> = contracts.map(|contract| (contract, *selector)).collect();
        keys.into_iter().filter_map(|key| self.entries.get(&key)).flat_map(|entries| entries.iter())
    }

    /// The implementations of a contract in a block.
    fn implementations(&self, contract: &Address, block: BlockNumber) -> Vec<Address> {
        let mut implementations = Vec::new();
        for row in running(self.pointers.get(contract), block) {
            if row.kind == "eip1967_beacon" {
                let of_beacon = running(self.beacons.get(&row.implementation), block);
                implementations.extend(of_beacon.into_iter().map(|row| row.implementation));
            } else {
                implementations.push(row.implementation);
            }
        }
        implementations
    }
}

/// The records that apply in a block, the newest first. In the block of a change, the old and the new record apply.
/// Before the first record, the current ones apply.
fn running(rows: Option<&Vec<ProxyRow>>, block: BlockNumber) -> Vec<&ProxyRow> {
    let rows = rows.map_or(&[][..], Vec::as_slice);
    let until = rows.partition_point(|row| row.block_number <= block);
    let (rows, is_later) = if until == 0 { (rows, true) } else { (&rows[..until], false) };
    let mut kinds: Vec<&str> = Vec::new();
    let mut running = Vec::new();
    for row in rows.iter().rev() {
        if kinds.contains(&row.kind.as_str()) {
            continue;
        }
        if is_later || row.block_number < block {
            kinds.push(&row.kind);
        }
        if !row.implementation.is_zero() {
            running.push(row);
        }
    }
    running
}

/// The first four bytes of a hash.
#[must_use]
pub fn selector(hash: &B256) -> Selector {
    Selector::from_slice(&hash[..4])
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROXY: Address = Address::repeat_byte(1);

    fn row(block_number: u64, kind: &str, implementation: u8) -> ProxyRow {
        ProxyRow {
            address: PROXY,
            block_number,
            kind: kind.into(),
            implementation: Address::repeat_byte(implementation),
        }
    }

    fn vocabulary() -> Vocabulary {
        let rows = vec![row(5, "eip1967", 10), row(9, "eip1967", 11), row(12, "eip1967", 0), row(20, "eip7702", 13)];
        let mut vocabulary = Vocabulary { pointers: [(PROXY, rows)].into(), ..Vocabulary::default() };
        for (contract, name) in [(10, "first"), (11, "second"), (13, "third")] {
            let function = [Entry::Function(name.into(), None)];
            vocabulary.entries.insert((Address::repeat_byte(contract), Selector::from([1, 2, 3, 4])), function.into());
        }
        vocabulary
    }

    #[test]
    fn a_proxy_has_the_methods_of_its_implementation_at_the_block() {
        let vocabulary = vocabulary();
        let method = |block| vocabulary.method(Some(&PROXY), block, &[1, 2, 3, 4]).unwrap_or_default();
        let methods = [4, 5, 8, 10, 12, 13, 25].map(method);
        // Before the first record: the current implementation. In the block of a change: either. After removal: none.
        assert_eq!(methods, ["third", "first", "first", "second", "second", "0x01020304", "third"].map(String::from));
    }

    #[test]
    fn a_beacon_proxy_has_the_implementation_of_the_beacon() {
        let mut vocabulary = vocabulary();
        vocabulary.pointers.insert(PROXY, vec![row(5, "eip1967_beacon", 20)]);
        let method =
            |vocabulary: &Vocabulary, block| vocabulary.method(Some(&PROXY), block, &[1, 2, 3, 4]).unwrap_or_default();
        assert_eq!(method(&vocabulary, 6), "0x01020304");
        vocabulary.beacons.insert(Address::repeat_byte(20), vec![row(3, "beacon", 10), row(8, "beacon", 11)]);
        assert_eq!([5, 7, 9].map(|block| method(&vocabulary, block)), ["first", "first", "second"]);
    }

    #[test]
    fn a_name_is_certain_or_none() {
        let mut vocabulary = vocabulary();
        assert_eq!(vocabulary.method(Some(&PROXY), 6, &[1, 2, 3]), None);
        let method = |vocabulary: &Vocabulary, input: &[u8]| {
            vocabulary.method(Some(&Address::ZERO), 6, input).unwrap_or_default()
        };
        assert_eq!(method(&vocabulary, &[0xa9, 0x05, 0x9c, 0xbb, 1]), "transfer");
        assert_eq!(vocabulary.method(None, 6, &[0xa9, 0x05, 0x9c, 0xbb]).as_deref(), Some("0xa9059cbb"));
        assert_eq!(method(&vocabulary, &[9, 9, 9, 9]), "0x09090909");
        vocabulary
            .functions
            .insert(Selector::from([9, 9, 9, 9]), ["one(uint256)".into(), "one(uint256 a)".into()].into());
        assert_eq!(method(&vocabulary, &[9, 9, 9, 9]), "one");
        vocabulary.functions.insert(Selector::from([9, 9, 9, 9]), ["one(uint256)".into(), "two()".into()].into());
        assert_eq!(method(&vocabulary, &[9, 9, 9, 9]), "0x09090909");
    }

    #[test]
    fn an_error_is_read_by_an_abi_before_what_is_well_known() {
        let mut vocabulary = vocabulary();
        let decoded = |vocabulary: &Vocabulary, contracts: &[u8], output: &[u8]| {
            let contracts: Vec<Address> = contracts.iter().copied().map(Address::repeat_byte).collect();
            let json = vocabulary.decoded_error(&contracts, 6, output)?;
            let read: serde_json::Value = serde_json::from_slice(&json).expect("valid JSON");
            Some((read["method_call"].as_str()?.to_owned(), read["parameters"][0]["value"].as_str()?.to_owned()))
        };
        let is = |call: &str, value: &str| Some((call.to_owned(), value.to_owned()));
        // From the specification's test files (eth_call/call-revert-abi-*.io): the text is not padded to a whole word.
        let text = const_hex::decode(concat!(
            "08c379a0",
            "0000000000000000000000000000000000000000000000000000000000000020",
            "000000000000000000000000000000000000000000000000000000000000000a",
            "75736572206572726f72"
        ));
        assert_eq!(decoded(&vocabulary, &[], &text.expect("hex")), is("Error(string reason)", "user error"));
        let output = |selector: [u8; 4], number: u8| {
            let word = alloy_primitives::U256::from(number).to_be_bytes::<32>();
            [&selector[..], &word].concat()
        };
        assert_eq!(
            decoded(&vocabulary, &[1], &output([0x4e, 0x48, 0x7b, 0x71], 0x11)),
            is("Panic(uint256 code)", "17")
        );
        // An error of the implementation of a proxy, whichever of the contracts on the way it is.
        let own = KnownFunction::parse("TooDeep(uint256 level)").expect("an error");
        let selector = own.function.selector();
        assert_eq!(decoded(&vocabulary, &[9, 1], &output(selector.0, 7)), None);
        vocabulary.functions.insert(selector, ["other(address)".into(), "TooDeep(uint256)".into()].into());
        assert_eq!(decoded(&vocabulary, &[9, 1], &output(selector.0, 7)), is("TooDeep(uint256 arg0)", "7"));
        vocabulary.entries.insert((Address::repeat_byte(10), selector), [Entry::Error(Box::new(own))].into());
        assert_eq!(decoded(&vocabulary, &[9, 1], &output(selector.0, 7)), is("TooDeep(uint256 level)", "7"));
        assert_eq!(decoded(&vocabulary, &[1], &output(selector.0, 7)[..20]), None);
    }
}
