//! The parameters of one known event as columns, for scans whose logs are that event.

use alloy_dyn_abi::{DynSolType, DynSolValue};

use super::{DecodedEvent, write_value};
use crate::JsonWriter;
use trawl_core::primitives::abi::KnownEvent;
use trawl_core::primitives::{Address, B256};

/// An event whose parameters have a column each.
#[derive(Debug, Clone)]
pub struct EventColumns {
    known: KnownEvent,
    names: Vec<String>,
}

impl EventColumns {
    /// Columns with the names of the parameters. A parameter without a name, or with a name that is `taken` or
    /// repeated, has its position in the column name.
    #[must_use]
    pub fn new(known: KnownEvent, taken: &[&str]) -> Self {
        let mut names: Vec<String> = Vec::new();
        for (position, input) in known.event.inputs.iter().enumerate() {
            let is_taken = |name: &str| taken.contains(&name) || names.iter().any(|other| other == name);
            let mut name = if input.name.is_empty() { format!("arg{position}") } else { input.name.clone() };
            while is_taken(&name) {
                name = format!("{name}_{position}");
            }
            names.push(name);
        }
        Self { known, names }
    }

    /// The names of the columns, in the order of the parameters.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The types of the columns, in the words of ABIs.
    pub fn types(&self) -> impl Iterator<Item = String> {
        self.known.types.iter().map(|ty| ty.sol_type_name().into_owned())
    }

    /// The first topic of every log of the event; `None` if it is anonymous.
    #[must_use]
    pub fn topic0(&self) -> Option<B256> {
        (!self.known.event.anonymous).then(|| self.known.event.selector())
    }

    /// Writes the values as an object, or null if the log does not fit the event.
    pub fn write(&self, writer: &mut JsonWriter, topics: &[B256], data: &[u8]) {
        writer.option(DecodedEvent::new(&self.known, topics, data), |writer, reading| {
            writer.object(|object| {
                for ((name, ty), value) in self.names.iter().zip(&self.known.types).zip(&reading.values) {
                    write_value(object.key(name), ty, &plain(value));
                }
            });
        });
    }

    /// The values as texts, lists among them as JSON; `None` if the log does not fit the event.
    #[must_use]
    pub fn texts(&self, topics: &[B256], data: &[u8]) -> Option<Vec<String>> {
        let reading = DecodedEvent::new(&self.known, topics, data)?;
        let text = |(ty, value): (&DynSolType, &DynSolValue)| {
            let mut writer = JsonWriter::new();
            write_value(&mut writer, ty, &plain(value));
            let json = String::from_utf8(writer.into_bytes()).unwrap_or_default();
            serde_json::from_str(&json).unwrap_or(json)
        };
        Some(self.known.types.iter().zip(&reading.values).map(text).collect())
    }
}

/// The value with addresses as bytes, which are written in lower case, as in the other columns.
fn plain(value: &DynSolValue) -> DynSolValue {
    let all = |values: &[DynSolValue]| values.iter().map(plain).collect();
    match value {
        DynSolValue::Address(address) => {
            let mut word = B256::ZERO;
            word[..size_of::<Address>()].copy_from_slice(address.as_slice());
            DynSolValue::FixedBytes(word, size_of::<Address>())
        }
        DynSolValue::Array(values) => DynSolValue::Array(all(values)),
        DynSolValue::FixedArray(values) => DynSolValue::FixedArray(all(values)),
        DynSolValue::Tuple(values) => DynSolValue::Tuple(all(values)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::{address, keccak256};
    use serde_json::{Value, json};

    fn word(number: u8) -> B256 {
        B256::with_last_byte(number)
    }

    fn event(text: &str) -> EventColumns {
        EventColumns::new(KnownEvent::parse(text).expect("an event"), &["data", "address"])
    }

    fn object(event: &EventColumns, topics: &[B256], data: &[u8]) -> Value {
        let mut writer = JsonWriter::new();
        event.write(&mut writer, topics, data);
        serde_json::from_slice(&writer.into_bytes()).expect("valid JSON")
    }

    #[test]
    fn parameters_have_their_names() {
        let transfer = event("Transfer(address indexed from, address indexed to, uint256 value)");
        let hash = keccak256("Transfer(address,address,uint256)");
        assert_eq!(transfer.topic0(), Some(hash));
        let from = address!("0xd8da6bf26964af9d7eed9e03e53415d37aa96045").into_word();
        let topics = [hash, from, word(2)];
        let to = format!("0x{}2", "0".repeat(39));
        let expected = json!({"from": "0xd8da6bf26964af9d7eed9e03e53415d37aa96045", "to": to, "value": "7"});
        assert_eq!(object(&transfer, &topics, word(7).as_slice()), expected);
        let texts = transfer.texts(&topics, word(7).as_slice()).expect("fits");
        assert_eq!(texts, ["0xd8da6bf26964af9d7eed9e03e53415d37aa96045", &to, "7"]);
        assert_eq!(object(&transfer, &topics[..2], word(7).as_slice()), Value::Null);
        assert_eq!(transfer.texts(&[], &[]), None);
    }

    #[test]
    fn lists_are_json_and_names_are_unique() {
        let odd = event("E(address data, address[] list, uint256, int8 data)");
        assert_eq!(odd.names(), ["data_0", "list", "arg2", "data_3"]);
        let mut minus = B256::repeat_byte(0xff);
        minus[31] = 0xfe;
        let data: Vec<u8> =
            [word(1), word(128), word(3), minus, word(1), word(9)].iter().flat_map(|word| word.0).collect();
        let texts = odd.texts(&[keccak256("E(address,address[],uint256,int8)")], &data).expect("fits");
        let nine = format!("0x{}9", "0".repeat(39));
        assert_eq!(texts[1..], [format!("[\"{nine}\"]"), "3".into(), "-2".into()]);
    }

    #[test]
    fn anonymous_events_use_every_topic() {
        let quiet = event("Noted(bytes32 indexed key, uint256 value) anonymous");
        assert_eq!(quiet.topic0(), None);
        assert_eq!(object(&quiet, &[word(5)], word(6).as_slice())["value"], "6");
        assert_eq!(object(&quiet, &[word(5), word(5)], word(6).as_slice()), Value::Null);
    }
}
