//! The tools: what they are called, what they take, and which route answers them.

use std::borrow::Cow;

use axum::body::Body;
use axum::http::Request;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use url::form_urlencoded::Serializer;

/// Items of a list without `limit`, which models read better than fifty.
const ITEMS: u64 = 10;

/// The request of a path.
pub(super) fn request(path: &str) -> Result<Request<Body>, WrongArgument> {
    Request::get(path).body(Body::empty()).map_err(|_| WrongArgument::Kind("path", "shorter".into()))
}

/// A value that a tool takes.
struct Argument {
    name: &'static str,
    /// What it is: for the model, and for the check.
    kind: Kind,
    /// Whether the tool needs it.
    is_needed: bool,
    what: &'static str,
}

/// What an argument is.
#[derive(Clone, Copy)]
enum Kind {
    /// Any text, or a number as one.
    Text,
    /// One of these.
    Name(&'static [&'static str]),
    /// From 1 to 50.
    Count,
    /// `next_page_params` of the page before.
    Cursor,
}

/// A tool, and the route that answers it.
struct Route {
    name: &'static str,
    what: &'static str,
    arguments: &'static [Argument],
    /// The path, with the names of arguments in braces; the others are parameters of its query.
    path: &'static str,
}

/// Arguments that a tool was called with, and that it cannot take.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WrongArgument {
    /// One that it needs is not there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// One has another type, or is none of its names.
    #[error("`{0}` must be {1}")]
    Kind(&'static str, String),
    /// The tool has no such argument.
    #[error("there is no argument `{0}`")]
    Unknown(String),
}

const fn needed(name: &'static str, kind: Kind, what: &'static str) -> Argument {
    Argument { name, kind, is_needed: true, what }
}

const fn optional(name: &'static str, kind: Kind, what: &'static str) -> Argument {
    Argument { name, kind, is_needed: false, what }
}

const LIMIT: Argument = optional("limit", Kind::Count, "Maximum number of items, 1 to 50; default 10");
const CURSOR: Argument = optional("cursor", Kind::Cursor, "The object next_page_params of the previous page");
const HASH: Argument = needed("hash", Kind::Text, "Hash of the transaction, 0x and 64 hexadecimal digits");
const ADDRESS: Argument =
    needed("address", Kind::Text, "0x and 40 hexadecimal digits; use `search` if only a name is known");

/// The filter of a scan.
const FILTER: [Argument; 7] = [
    needed("fromBlock", Kind::Text, "First block: a height, or earliest"),
    optional("toBlock", Kind::Text, "Last block: a height, or latest"),
    optional("address", Kind::Text, "Contracts that emitted the logs, separated by commas"),
    optional("topic0", Kind::Text, "Hashes of events, separated by commas"),
    optional("topic1", Kind::Text, "Alternatives for the second topic, 32 bytes each, separated by commas"),
    optional("topic2", Kind::Text, "Alternatives for the third topic"),
    optional("topic3", Kind::Text, "Alternatives for the fourth topic"),
];
const SCAN: &[Argument] = &{
    let [from, to, address, topic0, topic1, topic2, topic3] = FILTER;
    let cursor = optional("cursor", Kind::Text, "The text next_cursor of the previous answer");
    [from, to, address, topic0, topic1, topic2, topic3, LIMIT, cursor]
};

const TRANSACTION_PARTS: &[&str] =
    &["summary", "logs", "token-transfers", "internal-transactions", "state-changes", "calls"];
const ADDRESS_PARTS: &[&str] = &[
    "transactions",
    "token-transfers",
    "internal-transactions",
    "logs",
    "tokens",
    "nft",
    "withdrawals",
    "coin-balance-history",
    "counters",
];
const TOKEN_PARTS: &[&str] = &["holders", "transfers", "instances", "counters"];
const LISTS: &[&str] = &[
    "blocks",
    "transactions",
    "token-transfers",
    "internal-transactions",
    "withdrawals",
    "tokens",
    "addresses",
    "smart-contracts",
];

static ROUTES: &[Route] = &[
    Route {
        name: "chain_status",
        what: "Statistics of the chain: blocks, transactions, gas prices, block time",
        arguments: &[],
        path: "/api/v2/stats",
    },
    Route {
        name: "loaded_blocks",
        what: "Shares of the chain's blocks and of their call frames that are loaded here",
        arguments: &[],
        path: "/api/v2/main-page/indexing-status",
    },
    Route {
        name: "search",
        what: "Blocks, transactions, tokens and addresses by name, symbol, ENS name, hash or height",
        arguments: &[needed("q", Kind::Text, "Text to search for"), LIMIT, CURSOR],
        path: "/api/v2/search",
    },
    Route {
        name: "get_block",
        what: "A block",
        arguments: &[needed("block", Kind::Text, "Height or hash of the block")],
        path: "/api/v2/blocks/{block}",
    },
    Route {
        name: "get_block_transactions",
        what: "The transactions of a block",
        arguments: &[needed("block", Kind::Text, "Height or hash of the block"), LIMIT, CURSOR],
        path: "/api/v2/blocks/{block}/transactions",
    },
    Route { name: "get_transaction", what: "A transaction", arguments: &[HASH], path: "/api/v2/transactions/{hash}" },
    Route {
        name: "get_transaction_part",
        what: "A part of a transaction: summary in a sentence, logs, transfers, calls, changed balances",
        arguments: &[HASH, needed("part", Kind::Name(TRANSACTION_PARTS), "Which part"), CURSOR],
        path: "/api/v2/transactions/{hash}/{part}",
    },
    Route {
        name: "get_address",
        what: "An address: balance, name, whether it is a contract, a proxy or a token",
        arguments: &[ADDRESS],
        path: "/api/v2/addresses/{address}",
    },
    Route {
        name: "get_address_part",
        what: "A list of an address: its transactions, transfers, holdings, newest first",
        arguments: &[ADDRESS, needed("part", Kind::Name(ADDRESS_PARTS), "Which list"), LIMIT, CURSOR],
        path: "/api/v2/addresses/{address}/{part}",
    },
    Route {
        name: "get_contract",
        what: "A contract: code, and ABI and source if loaded",
        arguments: &[ADDRESS],
        path: "/api/v2/smart-contracts/{address}",
    },
    Route {
        name: "get_token",
        what: "A token: name, symbol, decimals, supply, holders",
        arguments: &[ADDRESS],
        path: "/api/v2/tokens/{address}",
    },
    Route {
        name: "get_token_part",
        what: "A list of a token: its holders, transfers or ids",
        arguments: &[ADDRESS, needed("part", Kind::Name(TOKEN_PARTS), "Which list"), LIMIT, CURSOR],
        path: "/api/v2/tokens/{address}/{part}",
    },
    Route {
        name: "list",
        what: "A list of the whole chain, newest first",
        arguments: &[needed("what", Kind::Name(LISTS), "Which list"), LIMIT, CURSOR],
        path: "/api/v2/{what}",
    },
    Route {
        name: "user_operations",
        what: "User operations (ERC-4337), newest first: all, or those of a wallet or of a transaction",
        arguments: &[
            optional("sender", Kind::Text, "The wallet"),
            optional("transaction_hash", Kind::Text, "The transaction with their bundle"),
            LIMIT,
            CURSOR,
        ],
        path: "/api/v2/proxy/account-abstraction/operations",
    },
    Route {
        name: "estimate_logs",
        what: "The plan of a scan of logs, without reading them: table, parts and granules that ClickHouse would read",
        arguments: &FILTER,
        path: "/api/v2/scan/logs?explain=1",
    },
    Route {
        name: "scan_logs",
        what: "Logs by contract, event and topics over any blocks, oldest first, with decoded values",
        arguments: SCAN,
        path: "/api/v2/scan/logs",
    },
];

/// All tools, as clients list them.
pub(super) fn all() -> Vec<Tool> {
    let tool = |route: &Route| {
        let properties: JsonObject =
            route.arguments.iter().map(|argument| (argument.name.to_owned(), argument.schema())).collect();
        let needed: Vec<&str> =
            route.arguments.iter().filter(|argument| argument.is_needed).map(|argument| argument.name).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": needed, "additionalProperties": false
        });
        let Value::Object(schema) = schema else { unreachable!("an object was written") };
        Tool::new(route.name, route.what, schema).annotate(ToolAnnotations::new().read_only(true))
    };
    ROUTES.iter().map(tool).collect()
}

/// The path of a tool that is called with some arguments; `None` if there is no such tool.
pub(super) fn path(name: &str, arguments: &JsonObject) -> Option<Result<String, WrongArgument>> {
    ROUTES.iter().find(|route| route.name == name).map(|route| route.path(arguments))
}

impl Argument {
    fn schema(&self) -> Value {
        match self.kind {
            Kind::Text => json!({"type": ["string", "integer"], "description": self.what}),
            Kind::Name(names) => json!({"type": "string", "enum": names, "description": self.what}),
            Kind::Count => json!({"type": "integer", "minimum": 1, "maximum": 50, "description": self.what}),
            Kind::Cursor => json!({"type": "object", "description": self.what}),
        }
    }

    /// The text of a value; that of a cursor is a query.
    fn text<'v>(&self, value: &'v Value) -> Result<Cow<'v, str>, WrongArgument> {
        let wrong = |kind: &str| Err(WrongArgument::Kind(self.name, kind.to_owned()));
        match (self.kind, value) {
            (Kind::Text, Value::String(text)) => Ok(text.into()),
            (Kind::Text, Value::Number(number)) => Ok(number.to_string().into()),
            (Kind::Text, _) => wrong("a text"),
            (Kind::Name(names), value) => match value.as_str().filter(|text| names.contains(text)) {
                Some(text) => Ok(text.into()),
                None => wrong(&format!("one of {}", names.join(", "))),
            },
            (Kind::Count, value) => match value.as_u64().filter(|count| (1..=50).contains(count)) {
                Some(count) => Ok(count.to_string().into()),
                None => wrong("a number from 1 to 50"),
            },
            (Kind::Cursor, Value::Object(members)) => Ok(query_of(members).into()),
            (Kind::Cursor, _) => wrong("an object"),
        }
    }
}

/// Members of cursors that say how many items a page has.
const COUNTS: [&str; 2] = ["items_count", "page_size"];

/// The members of a cursor as parameters. How many items a page has is no part of a position.
fn query_of(members: &JsonObject) -> String {
    let mut query = Serializer::new(String::new());
    for (name, value) in members.iter().filter(|(name, value)| !COUNTS.contains(&name.as_str()) && !value.is_null()) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        query.append_pair(name, &text);
    }
    query.finish()
}

impl Route {
    fn path(&self, given: &JsonObject) -> Result<String, WrongArgument> {
        if let Some(unknown) = given.keys().find(|name| self.arguments.iter().all(|known| known.name != *name)) {
            return Err(WrongArgument::Unknown(unknown.chars().take(40).collect()));
        }
        let (mut path, mut query, mut cursor) = (self.path.to_owned(), Serializer::new(String::new()), None);
        for argument in self.arguments {
            let Some(value) = given.get(argument.name).filter(|value| !value.is_null()) else {
                if argument.is_needed {
                    return Err(WrongArgument::Missing(argument.name));
                }
                if matches!(argument.kind, Kind::Count) {
                    query.append_pair(self.count(), &ITEMS.to_string());
                }
                continue;
            };
            let text = argument.text(value)?;
            let placeholder = format!("{{{}}}", argument.name);
            if path.contains(&placeholder) {
                // A name is a word of a route, which is matched as it is written.
                let is_name = matches!(argument.kind, Kind::Name(_));
                path = path.replace(&placeholder, &if is_name { text.into_owned() } else { segment(&text) });
            } else if matches!(argument.kind, Kind::Cursor) {
                cursor = Some(text.into_owned());
            } else {
                let name = if matches!(argument.kind, Kind::Count) { self.count() } else { argument.name };
                query.append_pair(name, &text);
            }
        }
        let query: Vec<String> = [query.finish()].into_iter().chain(cursor).filter(|part| !part.is_empty()).collect();
        if !query.is_empty() {
            path.push(if path.contains('?') { '&' } else { '?' });
            path.push_str(&query.join("&"));
        }
        Ok(path)
    }

    /// What its route calls the most items.
    fn count(&self) -> &'static str {
        match self.path {
            path if path.contains("/scan/") => "limit",
            path if path.contains("/account-abstraction/") => "page_size",
            _ => "items_count",
        }
    }
}

/// A text as one segment of a path.
fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn called(name: &str, arguments: Value) -> Result<String, WrongArgument> {
        path(name, arguments.as_object().expect("an object")).expect("a tool")
    }

    #[test]
    fn arguments_become_paths_of_the_api() {
        for (name, arguments, expected) in [
            ("chain_status", json!({}), "/api/v2/stats"),
            ("get_block", json!({"block": 7}), "/api/v2/blocks/7"),
            ("get_block", json!({"block": "../stats?a=1#b"}), "/api/v2/blocks/%2E%2E%2Fstats%3Fa%3D1%23b"),
            ("search", json!({"q": "a&b=c", "limit": null}), "/api/v2/search?q=a%26b%3Dc&items_count=10"),
            (
                "list",
                json!({"what": "blocks", "limit": 3, "cursor": {"block_number": 9, "items_count": 50}}),
                "/api/v2/blocks?items_count=3&block_number=9",
            ),
            (
                "get_transaction_part",
                json!({"hash": "0x12", "part": "token-transfers"}),
                "/api/v2/transactions/0x12/token-transfers",
            ),
            (
                "user_operations",
                json!({"cursor": {"page_token": "7,1", "page_size": 3}, "limit": 2}),
                "/api/v2/proxy/account-abstraction/operations?page_size=2&page_token=7%2C1",
            ),
            ("estimate_logs", json!({"fromBlock": "0"}), "/api/v2/scan/logs?explain=1&fromBlock=0"),
            (
                "scan_logs",
                json!({"fromBlock": 0, "cursor": "7,1"}),
                "/api/v2/scan/logs?fromBlock=0&limit=10&cursor=7%2C1",
            ),
        ] {
            assert_eq!(called(name, arguments).as_deref(), Ok(expected), "{name}");
        }
        assert_eq!(path("drop_tables", &JsonObject::new()), None);
    }

    #[test]
    fn wrong_arguments_are_named() {
        assert_eq!(called("get_block", json!({})), Err(WrongArgument::Missing("block")));
        assert_eq!(called("get_block", json!({"block": [1]})), Err(WrongArgument::Kind("block", "a text".into())));
        assert_eq!(called("chain_status", json!({"a": 1})), Err(WrongArgument::Unknown("a".into())));
        for wrong in [json!(0), json!(51), json!("3"), json!(1.5)] {
            assert!(called("search", json!({"q": "a", "limit": wrong})).is_err(), "{wrong}");
        }
        let part = called("get_token_part", json!({"address": "0x12", "part": "../../stats"}));
        assert!(part.expect_err("refused").to_string().starts_with("`part` must be one of holders"));
    }
}
