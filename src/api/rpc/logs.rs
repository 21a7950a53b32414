//! eth_getLogs: the filter in all its forms, and the answer as it streams (behaviour reference, section 4.5).

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::methods::Answer;
use super::params::{BlockName, address, block_name, hex_number, invalid, value, word};
use super::{Broken, Sink};
use crate::api::{App, Gaps, Problem};
use crate::json::JsonWriter;
use crate::json::logs::write_rpc_log;
use crate::primitives::{
    Address, B256, BlockNumber, BlockRange, HotRange, LogFilter, LogPosition, Span as Blocks, TopicFilter,
};
use crate::query::logs::LogPage;
use crate::schema::{LogRow, LogView};
use crate::store::{Batch, Head, Rows};

pub(super) const METHODS: &[&str] = &["eth_getLogs"];

/// Logs that are read at a time. Where an answer may have more, it is put together from pages, each behind the last log
/// of the one before, so that neither this server nor the database holds more than one.
const PAGE: u64 = 5_000;

/// Most addresses, and most words at one topic position, as nodes commonly allow.
const MAX_ALTERNATIVES: usize = 1000;

/// Which blocks a filter covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Span {
    /// The block with this hash.
    Hash(B256),
    /// From one block to another; not given means the head.
    Range { from: Option<BlockName>, to: Option<BlockName> },
}

/// A filter object that was read, but not yet held against the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Request {
    filter: LogFilter,
    span: Span,
    after: Option<LogPosition>,
}

/// Logs on their way from the store.
pub(super) struct LogsAnswer {
    app: App,
    pages: Option<Pages>,
}

/// A read that goes on where it ended.
struct Pages {
    rows: Rows<LogRow>,
    page: LogPage,
    /// Logs that may be written in all; `None` for all there are.
    left: Option<u64>,
    /// For several pages: the highest block that is not settled.
    tip: Option<(BlockNumber, B256)>,
}

impl LogsAnswer {
    /// Writes the array, handing over full chunks on the way. A failure breaks the answer off.
    pub async fn write<S: Sink>(self, writer: &mut JsonWriter, sink: &S) -> Result<(), Broken> {
        writer.raw("[");
        if let Some(pages) = self.pages {
            pages.write(&self.app, writer, sink).await?;
        }
        writer.raw("]");
        Ok(())
    }
}

impl Pages {
    async fn write<S: Sink>(mut self, app: &App, writer: &mut JsonWriter, sink: &S) -> Result<(), Broken> {
        let mut count = 0;
        loop {
            let (before, mut last) = (count, None);
            let mut held = self.gather(app).await?.into_iter();
            while let Some(batch) = match held.next() {
                Some(batch) => Some(batch),
                None => self.rows.next().await.map_err(Problem::from)?,
            } {
                let view = batch.view();
                for row in 0..batch.len() {
                    if count > 0 {
                        writer.raw(",");
                    }
                    write_rpc_log(writer, &view, row);
                    count += 1;
                    sink.flush_if_full(writer).await?;
                }
                last = batch.len().checked_sub(1).map(|row| position(&view, row));
            }
            let is_full = count - before == self.page.limit;
            let left = self.left.map(|left| left.saturating_sub(count));
            if !is_full || left == Some(0) {
                return Ok(());
            }
            self.page = self.page.after(last);
            self.page.limit = left.map_or(PAGE, |left| left.min(PAGE));
            self.rows = app.reader().stream(&self.page.statement()).await.map_err(Problem::from)?;
        }
    }

    /// A page that reaches into blocks which are not settled, whole before any of it is written: their rows are removed
    /// some time after they were settled, so what was read counts only if they are where they were. If they moved, the
    /// page is read again where they are now, provided that the branch is the same. Empty for any other page.
    async fn gather(&mut self, app: &App) -> Result<Vec<Batch<LogRow>>, Problem> {
        let Some((number, hash)) = self.tip else { return Ok(Vec::new()) };
        for _ in 0..ATTEMPTS {
            let mut batches = Vec::new();
            while let Some(batch) = self.rows.next().await? {
                batches.push(batch);
            }
            let now = Head::load(app.reader()).await?;
            if are_there(&self.page.blocks().hot, &now) {
                return Ok(batches);
            }
            if hash_of(app, &now.blocks.at(number)).await? != Some(hash) {
                return Err(Problem::Busy);
            }
            let first = self.page.blocks().settled.first().map(|range| range.first());
            let first_hot = self.page.blocks().hot.first().map(|range| range.blocks.first());
            let lowest = first.into_iter().chain(first_hot).min().unwrap_or(number);
            let moved = BlockRange::new(lowest, number).map(|range| now.receipts.within(range)).unwrap_or_default();
            self.page = self.page.clone().over(moved);
            self.rows = app.reader().stream(&self.page.statement()).await?;
        }
        Err(Problem::Busy)
    }
}

/// How often a page is read whose blocks move meanwhile.
const ATTEMPTS: u32 = 5;

/// Whether blocks are still in the tables of those that are not settled.
fn are_there(hot: &[HotRange], now: &Head) -> bool {
    hot.iter().all(|range| {
        let mut numbers = range.blocks.first()..=range.blocks.last();
        numbers.all(|number| now.receipts.generation(number) == Some(range.generation))
    })
}

/// The hash of the block of a span of one.
async fn hash_of(app: &App, block: &Blocks) -> Result<Option<B256>, Problem> {
    Ok(app.reader().rows(&crate::query::blocks::hashes(block)).await?.pop().map(|block| block.hash))
}

/// The highest block of a page that is not settled, with its hash, which names the whole branch; `None` if there is none.
async fn tip(app: &App, page: &LogPage) -> Result<Option<(BlockNumber, B256)>, Problem> {
    let Some(range) = page.blocks().hot.last() else { return Ok(None) };
    let top = HotRange { blocks: BlockRange::single(range.blocks.last()), ..*range };
    let span = Blocks { settled: Vec::new(), hot: vec![top] };
    let hash = hash_of(app, &span).await?.ok_or(Problem::Busy)?;
    Ok(Some((range.blocks.last(), hash)))
}

fn position(logs: &LogView<'_>, row: usize) -> LogPosition {
    LogPosition { block_number: logs.block_number[row], log_index: logs.log_index[row].into() }
}

/// Logs that match a filter, ascending, at most as many as the options allow.
pub(super) async fn get_logs(app: &App, filter: &RawValue) -> Result<Answer, Problem> {
    let request = Request::read(&value(filter))?;
    let head = app.head()?;
    let answer = |pages| Answer::Logs(Box::new(LogsAnswer { app: app.clone(), pages }));
    let Some(page) = page(app, &request, &head).await? else { return Ok(answer(None)) };
    let page = page.after(request.after);
    let left = app.options().max_logs;
    let tip = if left.is_some_and(|left| left <= PAGE) { None } else { tip(app, &page).await? };
    let rows = app.reader().stream(&page.statement()).await?;
    Ok(answer(Some(Pages { rows, page, left, tip })))
}

/// Logs of the first read: all that are allowed, if that is no more than a page.
fn first_page(app: &App) -> u64 {
    app.options().max_logs.map_or(PAGE, |most| most.min(PAGE))
}

/// The read that answers `request`; `None` if the chain has nothing yet.
async fn page(app: &App, request: &Request, head: &Head) -> Result<Option<LogPage>, Problem> {
    let (from, to) = match request.span {
        Span::Hash(hash) => {
            let number = app.block_with_hash(&hash, head).await?.ok_or_else(|| invalid("Invalid block hash"))?;
            let blocks = readable(app, BlockRange::single(number), head)?;
            return Ok(Some(LogPage::new(request.filter.clone(), blocks, first_page(app)).of_block(hash)));
        }
        Span::Range { from, to } => (from, to),
    };
    let Some(newest) = head.number() else { return Ok(None) };
    let (first, last) = (from.unwrap_or(BlockName::Head).number(head), to.unwrap_or(BlockName::Head).number(head));
    // A name that means no block: nothing is final yet.
    let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
    let range = BlockRange::new(first, last).ok_or_else(|| invalid("invalid block range params"))?;
    if last > newest {
        return Err(invalid("block range extends beyond current head block"));
    }
    if request.filter.selects_everything() && range.count() > app.options().max_unfiltered_blocks {
        return Err(invalid("Must supply one of address and topics"));
    }
    let blocks = readable(app, range, head)?;
    Ok((!blocks.is_empty()).then(|| LogPage::new(request.filter.clone(), blocks, first_page(app))))
}

/// The blocks of `range` whose logs are there. Unless told otherwise, a range with holes is refused: a short
/// answer would look like a complete one.
fn readable(app: &App, range: BlockRange, head: &Head) -> Result<Blocks, Problem> {
    let missing = head.receipts.missing(range);
    if !missing.is_empty() && app.options().gaps == Gaps::Refuse {
        return Err(Problem::BlocksMissing(missing));
    }
    Ok(head.receipts.within(range))
}

/// The emitters and topics that a subscription wants; which blocks is not asked (their time is to come).
pub(super) fn emitters_and_topics(filter: &Value) -> Result<LogFilter, Problem> {
    let filter = filter.as_object().ok_or_else(|| invalid("Invalid params. The filter must be an object."))?;
    Ok(LogFilter { addresses: addresses(given(filter, "address"))?, topics: topics(given(filter, "topics"))? })
}

impl Request {
    fn read(filter: &Value) -> Result<Self, Problem> {
        let filter = filter.as_object().ok_or_else(|| invalid("Invalid params. The filter must be an object."))?;
        Ok(Self {
            span: span(filter)?,
            filter: LogFilter {
                addresses: addresses(given(filter, "address"))?,
                topics: topics(given(filter, "topics"))?,
            },
            after: paging(given(filter, "paging_options"))?,
        })
    }
}

/// A member that is there and not null.
fn given<'a>(filter: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    filter.get(key).filter(|value| !value.is_null())
}

fn span(filter: &Map<String, Value>) -> Result<Span, Problem> {
    let block = |key| {
        given(filter, key).map(|value| range_end(value).ok_or_else(|| invalid("invalid block number"))).transpose()
    };
    let (from, to) = (block("fromBlock")?, block("toBlock")?);
    match given(filter, "blockHash") {
        None => Ok(Span::Range { from, to }),
        Some(_) if from.is_some() || to.is_some() => {
            Err(invalid("cannot specify both BlockHash and FromBlock/ToBlock, choose one or the other"))
        }
        Some(hash) => word(hash).map(Span::Hash).ok_or_else(|| invalid("Invalid block hash")),
    }
}

/// One end of a range. Here, and nowhere else, a height may also be a JSON integer, as clients of this API family send it.
fn range_end(value: &Value) -> Option<BlockName> {
    match value {
        Value::Number(number) => number.as_u64().map(BlockName::Number),
        other => block_name(other),
    }
}

fn addresses(given: Option<&Value>) -> Result<Vec<Address>, Problem> {
    let wrong = || invalid("invalid address");
    let mut addresses: Vec<Address> = match given {
        None => Vec::new(),
        Some(Value::Array(list)) => list.iter().map(|one| address(one).ok_or_else(wrong)).collect::<Result<_, _>>()?,
        Some(one) => vec![address(one).ok_or_else(wrong)?],
    };
    addresses.sort_unstable();
    addresses.dedup();
    if addresses.len() > MAX_ALTERNATIVES {
        return Err(invalid("exceed max addresses: 1000"));
    }
    Ok(addresses)
}

fn topics(given: Option<&Value>) -> Result<Vec<TopicFilter>, Problem> {
    let positions = match given {
        None => return Ok(Vec::new()),
        Some(Value::Array(positions)) if positions.len() <= 4 => positions,
        Some(_) => return Err(invalid("invalid topics")),
    };
    positions.iter().map(topic).collect()
}

/// What one position allows: `null` and `[]` anything, a word itself, a list any of its words.
fn topic(position: &Value) -> Result<TopicFilter, Problem> {
    let wrong = || invalid("invalid topics");
    let mut words = match position {
        Value::Null => Vec::new(),
        // A null among alternatives allows anything, as nodes read it.
        Value::Array(list) if list.iter().any(Value::is_null) => Vec::new(),
        Value::Array(list) if list.len() > MAX_ALTERNATIVES => return Err(invalid("exceed max topics: 1000")),
        Value::Array(list) => list.iter().map(|one| word(one).ok_or_else(wrong)).collect::<Result<Vec<_>, _>>()?,
        one => vec![word(one).ok_or_else(wrong)?],
    };
    words.sort_unstable();
    words.dedup();
    Ok(words)
}

/// The place behind which to go on; both members are required, further ones are ignored.
fn paging(given: Option<&Value>) -> Result<Option<LogPosition>, Problem> {
    let Some(options) = given else { return Ok(None) };
    let options = options.as_object().ok_or_else(|| invalid("invalid paging options"))?;
    let number =
        |key, text| options.get(key).map(|value| paging_number(value).ok_or_else(|| invalid(text))).transpose();
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
        let word = format!("0x{}", "ab".repeat(32));
        let request = Request::read(&json!({
            "address": [token.to_uppercase().replace("0X", "0x"), token],
            "topics": [null, [], word, [word, word], ],
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
    }

    #[test]
    fn wrong_filters_get_the_ruled_texts() {
        let word = format!("0x{}", "ab".repeat(32));
        assert_eq!(error(json!({"address": "0x12"})), "invalid address");
        assert_eq!(error(json!({"address": [[]]})), "invalid address");
        assert_eq!(error(json!({"topics": ["0x12"]})), "invalid topics");
        assert_eq!(error(json!({"topics": [null, null, null, null, null]})), "invalid topics");
        assert_eq!(error(json!({"topics": word})), "invalid topics");
        assert_eq!(error(json!({"fromBlock": "10"})), "invalid block number");
        for bad in [json!(-1), json!(1.5), json!(1.0), json!(1e30), json!([1]), json!(true)] {
            assert_eq!(error(json!({"toBlock": bad})), "invalid block number", "{bad}");
        }
        assert_eq!(error(json!({"blockHash": "0x12"})), "Invalid block hash");
        assert!(error(json!({"blockHash": word, "fromBlock": "0x1"})).starts_with("cannot specify both"));
        assert_eq!(
            error(json!({"paging_options": {"blockNumber": "1"}})),
            "paging options need both blockNumber and logIndex"
        );
        assert_eq!(error(json!({"paging_options": {"blockNumber": "1", "logIndex": "x"}})), "invalid log index");
        assert_eq!(error(json!([])), "Invalid params. The filter must be an object.");
    }
}
