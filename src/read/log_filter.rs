//! Filters of logs in the form of JSON-RPC (docs/reference/http-contract.md#log-filters): parsed, and resolved against
//! the chain.

use serde_json::{Map, Value};

use crate::app::App;
use crate::error::Problem;
use crate::http::values::{BlockName, MAX_ALTERNATIVES, addresses, bytes32, hex_number, invalid, member, range_end};
use crate::options::Gaps;
use trawl_core::primitives::{B256, BlockRange, LogFilter, LogPosition, TopicFilter};
use trawl_core::readable::Span as Blocks;
use trawl_core::schema::LogView;
use trawl_core::store::Head;
use trawl_query::logs::LogPage;

/// The blocks that a filter covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// The block with this hash.
    Hash(B256),
    /// From one block to another; an absent end means the head.
    Range { from: Option<BlockName>, to: Option<BlockName> },
}

/// A parsed filter object that has not been resolved against the chain yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    filter: LogFilter,
    span: Span,
    after: Option<LogPosition>,
}

/// The blocks of a request, resolved against the chain.
#[derive(Debug)]
pub(crate) struct Scope {
    range: Option<BlockRange>,
    missing: Vec<BlockRange>,
    blocks: Blocks,
    hash: Option<B256>,
}

impl Scope {
    /// The whole range; `None` if a block name at one end means no block yet.
    pub fn range(&self) -> Option<BlockRange> {
        self.range
    }

    /// Ranges whose logs are not indexed; empty unless the options allow gaps.
    pub fn missing(&self) -> &[BlockRange] {
        &self.missing
    }

    /// The read of the readable blocks; `None` if there are none.
    pub fn page(&self, request: &Request) -> Option<LogPage> {
        if self.blocks.is_empty() {
            return None;
        }
        let page = LogPage::new(request.filter.clone(), self.blocks.clone(), 0);
        Some(match self.hash {
            Some(hash) => page.of_block(hash),
            None => page,
        })
    }

    /// The blocks of `range` whose logs are readable. Unless the options allow gaps, a range with gaps is refused: a
    /// short answer would look like a complete one.
    fn of(app: &App, range: BlockRange, head: &Head) -> Result<Self, Problem> {
        let missing = head.receipts.missing(range);
        if !missing.is_empty() && app.options().gaps == Gaps::Refuse {
            return Err(Problem::BlocksMissing(missing));
        }
        Ok(Self { range: Some(range), missing, blocks: head.receipts.within(range), hash: None })
    }

    fn nothing() -> Self {
        Self { range: None, missing: Vec::new(), blocks: Blocks::default(), hash: None }
    }
}

impl Request {
    /// The emitters and topics.
    pub fn filter(&self) -> &LogFilter {
        &self.filter
    }

    /// The position after which to resume.
    pub fn after(&self) -> Option<LogPosition> {
        self.after
    }

    /// The same filter over those of some blocks that it names; `None` if it names none of them. A name counts as the
    /// chain's end on its side.
    pub fn within(&self, blocks: BlockRange) -> Option<Self> {
        let Span::Range { from, to } = self.span else { return None };
        let first = match from {
            Some(BlockName::Number(number)) => number,
            _ => 0,
        };
        let last = match to {
            Some(BlockName::Number(number)) => number,
            _ => u64::MAX,
        };
        let range = BlockRange::new(first, last)?.intersection(blocks)?;
        let end = |number| Some(BlockName::Number(number));
        Some(Self { span: Span::Range { from: end(range.first()), to: end(range.last()) }, ..self.clone() })
    }

    /// Resolves the blocks of the request.
    ///
    /// # Errors
    ///
    /// When the range or hash is wrong, or, unless the options allow gaps, when logs of the range are missing.
    pub async fn scope(&self, app: &App, head: &Head) -> Result<Scope, Problem> {
        let (from, to) = match self.span {
            Span::Hash(hash) => {
                let number = app.block_with_hash(&hash, head).await?.ok_or(Problem::UnknownBlockHash)?;
                return Ok(Scope { hash: Some(hash), ..Scope::of(app, BlockRange::single(number), head)? });
            }
            Span::Range { from, to } => (from, to),
        };
        let Some(newest) = head.number() else { return Ok(Scope::nothing()) };
        let (first, last) = (from.unwrap_or(BlockName::Head).number(head), to.unwrap_or(BlockName::Head).number(head));
        // A name that means no block: nothing is final yet.
        let (Some(first), Some(last)) = (first, last) else { return Ok(Scope::nothing()) };
        let range = BlockRange::new(first, last).ok_or_else(|| invalid("invalid block range params"))?;
        if last > newest {
            return Err(invalid("block range extends beyond current head block"));
        }
        Scope::of(app, range, head)
    }
}

/// Parses the emitters and topics of a subscription; its filter has no blocks.
///
/// # Errors
///
/// When a member has a wrong value.
pub(crate) fn emitters_and_topics(filter: &Value) -> Result<LogFilter, Problem> {
    let filter = filter.as_object().ok_or_else(|| invalid("Invalid params. The filter must be an object."))?;
    Ok(LogFilter { addresses: addresses(member(filter, "address"))?, topics: topics(member(filter, "topics"))? })
}

/// Whether a log matches a filter, whose alternatives are in order.
pub(crate) fn selects(filter: &LogFilter, logs: &LogView<'_>, row: usize) -> bool {
    let topics = [&logs.topic0, &logs.topic1, &logs.topic2, &logs.topic3].map(|column| column.bytes(row));
    let emitter = logs.address.bytes(row);
    let is_emitter =
        filter.addresses.is_empty() || filter.addresses.binary_search_by(|one| one.as_slice().cmp(emitter)).is_ok();
    let has_topics = filter.topics.len() <= logs.topics_count[row].into();
    let matches = |(values, topic): (&TopicFilter, &&[u8; 32])| {
        values.is_empty() || values.binary_search_by(|one| one.as_slice().cmp(topic.as_slice())).is_ok()
    };
    is_emitter && has_topics && filter.topics.iter().zip(&topics).all(matches)
}

impl Request {
    /// Parses a filter object from its JSON text.
    ///
    /// # Errors
    ///
    /// Those of [`Request::read`].
    pub fn of_text(text: &str) -> Result<Self, Problem> {
        Self::read(&serde_json::from_str(text).unwrap_or_default())
    }

    /// Parses a filter object.
    ///
    /// # Errors
    ///
    /// When a member has a wrong value.
    pub fn read(filter: &Value) -> Result<Self, Problem> {
        let filter = filter.as_object().ok_or_else(|| invalid("Invalid params. The filter must be an object."))?;
        Ok(Self {
            span: span(filter)?,
            filter: LogFilter {
                addresses: addresses(member(filter, "address"))?,
                topics: topics(member(filter, "topics"))?,
            },
            after: paging(member(filter, "paging_options"))?,
        })
    }
}

#[cfg(fuzzing)]
impl Request {
    /// A filter object that is parsed to the same request.
    pub fn written(&self) -> Value {
        let mut filter = serde_json::json!({"address": self.filter.addresses, "topics": self.filter.topics});
        match self.span {
            Span::Hash(hash) => filter["blockHash"] = serde_json::json!(hash),
            Span::Range { from, to } => {
                filter["fromBlock"] = from.map_or(Value::Null, crate::http::values::written);
                filter["toBlock"] = to.map_or(Value::Null, crate::http::values::written);
            }
        }
        if let Some(after) = self.after {
            filter["paging_options"] =
                serde_json::json!({"blockNumber": after.block_number, "logIndex": format!("{:x}", after.log_index)});
        }
        filter
    }
}

fn span(filter: &Map<String, Value>) -> Result<Span, Problem> {
    let block = |key| {
        member(filter, key).map(|value| range_end(value).ok_or_else(|| invalid("invalid block number"))).transpose()
    };
    let (from, to) = (block("fromBlock")?, block("toBlock")?);
    match member(filter, "blockHash") {
        None => Ok(Span::Range { from, to }),
        Some(_) if from.is_some() || to.is_some() => {
            Err(invalid("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other"))
        }
        Some(hash) => bytes32(hash).map(Span::Hash).ok_or_else(|| invalid("Invalid block hash")),
    }
}

fn topics(given: Option<&Value>) -> Result<Vec<TopicFilter>, Problem> {
    let positions = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(positions)) if positions.len() <= 4 => positions,
        Some(_) => return Err(invalid("invalid topics")),
    };
    positions.iter().map(topic).collect()
}

/// The topics that one position allows: any for `null` and `[]`, one for a topic, several for a list of topics.
fn topic(position: &Value) -> Result<TopicFilter, Problem> {
    let wrong = || invalid("invalid topics");
    let mut topics = match position {
        Value::Null => Vec::new(),
        // A null among alternatives allows any topic, as on nodes.
        Value::Array(list) if list.iter().any(Value::is_null) => Vec::new(),
        Value::Array(list) if list.len() > MAX_ALTERNATIVES => {
            return Err(Problem::TooManyAlternatives { limit: MAX_ALTERNATIVES });
        }
        Value::Array(list) => list.iter().map(|one| bytes32(one).ok_or_else(wrong)).collect::<Result<Vec<_>, _>>()?,
        one => vec![bytes32(one).ok_or_else(wrong)?],
    };
    topics.sort_unstable();
    topics.dedup();
    Ok(topics)
}

/// The position after which to resume; both members are required, further ones are ignored.
fn paging(given: Option<&Value>) -> Result<Option<LogPosition>, Problem> {
    let Some(options) = given else { return Ok(None) };
    let options = options.as_object().ok_or_else(|| invalid("invalid paging options"))?;
    let number =
        |key, text| member(options, key).map(|value| paging_number(value).ok_or_else(|| invalid(text))).transpose();
    let block_number = number("blockNumber", "invalid block number")?;
    let log_index = number("logIndex", "invalid log index")?;
    match (block_number, log_index) {
        (Some(block_number), Some(log_index)) => Ok(Some(LogPosition { block_number, log_index })),
        (None, None) => Ok(None),
        _ => Err(invalid("paging options need both blockNumber and logIndex")),
    }
}

/// Hexadecimal text, with or without `0x`, or a JSON integer.
fn paging_number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => {
            let digits = text.strip_prefix("0x").unwrap_or(text);
            (!digits.is_empty()).then(|| hex_number(digits)).flatten()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn error(filter: Value) -> String {
        Request::read(&filter).expect_err("refused").to_string()
    }

    #[test]
    fn every_form_of_a_filter_is_read() {
        let token = "0x7dcd17433742f4c0ca53122ab541d0ba67fc27df";
        let topic = format!("0x{}", "ab".repeat(32));
        let request = Request::read(&json!({
            "address": [token.to_uppercase().replace("0X", "0x"), token],
            "topics": [null, [], topic, [topic, topic], ],
            "fromBlock": "0x1",
            "paging_options": {"blockNumber": "6423AC", "logIndex": "0x3D", "transactionIndex": 1},
        }))
        .expect("valid");
        assert_eq!(request.filter.addresses.len(), 1);
        assert_eq!(request.filter.topics.iter().map(Vec::len).collect::<Vec<_>>(), [0, 0, 1, 1]);
        assert_eq!(request.after, Some(LogPosition { block_number: 0x0064_23ac, log_index: 0x3d }));
        assert_eq!(request.span, Span::Range { from: Some(BlockName::Number(1)), to: None });
        assert_eq!(
            Request::read(&json!({"fromBlock": 0, "toBlock": u64::MAX})).expect("valid").span,
            Span::Range { from: Some(BlockName::Number(0)), to: Some(BlockName::Number(u64::MAX)) }
        );
        assert_eq!(
            Request::read(&json!({"topics": [], "address": [], "blockHash": null})).expect("valid").filter,
            LogFilter::default()
        );
        let nothing = json!({"paging_options": {"blockNumber": null, "logIndex": null}});
        assert_eq!(Request::read(&nothing).expect("valid").after, None);
    }

    #[test]
    fn a_filter_is_narrowed_to_new_blocks() {
        let blocks = |first, last| BlockRange::new(first, last).expect("ordered");
        let narrowed = |filter: Value| {
            let request = Request::read(&filter).expect("valid").within(blocks(10, 20))?;
            Some((request.span, request.filter.topics.len()))
        };
        let span = |from, to| Span::Range { from: Some(BlockName::Number(from)), to: Some(BlockName::Number(to)) };
        assert_eq!(narrowed(json!({"topics": [null]})), Some((span(10, 20), 1)));
        assert_eq!(narrowed(json!({"fromBlock": "latest", "toBlock": "latest"})), Some((span(10, 20), 0)));
        assert_eq!(narrowed(json!({"fromBlock": "0xc", "toBlock": "0xf"})), Some((span(12, 15), 0)));
        assert_eq!(narrowed(json!({"fromBlock": "0x1", "toBlock": "0x9"})), None);
        assert_eq!(narrowed(json!({"blockHash": format!("0x{}", "ab".repeat(32))})), None);
    }

    #[test]
    fn wrong_filters_get_the_texts_of_the_contract() {
        let hash = format!("0x{}", "ab".repeat(32));
        assert_eq!(error(json!({"address": "0x12"})), "invalid address");
        assert_eq!(error(json!({"address": [[]]})), "invalid address");
        assert_eq!(error(json!({"topics": ["0x12"]})), "invalid topics");
        assert_eq!(error(json!({"topics": [null, null, null, null, null]})), "invalid topics");
        assert_eq!(error(json!({"topics": hash})), "invalid topics");
        assert_eq!(error(json!({"fromBlock": "10"})), "invalid block number");
        for bad in [json!(-1), json!(1.5), json!(1.0), json!(1e30), json!([1]), json!(true)] {
            assert_eq!(error(json!({"toBlock": bad})), "invalid block number", "{bad}");
        }
        assert_eq!(error(json!({"blockHash": "0x12"})), "Invalid block hash");
        assert!(error(json!({"blockHash": hash, "fromBlock": "0x1"})).starts_with("cannot specify both"));
        assert_eq!(
            error(json!({"paging_options": {"blockNumber": "1"}})),
            "paging options need both blockNumber and logIndex"
        );
        assert_eq!(error(json!({"paging_options": {"blockNumber": "1", "logIndex": "x"}})), "invalid log index");
        assert_eq!(error(json!([])), "Invalid params. The filter must be an object.");
    }
}
