//! Every route: its parameters, as the handlers declare them, and all that it may answer.

use serde_json::json;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, Paths};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::{ContentBuilder, PathItem, PathsBuilder, Required, ResponseBuilder};

use super::calls;
use super::listed;
use super::objects::page;
use super::scan;
use super::shape::{
    Field, Shape, boolean, count, hash, integer, list, named, nullable, open_record, pattern, record, text, word,
};
use crate::rest::addresses;
use crate::rest::blocks;
use crate::rest::params::Declared;
use crate::rest::params::Kind;
use crate::rest::params::MAX_COUNT;
use crate::rest::summary;
use crate::rest::transactions;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// All routes.
pub(super) fn all() -> Paths {
    let paths = PathsBuilder::new();
    let paths = lists()
        .into_iter()
        .chain(listed::all())
        .chain(service())
        .fold(paths, |paths, (path, operation)| paths.path(path, PathItem::new(HttpMethod::Get, operation)));
    let paths = paths
        .path(scan::PATH, PathItem::new(HttpMethod::Get, scan::get()))
        .path(scan::PATH, PathItem::new(HttpMethod::Post, scan::post()));
    let calls = ["/api/eth-rpc", "/api/v1/eth-rpc"];
    calls
        .into_iter()
        .fold(paths, |paths, path| paths.path(path, PathItem::new(HttpMethod::Post, json_rpc(path))))
        .build()
}

/// What a list endpoint is in words.
struct Told {
    id: &'static str,
    tag: &'static str,
    summary: &'static str,
}

type Route = (&'static str, Operation);

/// The eight endpoints of the specification.
fn lists() -> Vec<Route> {
    let counted = |names: &[&'static str]| -> Vec<Field> {
        names.iter().chain(&["items_count"]).map(|name| (*name, count(), "")).collect()
    };
    let batch = vec![
        ("batch_log_index", count(), "only where a page ends inside a batch, like the following"),
        ("batch_block_hash", hash(), ""),
        ("batch_transaction_hash", hash(), ""),
        ("index_in_batch", count(), ""),
    ];
    let transfers_cursor = vec![("block_number", count(), ""), ("index", count(), "")];
    let told = |id, tag, summary| Told { id, tag, summary };
    vec![
        list_of(
            "/api/v2/blocks",
            &told("blocks", "blocks", "Blocks, uncles or blocks that lost their place, newest first"),
            blocks::LIST,
            page("Block", counted(&["block_number"]), Vec::new()),
        ),
        list_of(
            "/api/v2/blocks/{block_number_or_hash}/withdrawals",
            &told("block_withdrawals", "blocks", "Withdrawals of a block, highest index first"),
            blocks::WITHDRAWALS,
            page("BlockWithdrawal", counted(&["index"]), Vec::new()),
        ),
        list_of(
            "/api/v2/transactions/{transaction_hash}/logs",
            &told("transaction_logs", "transactions", "Logs of a transaction, ascending"),
            transactions::LOGS,
            page("Log", counted(&["block_number", "index"]), Vec::new()),
        ),
        list_of(
            "/api/v2/transactions/{transaction_hash}/raw-trace",
            &told("raw_trace", "transactions", "Call frames of a transaction in Parity's shape, in order of execution"),
            &[],
            list(named("Frame")),
        ),
        list_of(
            "/api/v2/transactions/{transaction_hash}/summary",
            &told("transaction_summary", "transactions", "What a transaction did, in a sentence; null if it failed"),
            summary::SUMMARY,
            nullable(named("Summary")),
        ),
        list_of(
            "/api/v2/addresses/{address_hash}/internal-transactions",
            &told("address_internal_transactions", "addresses", "Call frames an address takes part in, newest first"),
            addresses::INTERNAL_TRANSACTIONS,
            page("InternalTransaction", counted(&["block_number", "transaction_index", "index"]), Vec::new()),
        ),
        list_of(
            "/api/v2/addresses/{address_hash}/token-transfers",
            &told("address_token_transfers", "addresses", "Token transfers an address takes part in, newest first"),
            addresses::TOKEN_TRANSFERS,
            page("TokenTransfer", transfers_cursor, batch),
        ),
        list_of(
            "/api/v2/addresses/{address_hash}/withdrawals",
            &told("address_withdrawals", "addresses", "Withdrawals to an address, highest index first"),
            addresses::WITHDRAWALS,
            page("AddressWithdrawal", counted(&["index"]), Vec::new()),
        ),
    ]
}

fn list_of(path: &'static str, told: &Told, declared: Declared, answer: Shape) -> Route {
    let operation = OperationBuilder::new()
        .operation_id(Some(told.id))
        .tag(told.tag)
        .summary(Some(told.summary))
        .response("200", with(JSON, "the answer", answer))
        .response("304", ResponseBuilder::new().description("the client has it: its If-None-Match names it"))
        .response("422", with(JSON, "parameters are wrong", named("InvalidParameters")));
    let operation = path_parameter(path).into_iter().fold(operation, |operation, parameter| {
        let is_address = parameter.name == "address_hash";
        let operation = operation.parameter(parameter);
        if is_address {
            return operation;
        }
        operation.response("404", with(JSON, "not there, or not loaded", named("NotFound")))
    });
    let anywhere = ["apikey", "key"].map(|name| query(name, text(), "taken and ignored"));
    let operation = declared
        .iter()
        .map(|(name, kind)| query(name, kind.shape(), kind.words()))
        .chain(anywhere)
        .fold(operation, OperationBuilder::parameter);
    (path, refusals(operation, &["400", "406", "414", "500", "503"]).build())
}

/// The parameter in a path, by its name.
fn path_parameter(path: &str) -> Option<Parameter> {
    let name = path.split(['{', '}']).nth(1)?;
    let (form, words) = match name {
        "address_hash" => (Kind::Address.shape(), "the address, in any letter case"),
        "transaction_hash" => (Kind::Hash.shape(), "the transaction's hash, in any letter case"),
        _ => (pattern("^([0-9]+|0x[0-9a-fA-F]{64})$"), "height or hash of the block"),
    };
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Path).required(Required::True);
    Some(parameter.schema(Some(form)).description(Some(words)).build())
}

pub(super) fn query(name: &str, shape: Shape, words: &str) -> Parameter {
    let parameter = ParameterBuilder::new().name(name).parameter_in(ParameterIn::Query).required(Required::False);
    parameter.schema(Some(shape)).description(Some(words)).build()
}

impl Kind {
    fn shape(self) -> Shape {
        match self {
            Self::Word(words) => word(words),
            Self::Height => count(),
            Self::Integer => integer(i64::MIN, i64::MAX),
            Self::Count => integer(1, MAX_COUNT),
            Self::Address => pattern("^0x[0-9a-fA-F]{40}$"),
            Self::Hash => pattern("^0x[0-9a-fA-F]{64}$"),
            Self::Standards => {
                let one = "[Ee][Rr][Cc]-(20|721|1155|404|7984)";
                pattern(&format!("^({one}(,{one})*|\\[{one}(,{one})*\\]|\\[\\])?$"))
            }
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Word(_) => "",
            Self::Count => "items of the page; 50 if not given",
            Self::Standards => "token standards, separated by commas, without blanks",
            Self::Address => "a contract",
            Self::Height | Self::Integer | Self::Hash => "of the cursor: as next_page_params gave it",
        }
    }
}

pub(super) fn with(media: &str, words: &str, shape: Shape) -> ResponseBuilder {
    ResponseBuilder::new().description(words).content(media, ContentBuilder::new().schema(Some(shape)).build())
}

/// Answers that many routes have.
pub(super) fn refusals(operation: OperationBuilder, statuses: &[&str]) -> OperationBuilder {
    statuses.iter().fold(operation, |operation, status| {
        let words = match *status {
            "400" => "cannot be read, or no path of this API",
            "406" => "the client takes no JSON",
            "414" => "a query string of more than 5000 characters",
            "500" => "a fault of this server, or a question that takes more than it grants",
            _ => "the database is away or busy",
        };
        operation.response(*status, with(JSON, words, named("Message")))
    })
}

fn json_rpc(path: &str) -> Operation {
    let body = RequestBodyBuilder::new().required(Some(Required::True));
    let content = ContentBuilder::new()
        .schema(Some(calls::request()))
        .example(Some(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []})));
    let refused = |words: &str| with(JSON, words, named("RpcError"));
    let operation = OperationBuilder::new()
        .operation_id(Some(if path.contains("v1") { "json_rpc_v1" } else { "json_rpc" }))
        .tag("json-rpc")
        .summary(Some("A call, or several; one that failed is an answer too"))
        .request_body(Some(body.content(JSON, content.build()).build()))
        .response("200", with(JSON, "an answer to each call", calls::response()))
        .response("400", refused("not JSON"))
        .response("408", refused("the body stayed out"))
        .response("413", refused("a body, or a batch, too large"));
    refusals(operation, &["406", "414"]).build()
}

/// What is there for operators and for clients that look around.
fn service() -> Vec<Route> {
    let told =
        |id: &str, summary: &str| OperationBuilder::new().operation_id(Some(id)).tag("service").summary(Some(summary));
    let version = record(vec![("backend_version", pattern("^v[0-9]"), "")]);
    let healthy = record(vec![
        ("healthy", boolean(), ""),
        (
            "data",
            record(vec![
                ("latest_block_number", nullable(count()), ""),
                ("ranges", count(), "stretches of readable blocks"),
            ]),
            "",
        ),
    ]);
    let under_api = |operation: OperationBuilder| refusals(operation, &["400", "406", "414"]).build();
    let anywhere = |operation: OperationBuilder| refusals(operation, &["400", "414"]).build();
    let description = open_record(vec![("openapi", pattern("^3\\.1\\."), "")], Vec::new());
    vec![
        (
            "/api/v2/config/backend-version",
            under_api(told("backend_version", "The version").response("200", with(JSON, "the version", version))),
        ),
        (
            "/api/v2/openapi",
            under_api(told("openapi", "This description").response("200", with(JSON, "OpenAPI", description))),
        ),
        (
            "/api/health",
            under_api(
                told("health", "Whether blocks are readable, in JSON")
                    .response("200", with(JSON, "they are", healthy.clone()))
                    .response("500", with(JSON, "none is", healthy)),
            ),
        ),
        ("/health/live", anywhere(told("live", "The process runs").response("200", with(TEXT, "it does", text())))),
        (
            "/health/ready",
            anywhere(
                told("ready", "The database answers and has blocks")
                    .response("200", with(TEXT, "it does", text()))
                    .response("503", with(TEXT, "why not", text())),
            ),
        ),
        (
            "/metrics",
            anywhere(
                told("metrics", "Measurements in Prometheus' text form")
                    .response("200", with(TEXT, "the measurements", text()))
                    .response("404", ResponseBuilder::new().description("nothing is measured")),
            ),
        ),
        (
            "/docs",
            anywhere(
                told("docs", "A page to read this and try it").response("200", with("text/html", "the page", text())),
            ),
        ),
    ]
}
