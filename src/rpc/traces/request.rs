//! The filter object of `trace_filter`, parsed.

use serde_json::{Map, Value};

use crate::app::App;
use crate::error::Problem;
use crate::http::values::{BlockName, addresses, bytes32, invalid, member, quantity, range_end};
use crate::read::range::RangeEnds;
use trawl_core::primitives::{B256, BlockRange};
use trawl_core::store::Head;
use trawl_query::scan::{JoinMode, Participants, TraceScan};

/// The blocks that a filter names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Blocks {
    /// The block with this hash.
    Hash(B256),
    /// From one block to another.
    Range(RangeEnds),
}

/// Which traces of some blocks, and which part of their list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct TraceList {
    pub scan: TraceScan,
    /// The number of traces to skip first.
    pub after: u64,
    /// The highest number of traces after those.
    pub count: Option<u64>,
}

/// A parsed filter object that has not been compared with the chain yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    blocks: Blocks,
    pub list: TraceList,
}

impl Request {
    /// Parses a filter object.
    ///
    /// # Errors
    ///
    /// When a member has a wrong value.
    pub fn read(filter: &Value) -> Result<Self, Problem> {
        let filter = filter.as_object().ok_or_else(|| invalid("Invalid params. The filter must be an object."))?;
        let number = |key: &str| {
            let read = |value: &Value| value.as_u64().or_else(|| value.as_str().and_then(quantity));
            member(filter, key).map(|value| read(value).ok_or_else(|| invalid(&format!("invalid {key}")))).transpose()
        };
        let participants = Participants {
            any: Vec::new(),
            from: addresses(member(filter, "fromAddress"))?,
            to: addresses(member(filter, "toAddress"))?,
        };
        let scan = TraceScan { participants, mode: mode(filter)? };
        let list = TraceList { scan, after: number("after")?.unwrap_or(0), count: number("count")? };
        Ok(Self { blocks: blocks(filter)?, list })
    }

    /// The ends of the range that the filter names.
    ///
    /// # Errors
    ///
    /// When no block of the chain has the hash that it names.
    pub async fn ends(&self, app: &App, head: &Head) -> Result<RangeEnds, Problem> {
        match self.blocks {
            Blocks::Range(ends) => Ok(ends),
            Blocks::Hash(hash) => {
                let number = app.block_with_hash(&hash, head).await?.ok_or(Problem::UnknownBlockHash)?;
                Ok(RangeEnds::of(BlockRange::single(number)))
            }
        }
    }
}

fn blocks(filter: &Map<String, Value>) -> Result<Blocks, Problem> {
    let end = |key| {
        member(filter, key).map(|value| range_end(value).ok_or_else(|| invalid("invalid block number"))).transpose()
    };
    let (from, to) = (end("fromBlock")?, end("toBlock")?);
    match member(filter, "blockHash") {
        None => Ok(Blocks::Range(RangeEnds { from: Some(from.unwrap_or(BlockName::Number(0))), to })),
        Some(_) if from.is_some() || to.is_some() => {
            Err(invalid("cannot specify both blockHash and fromBlock/toBlock, choose one or the other"))
        }
        Some(hash) => bytes32(hash).map(Blocks::Hash).ok_or_else(|| invalid("Invalid block hash")),
    }
}

fn mode(filter: &Map<String, Value>) -> Result<JoinMode, Problem> {
    match member(filter, "mode").map(Value::as_str) {
        None | Some(Some("intersection")) => Ok(JoinMode::Intersection),
        Some(Some("union")) => Ok(JoinMode::Union),
        Some(_) => Err(invalid("invalid mode")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_form_of_a_filter_is_read() {
        let address = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";
        let filter = json!({"fromBlock": "0x1", "toBlock": 9, "fromAddress": [address, address], "toAddress": address,
                            "after": "0x10", "count": 5});
        let request = Request::read(&filter).expect("valid");
        assert_eq!(Some(request.blocks), BlockRange::new(1, 9).map(RangeEnds::of).map(Blocks::Range));
        let TraceList { scan, after, count } = request.list;
        assert_eq!((scan.participants.from.len(), scan.participants.to.len()), (1, 1));
        assert_eq!((scan.mode, after, count), (JoinMode::Intersection, 16, Some(5)));
        let filter = json!({"fromAddress": [], "count": null, "mode": null, "blockHash": null});
        let request = Request::read(&filter).expect("valid");
        let from_genesis = RangeEnds { from: Some(BlockName::Number(0)), to: None };
        assert_eq!(request, Request { blocks: Blocks::Range(from_genesis), list: TraceList::default() });
        let hash = B256::repeat_byte(7);
        let request = Request::read(&json!({"blockHash": hash, "mode": "union"})).expect("valid");
        assert_eq!((request.blocks, request.list.scan.mode), (Blocks::Hash(hash), JoinMode::Union));
    }

    #[test]
    fn wrong_filters_get_the_texts_of_the_contract() {
        for (filter, text) in [
            (json!([]), "Invalid params. The filter must be an object."),
            (json!({"fromBlock": "10"}), "invalid block number"),
            (json!({"toBlock": -1}), "invalid block number"),
            (json!({"fromAddress": "0x12"}), "invalid address"),
            (json!({"toAddress": [5]}), "invalid address"),
            (json!({"after": "5"}), "invalid after"),
            (json!({"count": -1}), "invalid count"),
            (json!({"mode": "any"}), "invalid mode"),
            (json!({"blockHash": "0x12"}), "Invalid block hash"),
            (
                json!({"blockHash": B256::ZERO, "toBlock": "latest"}),
                "cannot specify both blockHash and fromBlock/toBlock, choose one or the other",
            ),
        ] {
            assert_eq!(Request::read(&filter).expect_err("refused").to_string(), text, "{filter}");
        }
    }
}
