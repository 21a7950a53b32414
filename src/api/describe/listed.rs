//! The wide scans of internal transactions, token transfers and transactions: what they take, and what they answer.

use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::{ContentBuilder, ResponseBuilder};

use super::routes::{query, refusals, with};
use super::scan::{cursor_of, end, forked, missing, plan};
use super::shape::{
    Field, Shape, any_of, bytes, hash, integer, list, named, nullable, pattern, plain_address, quantity, record, text,
    word,
};
use trawl_core::schema::{BlockTokenTransferRow, ScannedInternalTransaction, ScannedTransaction};
use trawl_json::scanned::{Kind, Shown};

const JSON: &str = "application/json";

/// Each with its path.
pub(super) fn all() -> Vec<(&'static str, Operation)> {
    let standards = "[Ee][Rr][Cc]-(20|721|1155|404|7984)";
    let tokens = [
        query("token", addresses(), "only of these tokens, separated by commas"),
        query("type", pattern(&format!("^({standards}(,{standards})*)?$")), "only of these standards"),
    ];
    let transfers =
        scan::<BlockTokenTransferRow>("scan_token_transfers", "Token transfers by participant and blocks", 3);
    vec![
        (
            "/api/v2/internal-transactions",
            scan::<ScannedInternalTransaction>(
                "scan_internal_transactions",
                "Call frames by participant and blocks",
                3,
            )
            .build(),
        ),
        ("/api/v2/token-transfers", tokens.into_iter().fold(transfers, OperationBuilder::parameter).build()),
        (
            "/api/v2/transactions",
            scan::<ScannedTransaction>("scan_transactions", "Transactions by sender, recipient and blocks", 2).build(),
        ),
    ]
}

fn addresses() -> Shape {
    pattern("^0x[0-9a-fA-F]{40}(,0x[0-9a-fA-F]{40})*$")
}

/// A scan whose cursors begin with so many numbers.
fn scan<R: Shown>(id: &str, summary: &str, numbers: usize) -> OperationBuilder {
    let height = || pattern("^(0x[0-9a-fA-F]{0,16}|[0-9]{1,19}|earliest|latest|pending|safe|finalized)$");
    let formats = ["json", "ndjson", "jsonl", "csv", "arrow", "parquet"];
    let parameters = [
        query("address", addresses(), "who takes part on any side, separated by commas"),
        query("fromAddress", addresses(), "who gives, calls or creates"),
        query("toAddress", addresses(), "who receives, is called or created"),
        query("fromBlock", height(), "height or name of the first block; the head if not given"),
        query("toBlock", height(), "height or name of the last block; the head if not given"),
        query("format", word(&formats), "instead of what Accept says; JSON if neither says anything"),
        query("cursor", cursor_of(numbers), "goes on behind a row: the `cursor` of a mark"),
        query("limit", integer(0, i64::MAX), "at most so many rows"),
        query("explain", word(&["0", "1", "true", "false"]), "1: the plan instead of the rows"),
        query("apikey", text(), "taken and ignored"),
        query("key", text(), "taken and ignored"),
    ];
    let answer = any_of(vec![record(vec![("items", list(item::<R>()), ""), ("end", end(), "")]), plan()]);
    let answer = with(JSON, "the rows, and a mark that says that they are all", answer);
    let media =
        ["application/x-ndjson", "text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"];
    let any_text = || ContentBuilder::new().schema(Some(text())).build();
    let add = |answer: ResponseBuilder, media: &str| answer.content(media, any_text());
    let operation = OperationBuilder::new()
        .operation_id(Some(id))
        .tag("scans")
        .summary(Some(summary))
        .response("200", media.into_iter().fold(answer, add))
        .response("404", with(JSON, "blocks of the range are not loaded", missing()))
        .response("409", with(JSON, "the block of the cursor lost its place", forked()))
        .response("422", with(JSON, "parameters are wrong", named("InvalidParameters")));
    let operation = parameters.into_iter().fold(operation, OperationBuilder::parameter);
    refusals(operation, &["400", "414", "500", "503"])
}

/// A row, as its fields say.
fn item<R: Shown>() -> Shape {
    let fields = R::FIELDS.iter().map(|field| -> Field {
        let shape = match field.kind {
            Kind::Number | Kind::Wide | Kind::Time => quantity(),
            Kind::Address => plain_address(),
            Kind::Word => hash(),
            Kind::Bytes => bytes(),
            Kind::Text => text(),
        };
        (field.name, nullable(shape), "")
    });
    record(fields.collect())
}
