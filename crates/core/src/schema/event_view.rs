//! The statement of a view with one column for each parameter of an event.
//!
//! How parameters lie in topics and data: <https://docs.soliditylang.org/en/latest/abi-spec.html#events>.

use alloy_dyn_abi::DynSolType;

use crate::primitives::Address;
use crate::primitives::abi::KnownEvent;

/// Bytes of a word of data.
const WORD: usize = 32;

/// Columns that every view of an event has before those of the parameters: name, type, expression over `v_logs`,
/// comment.
const POSITION_COLUMNS: [(&str, &str, &str, &str); 9] = [
    ("block_number", "UInt64", "block_number", "height of its block"),
    ("log_index", "UInt32", "log_index", "position in the block, 0-based"),
    ("transaction_index", "UInt32", "transaction_index", "position of its transaction in the block, 0-based"),
    ("transaction_hash", "FixedString(32)", "transaction_hash", "hash of its transaction, bytes"),
    ("transaction_hash_hex", "String", "transaction_hash_hex", "hash of its transaction, 0x text"),
    ("block_timestamp", "DateTime64(6, 'UTC')", "block_timestamp", "time of its block, UTC"),
    ("block_date", "Date", "block_date", "day of its block, UTC; a filter on it reads only its blocks"),
    ("contract", "FixedString(20)", "address", "contract that emitted it, bytes"),
    ("contract_hex", "String", "address_hex", "contract that emitted it, 0x text"),
];

/// Why an event has no view.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoView {
    /// Logs of an anonymous event do not say which event they are.
    #[error("an anonymous event has no topic hash to find its logs by")]
    Anonymous,
    /// Names of parameters tell the columns, flags where the values are.
    #[error(
        "write the event with the names of its parameters and with `indexed`, as in `Transfer(address indexed from, address indexed to, uint256 value)`"
    )]
    NoFlags,
    /// A list of lists, of texts, or a tuple.
    #[error(
        "parameter `{0}` has the type `{1}`, which does not fit one column: only numbers, addresses, bytes, strings, \
         and arrays of numbers, addresses or fixed bytes do"
    )]
    Type(String, String),
}

/// Which logs a view of an event reads, and in which order they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogSource<'a> {
    /// Of all contracts, by height: for events that many contracts emit.
    Heights,
    /// Of all contracts, by contract: for events that few contracts emit, and for filters on the contract.
    Contracts,
    /// Of one contract.
    Contract(&'a Address),
}

/// A column of a parameter.
struct Column {
    name: String,
    of: String,
    expression: String,
    comment: String,
}

/// The statement that creates, or makes anew, the view `name` of the logs of an event.
///
/// # Errors
///
/// If the event is anonymous, is written without names and flags, or has a parameter that is no single column.
pub fn event_view(name: &str, known: &KnownEvent, logs: LogSource<'_>) -> Result<String, NoView> {
    let event = &known.event;
    if event.anonymous {
        return Err(NoView::Anonymous);
    }
    if !known.has_indexed_flags {
        return Err(NoView::NoFlags);
    }
    let (mut columns, mut topics, mut words) = (Vec::new(), 1, 0);
    for (position, (input, of)) in event.inputs.iter().zip(&known.types).enumerate() {
        let name = column_name(&input.name, position, &columns);
        let comment = format!("{}{}", input.selector_type(), if input.indexed { " indexed" } else { "" });
        let read = if input.indexed { indexed(of, &format!("topic{topics}")) } else { in_data(of, words) };
        let (of_column, expression) =
            read.ok_or_else(|| NoView::Type(input.name.clone(), input.selector_type().into_owned()))?;
        if input.indexed {
            topics += 1;
        } else {
            words += head_words(of);
        }
        columns.push(Column { name, of: of_column, expression, comment });
    }
    let hash = alloy_primitives::hex::encode(event.selector());
    let mut filter =
        format!("topic0 = unhex('{hash}')\n  AND topics_count = {topics}\n  AND length(data) >= {}", words * WORD);
    let from = match logs {
        LogSource::Contract(contract) => {
            filter = format!("address = unhex('{}')\n  AND {filter}", alloy_primitives::hex::encode(contract));
            "v_logs_by_contract"
        }
        LogSource::Contracts => "v_logs_by_contract",
        LogSource::Heights => "v_logs",
    };
    Ok(statement(name, &known.text(), &columns, from, &filter))
}

fn statement(name: &str, text: &str, columns: &[Column], from: &str, filter: &str) -> String {
    let position = POSITION_COLUMNS.iter().map(|(name, of, _, comment)| format!("    {name} {of} COMMENT '{comment}'"));
    let parameters =
        columns.iter().map(|column| format!("    `{}` {} COMMENT '{}'", column.name, column.of, column.comment));
    let declared: Vec<String> = position.chain(parameters).collect();
    let position = POSITION_COLUMNS
        .iter()
        .map(|(name, _, read, _)| if name == read { format!("    {name}") } else { format!("    {read} AS {name}") });
    let parameters = columns.iter().map(|column| format!("    {} AS `{}`", column.expression, column.name));
    let selected: Vec<String> = position.chain(parameters).collect();
    format!(
        "CREATE OR REPLACE VIEW {name}\n(\n{}\n)\nAS\nSELECT\n{}\nFROM {from}\nWHERE {filter}\nCOMMENT 'logs of the event {text}'\n",
        declared.join(",\n"),
        selected.join(",\n")
    )
}

/// The name of the parameter, or its position where that is empty or taken.
fn column_name(name: &str, position: usize, columns: &[Column]) -> String {
    let is_taken =
        |name: &str| POSITION_COLUMNS.iter().any(|of| of.0 == name) || columns.iter().any(|column| column.name == name);
    let mut name = if name.is_empty() { format!("arg{position}") } else { name.to_owned() };
    while is_taken(&name) {
        name = format!("{name}_{position}");
    }
    name
}

/// Type and expression of an indexed parameter: its value, or of what is longer than a word its hash.
fn indexed(of: &DynSolType, topic: &str) -> Option<(String, String)> {
    Some(one_word(of, topic).unwrap_or_else(|| ("FixedString(32)".into(), topic.into())))
}

/// Type and expression of a value in data, whose head begins at word `head`.
fn in_data(of: &DynSolType, head: usize) -> Option<(String, String)> {
    let word = format!("substring(data, {}, {WORD})", head * WORD + 1);
    let offset = small(&word);
    match of {
        DynSolType::Bytes | DynSolType::String => {
            let length = small(&format!("substring(data, {offset} + 1, {WORD})"));
            Some(("String".into(), format!("substring(data, {offset} + {}, {length})", WORD + 1)))
        }
        DynSolType::Array(inner) => {
            let length = small(&format!("substring(data, {offset} + 1, {WORD})"));
            let (inner, value) =
                one_word(inner, &format!("substring(data, {offset} + {} + {WORD} * item, {WORD})", WORD + 1))?;
            let count = format!("least({length}, intDiv(length(data), {WORD}))");
            Some((format!("Array({inner})"), format!("arrayMap(item -> {value}, range({count}))")))
        }
        DynSolType::FixedArray(inner, length) => {
            let (inner, value) =
                one_word(inner, &format!("substring(data, {} + {WORD} * item, {WORD})", head * WORD + 1))?;
            Some((format!("Array({inner})"), format!("arrayMap(item -> {value}, range({length}))")))
        }
        other => one_word(other, &word),
    }
}

/// A word as a number that offsets in data may have; larger ones lie beyond every log.
fn small(word: &str) -> String {
    format!("toUInt64(least(reinterpretAsUInt256(reverse({word})), 4294967295))")
}

/// Words of a parameter before the part of data where long values are.
fn head_words(of: &DynSolType) -> usize {
    match of {
        DynSolType::FixedArray(_, length) => *length,
        _ => 1,
    }
}

/// Type and expression of a value that is one word; `None` for others.
fn one_word(of: &DynSolType, word: &str) -> Option<(String, String)> {
    Some(match of {
        DynSolType::Address => {
            ("FixedString(20)".into(), format!("CAST(substring({word}, 13, 20) AS FixedString(20))"))
        }
        DynSolType::Bool => ("Bool".into(), format!("CAST(reinterpretAsUInt256(reverse({word})) != 0 AS Bool)")),
        DynSolType::Uint(_) => ("UInt256".into(), format!("reinterpretAsUInt256(reverse({word}))")),
        DynSolType::Int(_) => ("Int256".into(), format!("reinterpretAsInt256(reverse({word}))")),
        DynSolType::FixedBytes(length) => fixed_bytes(*length, word),
        DynSolType::Function => fixed_bytes(24, word),
        _ => return None,
    })
}

fn fixed_bytes(length: usize, word: &str) -> (String, String) {
    let of = format!("FixedString({length})");
    let expression = format!("CAST(substring({word}, 1, {length}) AS {of})");
    (of, expression)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(event: &str) -> Result<String, NoView> {
        event_view("v_x", &KnownEvent::parse(event).expect("an event"), LogSource::Heights)
    }

    #[test]
    fn what_is_no_column_is_refused() {
        assert_eq!(view("A(uint256,address)"), Err(NoView::NoFlags));
        assert_eq!(view("A(uint256 a) anonymous"), Err(NoView::Anonymous));
        assert_eq!(view("A(string[] names)"), Err(NoView::Type("names".into(), "string[]".into())));
        assert_eq!(view("A((uint256,bool) a)").map_err(|error| matches!(error, NoView::Type(..))), Err(true));
    }

    #[test]
    fn names_that_are_taken_get_their_position() {
        let text = view("A(address contract, uint256 x, uint256)").expect("a view");
        assert!(text.contains("`contract_0` FixedString(20)") && text.contains("`arg2` UInt256"), "{text}");
        assert!(text.contains("length(data) >= 96") && text.contains("topics_count = 1"), "{text}");
    }

    #[test]
    fn long_indexed_values_are_hashes_and_fixed_lists_take_their_words() {
        let text = view("A(string indexed name, uint8[3] numbers, bool last)").expect("a view");
        assert!(text.contains("topic1 AS `name`") && text.contains("length(data) >= 128"), "{text}");
        assert!(text.contains("substring(data, 97, 32)"), "{text}");
    }
}
