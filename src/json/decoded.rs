//! Logs in words: which event a log is, and the values of its parameters (specification 2.5, behaviour reference 3.3).
//!
//! Events come from `signatures/events.txt`: those of well-known standards. One is chosen by its whole hash and by how
//! many of its parameters are indexed, so that the `Transfer` of ERC-721 is not read as that of ERC-20. What does not
//! fit is no event; hostile data never is an error.

use std::collections::HashMap;
use std::sync::LazyLock;

use alloy_dyn_abi::{DynSolType, DynSolValue, Specifier};
use alloy_json_abi::Event;

use super::{Array, JsonWriter};
use crate::primitives::B256;

/// An event with the types of its parameters.
struct Known {
    event: Event,
    types: Vec<DynSolType>,
}

static EVENTS: LazyLock<HashMap<(B256, usize), Known>> = LazyLock::new(|| {
    include_str!("signatures/events.txt")
        .lines()
        .filter_map(|line| {
            let event = Event::parse(&format!("event {line}")).ok()?;
            let types = event.inputs.iter().map(|input| input.resolve().ok()).collect::<Option<_>>()?;
            Some(((event.selector(), event.num_topics()), Known { event, types }))
        })
        .collect()
});

/// Writes what a log says in words, or `null`.
pub fn write_decoded(writer: &mut JsonWriter, topics: &[B256], data: &[u8]) {
    let known = topics.first().and_then(|first| EVENTS.get(&(*first, topics.len())));
    let read = known.and_then(|known| Some((known, values(known, topics, data)?)));
    writer.option(read, |writer, (known, values)| {
        writer.object(|decoded| {
            decoded.key("method_call").string(&signature(&known.event));
            decoded.key("method_id").hex(&known.event.selector()[..4]);
            decoded.key("parameters").array(|parameters| {
                for ((input, ty), value) in known.event.inputs.iter().zip(&known.types).zip(&values) {
                    parameters.item().object(|parameter| {
                        parameter.key("name").string(&input.name);
                        parameter.key("type").string(&input.selector_type());
                        // The specification and the clients of this API family name it differently.
                        parameter.key("indexed?").bool(input.indexed);
                        parameter.key("indexed").bool(input.indexed);
                        write_value(parameter.key("value"), ty, value);
                    });
                }
            });
        });
    });
}

/// The event with its parameters, as clients show it.
fn signature(event: &Event) -> String {
    let inputs: Vec<String> = event
        .inputs
        .iter()
        .map(|input| format!("{}{} {}", input.selector_type(), if input.indexed { " indexed" } else { "" }, input.name))
        .collect();
    format!("{}({})", event.name, inputs.join(", "))
}

/// The value of every parameter, in order of declaration; `None` if topics and data do not fit the event.
fn values(known: &Known, topics: &[B256], data: &[u8]) -> Option<Vec<DynSolValue>> {
    let inputs = || known.event.inputs.iter().zip(&known.types);
    let body: Vec<DynSolType> = inputs().filter(|(input, _)| !input.indexed).map(|(_, ty)| without_text(ty)).collect();
    let body = if body.is_empty() {
        if !data.is_empty() {
            return None;
        }
        Vec::new()
    } else {
        match DynSolType::Tuple(body).abi_decode_params(data).ok()? {
            DynSolValue::Tuple(values) => values,
            _ => return None,
        }
    };
    let (mut body, mut topics) = (body.into_iter(), topics.iter().skip(1));
    inputs()
        .map(|(input, ty)| {
            if !input.indexed {
                return body.next();
            }
            let topic = topics.next()?;
            // Of what does not fit a word, the topic is the hash.
            if is_word(ty) { ty.abi_decode(topic.as_slice()).ok() } else { Some(DynSolValue::FixedBytes(*topic, 32)) }
        })
        .collect()
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

/// Text is read as bytes: what is not UTF-8 must be shown as it is, not mended.
fn without_text(ty: &DynSolType) -> DynSolType {
    match ty {
        DynSolType::String => DynSolType::Bytes,
        DynSolType::Array(inner) => DynSolType::Array(Box::new(without_text(inner))),
        DynSolType::FixedArray(inner, length) => DynSolType::FixedArray(Box::new(without_text(inner)), *length),
        DynSolType::Tuple(inner) => DynSolType::Tuple(inner.iter().map(without_text).collect()),
        other => other.clone(),
    }
}

/// Numbers as decimal text, bytes in hexadecimal, lists and tuples as arrays (behaviour reference 3.3).
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
        write_decoded(&mut writer, topics, data);
        serde_json::from_slice(&writer.into_bytes()).expect("valid JSON")
    }

    fn transfer() -> B256 {
        keccak256("Transfer(address,address,uint256)")
    }

    fn word(number: u8) -> B256 {
        B256::with_last_byte(number)
    }

    #[test]
    fn every_line_is_an_event() {
        let lines = include_str!("signatures/events.txt").lines().count();
        assert_eq!(EVENTS.len(), lines);
    }

    #[test]
    fn standards_are_told_apart_by_what_is_indexed() {
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

    proptest! {
        #[test]
        fn any_data_is_an_answer(pick in 0usize..200, data in prop::collection::vec(any::<u8>(), 0..400), topics in prop::collection::vec(any::<[u8; 32]>(), 0..4)) {
            let keys: Vec<_> = EVENTS.keys().collect();
            let (first, count) = keys[pick % keys.len()];
            let topics: Vec<B256> = [*first].into_iter().chain(topics.into_iter().map(B256::from)).take(*count).collect();
            let answer = decoded(&topics, &data);
            prop_assert!(answer.is_null() || answer["parameters"].is_array());
        }
    }
}
