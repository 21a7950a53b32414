//! `callTracer`: a tree of frames per transaction, as `debug_traceBlockByNumber` answers.
//!
//! <https://geth.ethereum.org/docs/developers/evm-tracing/built-in-tracers#call-tracer>
//!
//! A legal tree is 1024 calls deep, so it is read onto a stack that grows, up to [`DEEPEST_PATH`] and not further.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use trawl_core::primitives::{Address, B256, Bytes, U256};

use crate::block::trace::{DEEPEST_PATH, Frame, FrameKind, TransactionTrace};
use crate::decode::quantity::Quantity;

/// Reads an array of `{"txHash": …, "result": frame}`, or of frames.
pub(super) fn read(trees: &RawValue) -> Result<Vec<TransactionTrace>, serde_json::Error> {
    let trees: Vec<&RawValue> = serde_json::from_str(trees.get())?;
    trees.into_iter().map(transaction).collect()
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(rename = "txHash")]
    transaction_hash: Option<B256>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(rename = "type")]
    kind: Option<IgnoredAny>,
}

fn transaction(tree: &RawValue) -> Result<TransactionTrace, serde_json::Error> {
    let entry: Entry = serde_json::from_str(tree.get())?;
    let frame = match (entry.result, entry.kind) {
        (Some(frame), _) => frame,
        (None, Some(_)) => tree,
        // A node that gave up on one transaction puts an error in its place.
        (None, None) => return Err(serde_json::Error::custom("a transaction has an entry and no trace in it")),
    };
    let frames = frames(frame.get())?;
    Ok(TransactionTrace { transaction_hash: entry.transaction_hash, block_hash: None, frames })
}

fn frames(text: &str) -> Result<Vec<Frame>, serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text);
    json.disable_recursion_limit();
    let mut tree = Tree::default();
    tree.deserialize(serde_stacker::Deserializer::new(&mut json))?;
    json.end()?;
    tree.name_selfdestructs()?;
    Ok(tree.frames)
}

/// Collects frames as they open, so that they are in order of execution.
#[derive(Default)]
struct Tree {
    frames: Vec<Frame>,
    /// Path of the frame being read.
    path: Vec<u32>,
    /// Positions in `frames` of those on the path.
    open: Vec<usize>,
    /// Selfdestructs without a contract, each with the frame it happened in.
    nameless: Vec<(usize, Option<usize>)>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Field {
    Type,
    From,
    To,
    Value,
    Gas,
    GasUsed,
    Input,
    Output,
    Error,
    Calls,
    #[serde(other)]
    Other,
}

/// The fields of a frame as they come.
#[derive(Default)]
struct Fields {
    kind: Option<String>,
    from: Option<Address>,
    to: Option<Address>,
    value: Option<Quantity<U256>>,
    gas: Option<Quantity<u64>>,
    gas_used: Option<Quantity<u64>>,
    input: Option<Bytes>,
    output: Option<Bytes>,
    error: Option<String>,
}

impl<'de> DeserializeSeed<'de> for &mut Tree {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Tree {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a call frame")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if self.path.len() > DEEPEST_PATH {
            return Err(A::Error::custom(format!("calls are nested deeper than {DEEPEST_PATH}")));
        }
        let position = self.frames.len();
        self.frames.push(unread(self.path.clone()));
        self.open.push(position);
        let mut fields = Fields::default();
        let mut calls = None;
        while let Some(field) = map.next_key()? {
            match field {
                Field::Type => read_field(&mut map, &mut fields.kind, "type")?,
                Field::From => read_field(&mut map, &mut fields.from, "from")?,
                Field::To => read_field(&mut map, &mut fields.to, "to")?,
                Field::Value => read_field(&mut map, &mut fields.value, "value")?,
                Field::Gas => read_field(&mut map, &mut fields.gas, "gas")?,
                Field::GasUsed => read_field(&mut map, &mut fields.gas_used, "gasUsed")?,
                Field::Input => read_field(&mut map, &mut fields.input, "input")?,
                Field::Output => read_field(&mut map, &mut fields.output, "output")?,
                Field::Error => read_field(&mut map, &mut fields.error, "error")?,
                Field::Calls if calls.is_some() => return Err(A::Error::duplicate_field("calls")),
                Field::Calls => calls = Some(map.next_value_seed(Calls(self))?),
                Field::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        self.open.pop();
        let inside = self.open.last().copied();
        let frame = &mut self.frames[position];
        frame.subtraces = calls.unwrap_or_default();
        let is_nameless = fields.fill(frame)?;
        if is_nameless {
            self.nameless.push((position, inside));
        }
        Ok(())
    }
}

impl Tree {
    /// Old nodes report of a selfdestruct only its kind: the contract is the one whose code was running.
    fn name_selfdestructs(&mut self) -> Result<(), serde_json::Error> {
        for (position, inside) in std::mem::take(&mut self.nameless) {
            let contract = inside.and_then(|inside| runs_as(&self.frames[inside]));
            let contract = contract.ok_or_else(|| serde_json::Error::custom("a selfdestruct of no known contract"))?;
            self.frames[position].from = contract;
        }
        Ok(())
    }
}

/// The account whose storage and balance the code of a frame works on.
fn runs_as(frame: &Frame) -> Option<Address> {
    match frame.kind {
        FrameKind::Call | FrameKind::Staticcall => frame.to,
        FrameKind::Callcode | FrameKind::Delegatecall | FrameKind::Selfdestruct => Some(frame.from),
        FrameKind::Create | FrameKind::Create2 | FrameKind::SomeCreate => frame.created_contract,
    }
}

/// The position of a frame whose fields are still to come.
fn unread(trace_address: Vec<u32>) -> Frame {
    Frame {
        trace_address,
        kind: FrameKind::Call,
        from: Address::ZERO,
        to: None,
        created_contract: None,
        value: U256::ZERO,
        gas_limit: 0,
        gas_used: None,
        input: Bytes::new(),
        output: Bytes::new(),
        error: None,
        subtraces: 0,
    }
}

/// A value that may be `null` and may not come twice.
fn read_field<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    field: &mut Option<T>,
    name: &'static str,
) -> Result<(), A::Error> {
    if field.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *field = map.next_value()?;
    Ok(())
}

impl Fields {
    /// Completes `frame`; true if it is a selfdestruct that does not name its contract.
    fn fill<E: de::Error>(self, frame: &mut Frame) -> Result<bool, E> {
        let kind = kind(&self.kind.ok_or_else(|| E::missing_field("type"))?)?;
        frame.kind = kind;
        frame.error = self.error.filter(|error| !error.is_empty());
        frame.input = self.input.unwrap_or_default();
        frame.output = self.output.unwrap_or_default();
        if kind == FrameKind::Selfdestruct {
            frame.from = self.from.unwrap_or_default();
            frame.to = self.to;
            frame.value = self.value.map_or(U256::ZERO, |value| value.0);
            frame.gas_used = Some(0);
            return Ok(self.from.is_none());
        }
        frame.from = self.from.ok_or_else(|| E::missing_field("from"))?;
        if kind.moves_value() {
            frame.value = self.value.ok_or_else(|| E::missing_field("value"))?.0;
        }
        frame.gas_limit = self.gas.ok_or_else(|| E::missing_field("gas"))?.0;
        frame.gas_used = Some(self.gas_used.ok_or_else(|| E::missing_field("gasUsed"))?.0);
        match (kind.is_create(), &frame.error) {
            (false, _) => frame.to = Some(self.to.ok_or_else(|| E::missing_field("to"))?),
            (true, None) => frame.created_contract = Some(self.to.ok_or_else(|| E::missing_field("to"))?),
            (true, Some(_)) => {}
        }
        Ok(false)
    }
}

fn kind<E: de::Error>(name: &str) -> Result<FrameKind, E> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "CALL" => FrameKind::Call,
        "CALLCODE" => FrameKind::Callcode,
        "DELEGATECALL" => FrameKind::Delegatecall,
        "STATICCALL" => FrameKind::Staticcall,
        "CREATE" => FrameKind::Create,
        "CREATE2" => FrameKind::Create2,
        "SELFDESTRUCT" | "SUICIDE" => FrameKind::Selfdestruct,
        _ => return Err(E::custom(format!("`{}` is no known type of frame", name.escape_debug()))),
    })
}

/// The frames below the one being read; gives how many.
struct Calls<'t>(&'t mut Tree);

impl<'de> DeserializeSeed<'de> for Calls<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Calls<'_> {
    type Value = u32;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of call frames")
    }

    fn visit_unit<E>(self) -> Result<u32, E> {
        Ok(0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut frames: A) -> Result<u32, A::Error> {
        let tree = self.0;
        let depth = tree.path.len();
        for child in 0.. {
            tree.path.push(child);
            let frame = frames.next_element_seed(&mut *tree)?;
            tree.path.truncate(depth);
            if frame.is_none() {
                return Ok(child);
            }
        }
        Err(A::Error::custom("more calls than can be counted"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#""type":"CALL","from":"0x0000000000000000000000000000000000000001","to":"0x0000000000000000000000000000000000000002","value":"0x0","gas":"0x5","gasUsed":"0x4""#;

    fn chain(depth: usize) -> String {
        format!("{{{CALL},\"calls\":[").repeat(depth) + &format!("{{{CALL}}}") + &"]}".repeat(depth)
    }

    #[test]
    fn the_deepest_legal_chain_of_calls_is_read_on_a_small_stack() {
        // Threads of the decoders have 2 MiB.
        let read = std::thread::Builder::new().stack_size(256 << 10).spawn(|| frames(&chain(1024)).expect("legal"));
        let frames = read.expect("a thread").join().expect("no overflow");
        assert_eq!(frames.len(), 1025);
        assert_eq!(frames[1024].trace_address, vec![0; 1024]);
        assert!(frames[..1024].iter().all(|frame| frame.subtraces == 1) && frames[1024].subtraces == 0);
    }

    #[test]
    fn deeper_nesting_is_refused_before_the_stack_is_large() {
        for depth in [1100, 200_000] {
            let error = frames(&chain(depth)).expect_err("deeper than the EVM");
            assert!(error.to_string().contains("nested deeper than 1026"), "{error}");
        }
        // Depth elsewhere costs nothing.
        let junk = format!("{{{CALL},\"logs\":{}{}}}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(frames(&junk).expect("ignored").len(), 1);
    }

    #[test]
    fn frames_are_in_order_of_execution_whatever_the_order_of_fields() {
        let text = format!(
            r#"{{"calls":[{{{CALL},"calls":[{{{CALL}}},{{"type":"SELFDESTRUCT"}}]}},{{{CALL},"calls":null}}],{CALL}}}"#
        );
        let frames = frames(&text).expect("frames");
        let paths: Vec<_> = frames.iter().map(|frame| frame.trace_address.clone()).collect();
        assert_eq!(paths, [vec![], vec![0], vec![0, 0], vec![0, 1], vec![1]]);
        assert_eq!(frames.iter().map(|frame| frame.subtraces).collect::<Vec<_>>(), [2, 2, 0, 0, 0]);
        assert_eq!(
            (frames[3].from, frames[3].to),
            (frames[0].to.expect("to"), None),
            "of the contract that was called"
        );
    }

    #[test]
    fn frames_that_do_not_say_what_they_must_are_errors() {
        for bad in [
            "{}",
            "[]",
            "null",
            r#"{"type":"SELFDESTRUCT"}"#,
            &format!("{{{CALL},\"type\":\"CALL\"}}"),
            &format!("{{{CALL},\"calls\":[],\"calls\":[]}}"),
            &format!("{{{CALL},\"calls\":7}}"),
            &format!("{{{CALL}}} x"),
            &format!("{{{}}}", CALL.replace("CALL", "JUMP")),
            &format!("{{{}}}", CALL.replace("CALL", "CREATE").replace("to\"", "no\"")),
            &format!("{{{}}}", CALL.replace("value", "no")),
            &format!("{{{}}}", CALL.replace("0x5", "0x1ffffffffffffffff")),
        ] {
            assert!(frames(bad).is_err(), "{bad}");
        }
    }
}
