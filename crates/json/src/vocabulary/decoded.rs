//! Decoded logs: the event of a log, and the values of its parameters
//! (docs/reference/http-contract.md#decoded-logs).
//!
//! Events come from the ABI of the contract, from dictionaries, from `signatures/events.txt` with those of well-known
//! standards, and at last from the ABIs of packages (`packages`). An event is chosen by its whole hash and its number
//! of indexed parameters, so that `Transfer` of ERC-721 is not read as that of ERC-20. Where none has that number,
//! the hash names the parameters, and topics and data tell which of them are indexed (`well_known`). A log that fits
//! no event is not decoded; hostile data is never an error.

use alloy_dyn_abi::{DynSolType, DynSolValue};

use super::packages;
use crate::{Array, JsonWriter};
use trawl_core::primitives::B256;
use trawl_core::primitives::abi::KnownEvent;

mod columns;
mod cost;
mod inputs;
mod well_known;

pub use columns::EventColumns;
pub(crate) use inputs::function_of;
pub use inputs::{decoded_input, decoded_output};
pub use well_known::well_known_events;

/// Writes the decoded log, or `null`. The first of `candidates` that fits is used, else a well-known event.
pub fn write_decoded<'e>(
    writer: &mut JsonWriter,
    topics: &[B256],
    data: &[u8],
    candidates: impl IntoIterator<Item = &'e KnownEvent>,
) {
    let read = topics.first().and_then(|first| {
        let well_known = well_known::of(first, topics.len());
        // Any log could fit an event without a hash.
        let all: Vec<&KnownEvent> =
            candidates.into_iter().chain(well_known).filter(|known| !known.event.anonymous).collect();
        let exact = all.iter().find_map(|known| DecodedEvent::new(known, topics, data));
        let otherwise =
            || all.iter().copied().chain(well_known::by_hash(first)).filter(|known| known.event.selector() == *first);
        exact
            .or_else(|| of_packages(first, topics, data))
            .or_else(|| otherwise().find_map(|known| DecodedEvent::of_any_indexing(known, topics, data)))
    });
    writer.option(read, |writer, reading| reading.write(writer));
}

/// The log as an event that packages declare: the only one that indexes so many parameters and fits; of an event that
/// all of them index otherwise, the only one there is.
fn of_packages(hash: &B256, topics: &[B256], data: &[u8]) -> Option<DecodedEvent<'static>> {
    let known = packages::events(hash);
    if known.iter().any(|known| known.event.num_topics() == topics.len()) {
        return packages::only(known.iter().filter_map(|known| DecodedEvent::new(known, topics, data)));
    }
    DecodedEvent::of_any_indexing(packages::only(known.iter())?, topics, data)
}

/// Which parameters of an event are indexed.
struct IndexedFlags {
    /// Whether each is.
    flags: Vec<bool>,
    /// Whether the event says so; otherwise it is a guess.
    is_certain: bool,
}

/// A log read as an event.
struct DecodedEvent<'e> {
    known: &'e KnownEvent,
    /// Whether each parameter is indexed.
    indexed: Vec<bool>,
    values: Vec<DynSolValue>,
}

impl<'e> DecodedEvent<'e> {
    /// `None` if topics and data do not fit the event.
    fn new(known: &'e KnownEvent, topics: &[B256], data: &[u8]) -> Option<Self> {
        let others = match topics {
            all if known.event.anonymous => all,
            [first, others @ ..] if known.event.selector() == *first => others,
            _ => return None,
        };
        let flags = known.indexed(others.len())?;
        Self::with_indexed(known, IndexedFlags { flags, is_certain: known.has_indexed_flags }, others, data)
    }

    /// The log as an event of whose parameters others are indexed than it says: the first choice that fits topics and
    /// data to the last bit.
    fn of_any_indexing(known: &'e KnownEvent, topics: &[B256], data: &[u8]) -> Option<Self> {
        let (_, others) = topics.split_first()?;
        let mut choices = well_known::choices(known.types.len(), others.len());
        choices.find_map(|flags| Self::with_indexed(known, IndexedFlags { flags, is_certain: false }, others, data))
    }

    /// With guessed indexed parameters, nothing may be left over: neither data nor bits of a topic.
    fn with_indexed(known: &'e KnownEvent, indexed: IndexedFlags, others: &[B256], data: &[u8]) -> Option<Self> {
        let body = body(known, &indexed, data)?;
        let (mut body, mut others) = (body.into_iter(), others.iter());
        let read = |(ty, is_indexed): (&DynSolType, &bool)| {
            if !is_indexed {
                return body.next();
            }
            let topic = others.next()?;
            // The topic of a value that does not fit a word is its hash.
            let value =
                if is_word(ty) { ty.abi_decode(topic.as_slice()).ok()? } else { DynSolValue::FixedBytes(*topic, 32) };
            (indexed.is_certain || value.abi_encode() == topic.as_slice()).then_some(value)
        };
        let values = known.types.iter().zip(&indexed.flags).map(read).collect::<Option<_>>()?;
        Some(Self { known, indexed: indexed.flags, values })
    }

    /// The parameters for display: name, type, whether it is indexed, value.
    fn parameters(&self) -> impl Iterator<Item = (String, String, bool, &DynSolType, &DynSolValue)> {
        let inputs = self.known.event.inputs.iter().zip(&self.known.types).enumerate();
        inputs.zip(self.indexed.iter().zip(&self.values)).map(|((position, (input, ty)), (is_indexed, value))| {
            let name = if input.name.is_empty() { format!("arg{position}") } else { input.name.clone() };
            (name, input.selector_type().into_owned(), *is_indexed, ty, value)
        })
    }

    fn write(&self, writer: &mut JsonWriter) {
        let inputs: Vec<String> = self
            .parameters()
            .map(|(name, ty, is_indexed, ..)| format!("{ty}{} {name}", if is_indexed { " indexed" } else { "" }))
            .collect();
        writer.object(|decoded| {
            decoded.key("method_call").string(&format!("{}({})", self.known.event.name, inputs.join(", ")));
            decoded.key("method_id").hex(&self.known.event.selector()[..4]);
            decoded.key("parameters").array(|parameters| {
                for (name, type_name, is_indexed, ty, value) in self.parameters() {
                    parameters.item().object(|parameter| {
                        parameter.key("name").string(&name);
                        parameter.key("type").string(&type_name);
                        // Clients use two names for it (docs/reference/http-contract.md#family).
                        parameter.key("indexed?").bool(is_indexed);
                        parameter.key("indexed").bool(is_indexed);
                        write_value(parameter.key("value"), ty, value);
                    });
                }
            });
        });
    }
}

/// The values that are not indexed; `None` if the data does not fit.
fn body(known: &KnownEvent, indexed: &IndexedFlags, data: &[u8]) -> Option<Vec<DynSolValue>> {
    let types = known.types.iter().zip(&indexed.flags).filter(|(_, is_indexed)| !**is_indexed);
    let types: Vec<DynSolType> = types.map(|(ty, _)| without_text(ty)).collect();
    if types.is_empty() {
        return data.is_empty().then(Vec::new);
    }
    if !cost::is_honest(&types, data) {
        return None;
    }
    let values = DynSolType::Tuple(types).abi_decode_params(data).ok()?;
    if !indexed.is_certain && values.abi_encode_params() != data {
        return None;
    }
    match values {
        DynSolValue::Tuple(values) => Some(values),
        _ => None,
    }
}

fn is_word(ty: &DynSolType) -> bool {
    matches!(
        ty,
        DynSolType::Address
            | DynSolType::Bool
            | DynSolType::Int(_)
            | DynSolType::Uint(_)
            | DynSolType::FixedBytes(_)
            | DynSolType::Function
    )
}

/// Text is decoded as bytes: invalid UTF-8 must be shown unchanged.
fn without_text(ty: &DynSolType) -> DynSolType {
    match ty {
        DynSolType::String => DynSolType::Bytes,
        DynSolType::Array(inner) => DynSolType::Array(Box::new(without_text(inner))),
        DynSolType::FixedArray(inner, length) => DynSolType::FixedArray(Box::new(without_text(inner)), *length),
        DynSolType::Tuple(inner) => DynSolType::Tuple(inner.iter().map(without_text).collect()),
        other => other.clone(),
    }
}

/// Numbers as decimal text, bytes in hexadecimal, lists and tuples as arrays
/// (docs/reference/http-contract.md#decoded-logs).
fn write_value(writer: &mut JsonWriter, ty: &DynSolType, value: &DynSolValue) {
    match (value, ty) {
        (DynSolValue::Address(address), _) => writer.string(&address.to_checksum(None)),
        (DynSolValue::Bool(is_true), _) => writer.string(if *is_true { "true" } else { "false" }),
        (DynSolValue::Uint(number, _), _) => writer.decimal_256(*number),
        (DynSolValue::Int(number, _), _) => writer.string(&number.to_string()),
        (DynSolValue::FixedBytes(word, length), _) => writer.hex(&word[..*length]),
        (DynSolValue::Function(function), _) => writer.hex(function.as_slice()),
        (DynSolValue::Bytes(bytes), DynSolType::String) => match std::str::from_utf8(bytes) {
            Ok(text) => writer.string(text),
            Err(_) => writer.hex(bytes),
        },
        (DynSolValue::Bytes(bytes), _) => writer.hex(bytes),
        (DynSolValue::Array(values) | DynSolValue::FixedArray(values), ty) => {
            let inner = match ty {
                DynSolType::Array(inner) | DynSolType::FixedArray(inner, _) => inner,
                other => other,
            };
            writer.array(|array| values.iter().for_each(|value| write_value(array.item(), inner, value)));
        }
        (DynSolValue::Tuple(values), DynSolType::Tuple(types)) => {
            let write = |array: &mut Array<'_>| {
                types.iter().zip(values).for_each(|(ty, value)| write_value(array.item(), ty, value));
            };
            writer.array(write);
        }
        _ => writer.null(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{address, b256, keccak256};
    use proptest::prelude::*;
    use serde_json::{Value, json};

    fn decoded(topics: &[B256], data: &[u8]) -> Value {
        let mut writer = JsonWriter::new();
        write_decoded(&mut writer, topics, data, []);
        serde_json::from_slice(&writer.into_bytes()).expect("valid JSON")
    }

    fn transfer() -> B256 {
        keccak256("Transfer(address,address,uint256)")
    }

    fn word(number: u8) -> B256 {
        B256::with_last_byte(number)
    }

    #[test]
    fn standards_are_distinguished_by_indexed_parameters() {
        let from = address!("0xd8da6bf26964af9d7eed9e03e53415d37aa96045").into_word();
        let erc20 = decoded(&[transfer(), from, word(2)], word(7).as_slice());
        assert_eq!(erc20["method_call"], "Transfer(address indexed from, address indexed to, uint256 value)");
        assert_eq!(erc20["method_id"], "0xddf252ad");
        let first = json!({"name": "from", "type": "address", "indexed?": true, "indexed": true,
                           "value": "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045"});
        assert_eq!(erc20["parameters"][0], first);
        assert_eq!(erc20["parameters"][2]["value"], "7");
        let erc721 = decoded(&[transfer(), from, word(2), word(7)], &[]);
        assert_eq!(erc721["parameters"][2]["name"], "tokenId");
        assert!(decoded(&[transfer(), from, word(2), word(7)], word(7).as_slice()).is_null());
        assert!(decoded(&[transfer(), from, word(2)], &[]).is_null());
        assert!(decoded(&[], &[]).is_null());
    }

    /// Events of contracts that index other parameters than their standard.
    #[test]
    fn the_same_event_is_read_however_it_is_indexed() {
        let alice = address!("0xd8da6bf26964af9d7eed9e03e53415d37aa96045").into_word();
        let bob = word(2);
        let call_and_third = |topics: &[B256], words: &[B256]| {
            let data: Vec<u8> = words.iter().flat_map(|word| word.0).collect();
            let answer = decoded(topics, &data);
            (answer["method_call"].clone(), answer["parameters"][2]["value"].clone())
        };
        let transfer = transfer();
        // The third is an amount or a token: both standards name it otherwise, so it has no name.
        let plain = call_and_third(&[transfer], &[alice, bob, word(7)]);
        assert_eq!(plain, (json!("Transfer(address from, address to, uint256 arg2)"), json!("7")));
        let one = call_and_third(&[transfer, alice], &[bob, word(7)]);
        assert_eq!(one, (json!("Transfer(address indexed from, address to, uint256 arg2)"), json!("7")));
        // 2^255 is no address: it can only be the third.
        let large = B256::from(alloy_primitives::U256::ONE << 255);
        let last = call_and_third(&[transfer, large], &[alice, bob]);
        assert_eq!(last.0, json!("Transfer(address from, address to, uint256 indexed arg2)"));
        assert!(
            call_and_third(&[transfer], &[alice, bob]).0.is_null()
                && call_and_third(&[transfer], &[alice, large, bob]).0.is_null()
        );
        let approval = keccak256("Approval(address,address,uint256)");
        assert_eq!(
            call_and_third(&[approval], &[alice, bob, word(7)]).0,
            json!("Approval(address owner, address arg1, uint256 arg2)")
        );
        let single = keccak256("TransferSingle(address,address,address,uint256,uint256)");
        let named = "TransferSingle(address indexed operator, address from, address to, uint256 id, uint256 value)";
        assert_eq!(
            call_and_third(&[single, alice], &[alice, bob, word(7), word(8)]),
            (json!(named), json!("0x0000000000000000000000000000000000000002"))
        );
    }

    #[test]
    fn lists_and_text_are_written_as_they_are() {
        let batch = keccak256("TransferBatch(address,address,address,uint256[],uint256[])");
        let data: Vec<u8> = [0x40, 0xa0, 2, 5, 6, 2, 70, 80].into_iter().flat_map(|number| word(number).0).collect();
        let list = decoded(&[batch, word(1), word(2), word(3)], &data);
        assert_eq!(list["parameters"][3]["value"], json!(["5", "6"]));
        assert_eq!(list["parameters"][4]["value"], json!(["70", "80"]));
        let uri = b256!("0x6bb7ff708619ba0610cba295a58592e0451dee2622938c8755667688daf3529b");
        let text = |bytes: &[u8; 2]| {
            let mut data: Vec<u8> = [0x20, 2].into_iter().flat_map(|number| word(number).0).collect();
            data.extend(bytes.iter().copied().chain(std::iter::repeat_n(0, 30)));
            decoded(&[uri, word(1)], &data)["parameters"][0]["value"].clone()
        };
        assert_eq!(text(b"ok"), "ok");
        assert_eq!(text(&[0xff, 0xfe]), "0xfffe");
    }

    #[test]
    fn candidates_come_before_well_known_events_and_only_if_they_fit() {
        let event = |text: &str| KnownEvent::parse(text).expect("an event");
        let from = address!("0xd8da6bf26964af9d7eed9e03e53415d37aa96045").into_word();
        let decode = |text: &str, topics: &[B256], data: &[u8]| {
            let mut writer = JsonWriter::new();
            write_decoded(&mut writer, topics, data, [&event("Other(uint256 a)"), &event(text)]);
            serde_json::from_slice::<Value>(&writer.into_bytes()).expect("valid JSON")["method_call"].clone()
        };
        let topics = [transfer(), from, word(2)];
        let named = "Transfer(address indexed sender, address indexed recipient, uint256 amount)";
        assert_eq!(decode(named, &topics, word(7).as_slice()), named);
        let bare = "Transfer(address,address,uint256)";
        let guessed = "Transfer(address indexed arg0, address indexed arg1, uint256 arg2)";
        assert_eq!(decode(bare, &topics, word(7).as_slice()), guessed);
        // A topic that is no address, and data with trailing bytes: the guess is dropped for the well-known event.
        let odd = [transfer(), B256::repeat_byte(9), word(2)];
        assert_ne!(decode(bare, &odd, word(7).as_slice()), guessed);
        assert_ne!(decode(bare, &topics, &[word(7).0, word(7).0].concat()), guessed);
        let nft = "Transfer(address indexed from, address indexed to, uint256 indexed tokenId)";
        assert_ne!(decode(nft, &topics, word(7).as_slice()), nft);
    }

    proptest! {
        #[test]
        fn any_data_is_decoded_or_null(pick in 0usize..200, data in prop::collection::vec(any::<u8>(), 0..400), topics in prop::collection::vec(any::<[u8; 32]>(), 0..4)) {
            let (first, count) = well_known::key(pick);
            let topics: Vec<B256> = [first].into_iter().chain(topics.into_iter().map(B256::from)).take(count).collect();
            let answer = decoded(&topics, &data);
            prop_assert!(answer.is_null() || answer["parameters"].is_array());
        }
    }
}
