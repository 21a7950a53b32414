//! What a column of Arrow and Parquet is, as metadata of its field
//! (docs/reference/scans.md#columns-that-say-what-they-are).
//!
//! Arrow types say how values are stored; these say what they mean, so that no program has to guess it from a name.

use std::collections::HashMap;

use arrow::datatypes::{DataType, Field};

/// What the values are, in the words of ABIs.
const TYPE: &str = "trawl.type";
/// How they are written, where the Arrow type does not say it.
const ENCODING: &str = "trawl.encoding";
/// What numbers count.
const UNIT: &str = "trawl.unit";

/// Decimal digits in a text.
const DECIMAL: &str = "decimal";
/// Bytes as the chain has them; as a number, the most significant first.
const BIG_ENDIAN: &str = "big-endian";
/// Bytes that are no number.
const RAW: &str = "raw";

/// A column with what its Arrow type tells: logs have no texts but decoded ones.
pub(super) fn of_type(field: &Field) -> Field {
    let (name, encoding) = match field.data_type() {
        DataType::Boolean => ("bool", None),
        DataType::UInt8 => ("uint8", None),
        DataType::UInt16 => ("uint16", None),
        DataType::UInt32 => ("uint32", None),
        DataType::UInt64 => ("uint64", None),
        DataType::FixedSizeBinary(20) => ("address", Some(BIG_ENDIAN)),
        DataType::FixedSizeBinary(32) => ("bytes32", Some(BIG_ENDIAN)),
        DataType::Binary | DataType::LargeBinary => ("bytes", Some(RAW)),
        DataType::Timestamp(..) => ("timestamp", None),
        DataType::Utf8 | DataType::LargeUtf8 => ("string", None),
        _ => return field.clone(),
    };
    described(field.clone(), name, encoding)
}

/// A column of numbers of up to 256 bits, in decimal digits.
pub(super) fn wide(field: Field) -> Field {
    described(field, "uint256", Some(DECIMAL))
}

/// A text column with values of a type of ABIs: numbers are decimal digits, bytes and addresses `0x` text, lists JSON.
pub(super) fn decoded(field: Field, name: &str) -> Field {
    let is_list = name.ends_with(']') || name.starts_with('(');
    let encoding = match name {
        _ if is_list => Some("json"),
        "string" | "bool" => None,
        _ if name.starts_with("uint") || name.starts_with("int") => Some(DECIMAL),
        _ => Some("hex"),
    };
    described(field, name, encoding)
}

/// The column with a unit, if its numbers have one.
pub(super) fn in_unit(field: Field, unit: Option<&str>) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.extend(unit.map(|unit| (UNIT.to_owned(), unit.to_owned())));
    field.with_metadata(metadata)
}

fn described(field: Field, name: &str, encoding: Option<&str>) -> Field {
    let known = [(TYPE, Some(name)), (ENCODING, encoding)];
    let texts = known.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())));
    field.with_metadata(texts.collect::<HashMap<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_values_are_written_by_their_type() {
        for (name, encoding) in [
            ("uint256", Some("decimal")),
            ("int24", Some("decimal")),
            ("address", Some("hex")),
            ("bytes", Some("hex")),
            ("string", None),
            ("bool", None),
            ("uint256[]", Some("json")),
            ("(address,uint256)", Some("json")),
        ] {
            let field = decoded(Field::new("value", DataType::Utf8, true), name);
            assert_eq!(field.metadata().get(TYPE).map(String::as_str), Some(name));
            assert_eq!(field.metadata().get(ENCODING).map(String::as_str), encoding, "{name}");
        }
    }
}
