//! Events and functions in the notation of the ABI specification, JSON or a line of text, checked before use.
//!
//! <https://docs.soliditylang.org/en/latest/abi-spec.html>. The input is untrusted: types whose only effect is memory
//! use are refused here, so that decoders need no limits of their own.

use std::borrow::Cow;

use alloy_dyn_abi::{DynSolType, Specifier};
use alloy_json_abi::{Error, Event, EventParam, Function, Param, StateMutability};

/// Longest text of an event or a function, in bytes.
pub const MAX_TEXT: usize = 64 << 10;
/// Most values that a type may have regardless of the data: `uint8[1000000000]` has a billion.
const MAX_VALUES: usize = 4096;
/// Deepest nesting of lists and tuples.
const MAX_DEPTH: usize = 12;

/// An event with the types of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEvent {
    /// Name and inputs, as the ABI specification's JSON describes them.
    pub event: Event,
    /// The type of each of its parameters.
    pub types: Vec<DynSolType>,
    /// Whether the flags of the inputs are reliable. A text without parameter names does not mark indexed parameters.
    pub has_indexed_flags: bool,
}

/// Why a text cannot be used as an event or a function.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AbiError {
    /// The text does not follow the ABI specification.
    #[error("not an {0} of the ABI: {1}")]
    Malformed(&'static str, String),
    /// A parameter has a type that does not exist, or one that no real contract uses.
    #[error("parameter type `{0}` is unknown, empty, too large or too deep")]
    Type(String),
    /// The text is too long.
    #[error("{0} bytes are too many for an event or a function")]
    TooLong(usize),
    /// A log has four topics: the hash and three parameters, or four parameters of an anonymous event.
    #[error("{0} indexed parameters are more than a log holds")]
    TooManyIndexed(usize),
}

impl KnownEvent {
    /// An event from a complete JSON description.
    ///
    /// # Errors
    ///
    /// If a type is unusable or more parameters are indexed than a log has topics.
    pub fn new(event: Event) -> Result<Self, AbiError> {
        let types = types(event.inputs.iter().map(|input| (input.ty.as_str(), input.resolve().ok())))?;
        let indexed = event.inputs.iter().filter(|input| input.indexed).count();
        if indexed > if event.anonymous { 4 } else { 3 } {
            return Err(AbiError::TooManyIndexed(indexed));
        }
        Ok(Self { event, types, has_indexed_flags: true })
    }

    /// An event from a line: `event Transfer(address indexed from, …)`; the keyword and the names may be left out.
    ///
    /// # Errors
    ///
    /// If the line is too long, malformed, or fails the checks of [`KnownEvent::new`].
    pub fn parse(text: &str) -> Result<Self, AbiError> {
        let text = short(text)?.trim().trim_end_matches(';');
        let text = if text.starts_with("event ") { Cow::Borrowed(text) } else { Cow::Owned(format!("event {text}")) };
        let event = Event::parse(&text).map_err(|error| AbiError::Malformed("event", error.to_string()))?;
        let mut known = Self::new(event)?;
        known.has_indexed_flags = known.event.inputs.is_empty()
            || known.event.inputs.iter().any(|input| input.indexed || !input.name.is_empty());
        Ok(known)
    }

    /// An event from an entry of an ABI.
    ///
    /// # Errors
    ///
    /// If the entry is too long, malformed, or fails the checks of [`KnownEvent::new`].
    pub fn from_json(entry: &str) -> Result<Self, AbiError> {
        let event = serde_json::from_str(short(entry)?);
        Self::new(event.map_err(|error| AbiError::Malformed("event", error.to_string()))?)
    }

    /// The canonical line: names, types and `indexed` flags, in the form that [`KnownEvent::parse`] reads.
    #[must_use]
    pub fn text(&self) -> String {
        let inputs: Vec<String> = self.event.inputs.iter().map(parameter).collect();
        format!("{}({})", self.event.name, inputs.join(", "))
    }

    /// Which parameters are indexed in a log with `topics` topics after the hash: the flags of the event, or, if they
    /// are unreliable, the leftmost parameters, as in nearly all events. `None` if the log cannot be of this event.
    #[must_use]
    pub fn indexed(&self, topics: usize) -> Option<Vec<bool>> {
        let inputs = &self.event.inputs;
        if !self.has_indexed_flags {
            return (topics <= inputs.len()).then(|| (0..inputs.len()).map(|position| position < topics).collect());
        }
        let indexed: Vec<bool> = inputs.iter().map(|input| input.indexed).collect();
        (indexed.iter().filter(|is_indexed| **is_indexed).count() == topics).then_some(indexed)
    }
}

fn parameter(input: &EventParam) -> String {
    let mut text = input.selector_type().into_owned();
    if input.indexed {
        text.push_str(" indexed");
    }
    if !input.name.is_empty() {
        text.push(' ');
        text.push_str(&input.name);
    }
    text
}

/// A function with the types of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFunction {
    /// Name, inputs and outputs, as the ABI specification's JSON describes them.
    pub function: Function,
    /// The type of each of its parameters.
    pub types: Vec<DynSolType>,
}

impl KnownFunction {
    fn new(function: Function) -> Result<Self, AbiError> {
        let types = types(function.inputs.iter().map(|input| (input.ty.as_str(), input.resolve().ok())))?;
        Ok(Self { function, types })
    }

    /// [`parse_function`], with types.
    ///
    /// # Errors
    ///
    /// Those of [`parse_function`].
    pub fn parse(text: &str) -> Result<Self, AbiError> {
        Self::new(parse_function(text)?)
    }

    /// [`function_from_json`], with types.
    ///
    /// # Errors
    ///
    /// Those of [`function_from_json`].
    pub fn from_json(entry: &str) -> Result<Self, AbiError> {
        Self::new(function_from_json(entry)?)
    }

    /// An error from an entry of an ABI, as the function that a call with the same data would call.
    ///
    /// # Errors
    ///
    /// If the entry is too long or malformed, or a type is unusable.
    pub fn from_error(entry: &str) -> Result<Self, AbiError> {
        let read = serde_json::from_str(short(entry)?);
        let Error { name, inputs } = read.map_err(|error| AbiError::Malformed("error", error.to_string()))?;
        Self::new(Function { name, inputs, outputs: Vec::new(), state_mutability: StateMutability::NonPayable })
    }
}

/// A function from a line: `function transfer(address to, uint256 amount)`; keyword and names may be left out.
///
/// # Errors
///
/// If the line is too long or malformed, or a type is unusable.
pub fn parse_function(text: &str) -> Result<Function, AbiError> {
    let text = short(text)?.trim().trim_end_matches(';');
    checked(Function::parse(text).map_err(|error| AbiError::Malformed("function", error.to_string()))?)
}

/// A function from an entry of an ABI.
///
/// # Errors
///
/// If the entry is too long or malformed, or a type is unusable.
pub fn function_from_json(entry: &str) -> Result<Function, AbiError> {
    let function = serde_json::from_str(short(entry)?);
    checked(function.map_err(|error| AbiError::Malformed("function", error.to_string()))?)
}

/// The canonical line of a function, without its return values.
#[must_use]
pub fn function_text(function: &Function) -> String {
    let parameter = |input: &Param| format!("{} {}", input.selector_type(), input.name).trim_end().to_owned();
    let inputs: Vec<String> = function.inputs.iter().map(parameter).collect();
    format!("{}({})", function.name, inputs.join(", "))
}

fn checked(function: Function) -> Result<Function, AbiError> {
    types(function.inputs.iter().map(|input| (input.ty.as_str(), input.resolve().ok())))?;
    Ok(function)
}

fn short(text: &str) -> Result<&str, AbiError> {
    if text.len() > MAX_TEXT { Err(AbiError::TooLong(text.len())) } else { Ok(text) }
}

fn types<'a>(inputs: impl Iterator<Item = (&'a str, Option<DynSolType>)>) -> Result<Vec<DynSolType>, AbiError> {
    let mut left = MAX_VALUES;
    inputs
        .map(|(name, ty)| {
            let cut: String = name.chars().take(60).collect();
            let ty = ty.ok_or_else(|| AbiError::Type(cut.clone()))?;
            let values = fixed_values(&ty, MAX_DEPTH).filter(|values| *values > 0);
            left = values.and_then(|values| left.checked_sub(values)).ok_or(AbiError::Type(cut))?;
            Ok(ty)
        })
        .collect()
}

/// How many values a decoder allocates for a type before it reads data. `None` for far too many; 0 for an empty type,
/// of which empty data could hold any number.
fn fixed_values(ty: &DynSolType, depth: usize) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    match ty {
        DynSolType::Array(inner) => fixed_values(inner, depth),
        DynSolType::FixedArray(inner, length) => fixed_values(inner, depth)?.checked_mul(*length),
        DynSolType::Tuple(types) => types.iter().try_fold(0usize, |sum, ty| {
            let values = fixed_values(ty, depth).filter(|values| *values > 0)?;
            sum.checked_add(values)
        }),
        _ => Some(1),
    }
    .filter(|values| *values <= MAX_VALUES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_is_written() {
        let line = "Transfer(address indexed from, address indexed to, uint256 value)";
        for text in [line, &format!("event {line};"), &format!(" event {line} ")] {
            let known = KnownEvent::parse(text).expect("an event");
            assert_eq!(known.text(), line);
            assert_eq!(known.indexed(2), Some(vec![true, true, false]));
            assert_eq!(known.indexed(3), None);
        }
        let function = parse_function("function transfer(address to, uint256 amount) external returns (bool)");
        assert_eq!(function_text(&function.expect("a function")), "transfer(address to, uint256 amount)");
        assert_eq!(
            function_text(&parse_function("swap((address,uint24)[],bytes)").expect("a function")),
            "swap((address,uint24)[], bytes)"
        );
    }

    #[test]
    fn indexed_flags_come_from_the_event_or_else_from_the_left() {
        let bare = KnownEvent::parse("Transfer(address,address,uint256)").expect("an event");
        assert_eq!(bare.indexed(2), Some(vec![true, true, false]));
        assert_eq!(bare.indexed(3), Some(vec![true, true, true]));
        assert_eq!(bare.indexed(4), None);
        let named = KnownEvent::parse("Paused(address account)").expect("an event");
        assert_eq!((named.indexed(0), named.indexed(1)), (Some(vec![false]), None));
    }

    #[test]
    fn types_that_only_cost_memory_are_refused() {
        let bombs = [
            "E(uint8[4000000000])",
            "E(uint8[1000][1000][1000])",
            "E(uint8[100000][])",
            "E(uint8[0][])",
            "E(()[] a)",
            "E(uint256[][][][][][][][][][][][][][][][][])",
            "E(nothing)",
            "E(uint7)",
            "E(",
            "",
            "E(uint indexed a, uint indexed b, uint indexed c, uint indexed d)",
        ];
        for text in bombs {
            assert!(KnownEvent::parse(text).is_err(), "{text}");
        }
        let wide = format!("E({})", vec!["uint8[4000]"; 100].join(","));
        assert!(KnownEvent::parse(&wide).is_err());
        assert!(matches!(KnownEvent::parse(&"x".repeat(MAX_TEXT + 1)), Err(AbiError::TooLong(_))));
        assert!(parse_function("f(uint8[4000000000])").is_err());
    }
}
