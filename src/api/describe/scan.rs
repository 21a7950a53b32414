//! The wide scan `/api/v2/logs`: what it takes, and what it answers in which format.

use serde_json::json;
use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, Required, ResponseBuilder};

use super::routes::{query, refusals, with};
use super::shape::{
    Shape, any_of, anything, boolean, count, hash, integer, list, map_of, named, null, nullable, open_record, pattern,
    plain_address, quantity, record, record_with, text, word,
};

/// Its path.
pub(super) const PATH: &str = "/api/v2/logs";

const JSON: &str = "application/json";

/// With the filter in the query.
pub(super) fn get() -> Operation {
    let words = |length: usize| pattern(&format!("^0x[0-9a-fA-F]{{{length}}}(,0x[0-9a-fA-F]{{{length}}})*$"));
    let end = || pattern("^(0x[0-9a-fA-F]{0,16}|[0-9]{1,19}|earliest|latest|pending|safe|finalized)$");
    let filter = [
        query("address", words(40), "emitters, separated by commas"),
        query("topic0", words(64), "words, any of which is at the first position"),
        query("topic1", words(64), "likewise at the second"),
        query("topic2", words(64), "likewise at the third"),
        query("topic3", words(64), "likewise at the fourth"),
        query("fromBlock", end(), "height or name of the first block; the head if not given"),
        query("toBlock", end(), "height or name of the last block; the head if not given"),
        query("blockHash", pattern("^0x[0-9a-fA-F]{64}$"), "the one block to look in, instead of a range"),
        query("apikey", text(), "taken and ignored"),
        query("key", text(), "taken and ignored"),
    ];
    let operation = scan("scan_logs", "Logs of a filter, however many, in several formats");
    filter.into_iter().fold(operation, OperationBuilder::parameter).build()
}

/// With the filter of eth_getLogs as the body.
pub(super) fn post() -> Operation {
    let content = ContentBuilder::new()
        .schema(Some(named("RpcLogFilter")))
        .example(Some(json!({"fromBlock": "earliest", "toBlock": "latest"})));
    let body = RequestBodyBuilder::new().required(Some(Required::True)).content(JSON, content.build()).build();
    scan("scan_logs_by_body", "The same, with the filter of eth_getLogs as the body").request_body(Some(body)).build()
}

fn scan(id: &str, summary: &str) -> OperationBuilder {
    let formats = ["json", "ndjson", "jsonl", "csv", "arrow", "parquet"];
    let whole = [
        ("application/x-ndjson", "a log a line; the last line is `{\"end\": …}`"),
        ("text/csv", "a header, a log a line; the last line is the mark behind `# `"),
        ("application/vnd.apache.arrow.stream", "an Arrow stream; whole if its end-of-stream message is there"),
        ("application/vnd.apache.parquet", "a Parquet file, whose footer holds the mark as `trawl.end`"),
    ];
    let any_text = || ContentBuilder::new().schema(Some(text())).build();
    let answer = with(JSON, "the logs, and a mark that says that they are all; or the plan", answer());
    let answer = whole.into_iter().fold(answer, |answer, (media, _)| answer.content(media, any_text()));
    let operation = OperationBuilder::new()
        .operation_id(Some(id))
        .tag("scans")
        .summary(Some(summary))
        .parameter(query("format", word(&formats), "instead of what Accept says; JSON if neither says anything"))
        .parameter(query("cursor", cursor_of(2), "goes on behind a log: the `cursor` of a mark"))
        .parameter(query("limit", integer(0, i64::MAX), "at most so many logs"))
        .parameter(query(
            "decode",
            pattern("^[A-Za-z_]+\\([a-z0-9]+( indexed)?( [a-z]+)?\\)$"),
            "an event, whose parameters get names: `Transfer(address indexed from, address indexed to, uint256 value)`",
        ))
        .parameter(query("explain", word(&["0", "1", "true", "false"]), "1: the plan instead of the logs"))
        .response("200", answer)
        .response("404", with(JSON, "blocks of the range are not loaded", missing()))
        .response("409", with(JSON, "the block of the cursor lost its place", forked()))
        .response("413", ResponseBuilder::new().description("the body is too long"))
        .response("422", with(JSON, "parameters are wrong", named("InvalidParameters")));
    refusals(operation, &["400", "414", "500", "503"])
}

fn answer() -> Shape {
    let values = nullable(map_of(anything()));
    let decoded =
        open_record(vec![("address", plain_address(), ""), ("decoded", values, "by name of parameter")], Vec::new());
    let items = any_of(vec![list(named("RpcLog")), list(decoded)]);
    let items = record(vec![("items", items, ""), ("end", end(), "")]);
    any_of(vec![items, plan()])
}

/// A cursor that begins with so many numbers.
pub(super) fn cursor_of(numbers: usize) -> Shape {
    pattern(&format!("^([0-9]{{1,19}}-){{{numbers}}}[0-9a-f]{{64}}-[0-9a-f]{{1,16}}$"))
}

fn range() -> Shape {
    record(vec![("fromBlock", quantity(), ""), ("toBlock", quantity(), "")])
}

pub(super) fn end() -> Shape {
    let height = || nullable(quantity());
    record(vec![
        ("complete", boolean(), "whether all blocks of the range are loaded"),
        ("count", count(), "rows of the answer"),
        ("fromBlock", height(), ""),
        ("toBlock", height(), ""),
        ("firstBlock", height(), "of the first row"),
        ("lastBlock", height(), "of the last row"),
        ("headBlock", height(), "the newest block, as of which this is the answer"),
        ("headHash", nullable(hash()), ""),
        ("missing", list(range()), "blocks of the range that are not loaded"),
        ("cursor", any_of(vec![null(), text()]), "goes on behind the last row"),
    ])
}

pub(super) fn missing() -> Shape {
    record(vec![("message", text(), ""), ("data", record(vec![("missing", list(range()), "")]), "")])
}

pub(super) fn forked() -> Shape {
    let data = record(vec![
        ("hash", hash(), "the block that lost its place"),
        ("forkBlock", nullable(quantity()), "the newest block that both branches have"),
        ("forkHash", nullable(hash()), ""),
    ]);
    record(vec![("message", text(), ""), ("data", data, "")])
}

/// What `explain=1` answers.
pub(super) fn plan() -> Shape {
    let reads = record(vec![
        ("table", text(), ""),
        ("parts", integer(0, i64::MAX), ""),
        ("granules", integer(0, i64::MAX), "at most"),
        ("rows", integer(0, i64::MAX), "of these granules"),
        ("bytes", integer(0, i64::MAX), "of these rows, uncompressed"),
    ]);
    record_with(
        vec![("plan", nullable(text()), "table and ranges of blocks")],
        vec![
            ("sql", text(), ""),
            ("parameters", map_of(anything()), ""),
            ("reads", list(reads), "what is read of each table"),
            ("explain", list(text()), "what the engine says of it"),
        ],
    )
}
