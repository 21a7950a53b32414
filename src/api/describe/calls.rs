//! JSON-RPC calls and what they are answered with (specification 4.10; Ethereum's execution-apis for the objects).

use serde_json::json;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::shape::{
    Field, Shape, any_of, anything, boolean, bytes, hash, integer, list, map_of, named, null, nullable, number, one_of,
    open_record, pattern, plain_address, quantity, record, record_with, short_list, text, tuple, word,
};

/// Every object by its name.
pub(super) fn all() -> Vec<(&'static str, Shape)> {
    vec![
        ("RpcCall", call()),
        ("RpcAnswer", answer()),
        ("RpcError", refused()),
        ("RpcResult", result()),
        ("RpcBlock", block()),
        ("RpcTransaction", transaction()),
        ("RpcReceipt", receipt()),
        ("RpcLog", log()),
        ("RpcLogFilter", log_filter()),
    ]
}

/// A call, or several in one message.
pub(super) fn request() -> Shape {
    one_of(vec![named("RpcCall"), list(named("RpcCall"))])
}

/// The answer to a call, or to each of several in their order.
pub(super) fn response() -> Shape {
    one_of(vec![named("RpcAnswer"), list(named("RpcAnswer"))])
}

fn id() -> Shape {
    any_of(vec![number(), text(), null()])
}

fn version() -> Shape {
    word(&["2.0"])
}

/// A shape that is spelt out, as parameters in a list have to be.
fn spelt(shape: Shape) -> Schema {
    match shape {
        RefOr::T(schema) => schema,
        RefOr::Ref(named) => {
            Schema::AllOf(utoipa::openapi::schema::AllOfBuilder::new().item(RefOr::Ref(named)).build())
        }
    }
}

fn block_name() -> Shape {
    any_of(vec![pattern("^0x[0-9a-fA-F]{0,16}$"), word(&["earliest", "latest", "pending", "safe", "finalized"])])
}

fn any_hash() -> Shape {
    pattern("^0x[0-9a-fA-F]{64}$")
}

fn any_address() -> Shape {
    pattern("^0x[0-9a-fA-F]{40}$")
}

/// Methods whose parameters are described one by one.
const SPELT_OUT: [&str; 7] = [
    "eth_blockNumber",
    "eth_chainId",
    "eth_getLogs",
    "eth_getBlockByNumber",
    "eth_getBlockByHash",
    "eth_getTransactionByHash",
    "eth_getTransactionReceipt",
];

fn call() -> Shape {
    let method = |name: &str, params: Vec<Shape>| {
        record(vec![
            ("jsonrpc", version(), ""),
            ("id", id(), "comes back with the answer"),
            ("method", word(&[name]), ""),
            ("params", tuple(params.into_iter().map(spelt).collect()), ""),
        ])
    };
    let hash_of = |name| method(name, vec![any_hash()]);
    let others: Vec<&str> = crate::rpc::method_names().filter(|name| !SPELT_OUT.contains(name)).collect();
    one_of(vec![
        method("eth_blockNumber", Vec::new()),
        method("eth_chainId", Vec::new()),
        method("eth_getLogs", vec![named("RpcLogFilter")]),
        method("eth_getBlockByNumber", vec![block_name(), boolean()]),
        method("eth_getBlockByHash", vec![any_hash(), boolean()]),
        hash_of("eth_getTransactionByHash"),
        hash_of("eth_getTransactionReceipt"),
        record(vec![
            ("jsonrpc", version(), ""),
            ("id", id(), ""),
            ("method", word(&others), "with the parameters of the Ethereum specification"),
            ("params", list(anything()), ""),
        ]),
    ])
}

fn log_filter() -> Shape {
    let end = || any_of(vec![block_name(), integer(0, i64::MAX), null()]);
    let words = || any_of(vec![null(), any_hash(), short_list(any_hash(), 1000)]);
    let place = || any_of(vec![pattern("^(0x)?[0-9a-fA-F]{1,16}$"), integer(0, i64::MAX)]);
    open_record(
        Vec::new(),
        vec![
            (
                "address",
                any_of(vec![null(), any_address(), short_list(any_address(), 1000)]),
                "one emitter, or several",
            ),
            ("topics", any_of(vec![null(), short_list(words(), 4)]), "by position: any, one word, or one of several"),
            ("fromBlock", end(), "the newest block if not given"),
            ("toBlock", end(), "the newest block if not given"),
            ("blockHash", any_of(vec![null(), any_hash()]), "one block, instead of a range"),
            (
                "paging_options",
                any_of(vec![
                    null(),
                    open_record(vec![("blockNumber", place(), ""), ("logIndex", place(), "")], Vec::new()),
                ]),
                "place of the last log of the answer before: at most 1000 come at once",
            ),
        ],
    )
}

fn answer() -> Shape {
    one_of(vec![
        record(vec![("jsonrpc", version(), ""), ("result", named("RpcResult"), ""), ("id", id(), "")]),
        named("RpcError"),
    ])
}

fn refused() -> Shape {
    let range = record(vec![("fromBlock", quantity(), ""), ("toBlock", quantity(), "")]);
    let data = any_of(vec![record(vec![("missing", list(range), "")]), bytes()]);
    let code = ObjectBuilder::new()
        .schema_type(Type::Integer)
        .enum_values(Some([3, -32000, -32700, -32600, -32601, -32602, -32603, -32002, -32005].map(|code| json!(code))));
    let error = record_with(
        vec![("code", RefOr::T(code.build().into()), ""), ("message", text(), "")],
        vec![("data", data, "blocks of the range that are not loaded, or what a call that was undone gave back")],
    );
    record(vec![("jsonrpc", version(), ""), ("error", error, ""), ("id", id(), "")])
}

fn result() -> Shape {
    any_of(vec![
        null(),
        quantity(),
        bytes(),
        named("RpcBlock"),
        named("RpcTransaction"),
        named("RpcReceipt"),
        list(named("RpcLog")),
        boolean(),
        text(),
        list(named("RpcReceipt")),
        uncle(),
        fee_history(),
        access_list(),
        map_of(text()),
        list(trace()),
    ])
}

/// A frame or a reward with its place in the chain.
fn trace() -> Shape {
    let place = vec![
        ("blockHash", hash(), ""),
        ("blockNumber", integer(0, i64::MAX), ""),
        ("transactionHash", nullable(hash()), "null for a reward"),
        ("transactionPosition", nullable(integer(0, i64::MAX)), ""),
        ("type", word(&["call", "create", "suicide", "reward"]), ""),
        ("action", anything(), "as in a raw trace; of a reward author, rewardType and value"),
        ("traceAddress", list(integer(0, i64::MAX)), ""),
    ];
    open_record(place, Vec::new())
}

/// A header without what its block held.
fn uncle() -> Shape {
    let mut fields = quantities(&["number", "difficulty", "gasLimit", "gasUsed", "timestamp"]);
    fields.extend(hashes(&["hash", "parentHash"]));
    open_record(fields, Vec::new())
}

fn fee_history() -> Shape {
    open_record(vec![("oldestBlock", quantity(), "")], vec![("gasUsedRatio", list(number()), "")])
}

fn access_list() -> Shape {
    let item = record(vec![("address", plain_address(), ""), ("storageKeys", list(hash()), "")]);
    record_with(vec![("accessList", list(item), ""), ("gasUsed", quantity(), "")], vec![("error", text(), "")])
}

fn log() -> Shape {
    record(vec![
        ("address", plain_address(), ""),
        ("topics", short_list(hash(), 4), ""),
        ("data", bytes(), ""),
        ("blockNumber", quantity(), ""),
        ("transactionHash", hash(), ""),
        ("transactionIndex", quantity(), ""),
        ("blockHash", hash(), ""),
        ("blockTimestamp", quantity(), "seconds"),
        ("logIndex", quantity(), ""),
        ("removed", boolean(), ""),
    ])
}

fn quantities(names: &[&'static str]) -> Vec<Field> {
    names.iter().map(|name| (*name, quantity(), "")).collect()
}

fn hashes(names: &[&'static str]) -> Vec<Field> {
    names.iter().map(|name| (*name, hash(), "")).collect()
}

fn block() -> Shape {
    let withdrawal =
        record([quantities(&["index", "validatorIndex", "amount"]), vec![("address", plain_address(), "")]].concat());
    let bodies = any_of(vec![list(hash()), list(named("RpcTransaction"))]);
    let mut fields = quantities(&["number", "difficulty", "gasLimit", "gasUsed", "timestamp"]);
    fields.extend(hashes(&["hash", "parentHash", "sha3Uncles", "stateRoot", "transactionsRoot", "receiptsRoot"]));
    fields.extend([
        ("miner", plain_address(), ""),
        ("logsBloom", pattern("^0x[0-9a-f]{512}$"), ""),
        ("extraData", bytes(), ""),
        ("uncles", list(hash()), ""),
        ("transactions", bodies, "hashes, or objects where they were asked for"),
    ]);
    let mut optional = quantities(&["baseFeePerGas", "blobGasUsed", "excessBlobGas", "size"]);
    optional.extend(hashes(&["mixHash", "withdrawalsRoot", "parentBeaconBlockRoot", "requestsHash"]));
    optional.extend([("nonce", pattern("^0x[0-9a-f]{16}$"), ""), ("withdrawals", list(withdrawal), "amounts in gwei")]);
    record_with(fields, optional)
}

/// Of a type that this server does not know, a transaction is what its source gave; so it may have more.
fn transaction() -> Shape {
    let access = record(vec![("address", plain_address(), ""), ("storageKeys", list(hash()), "")]);
    let authorization = record(
        [quantities(&["chainId", "nonce", "yParity", "r", "s"]), vec![("address", plain_address(), "")]].concat(),
    );
    let mut fields = quantities(&["blockNumber", "gas", "nonce", "transactionIndex", "value", "type"]);
    fields.extend(hashes(&["blockHash", "hash"]));
    fields.extend([
        ("from", plain_address(), ""),
        ("to", nullable(plain_address()), "null for a creation"),
        ("input", bytes(), ""),
    ]);
    let mut optional = quantities(&[
        "blockTimestamp",
        "maxFeePerGas",
        "maxPriorityFeePerGas",
        "maxFeePerBlobGas",
        "chainId",
        "v",
        "r",
        "s",
        "yParity",
    ]);
    optional.extend([
        ("gasPrice", nullable(quantity()), ""),
        ("accessList", list(access), ""),
        ("blobVersionedHashes", list(hash()), ""),
        ("authorizationList", list(authorization), ""),
    ]);
    open_record(fields, optional)
}

fn receipt() -> Shape {
    let mut fields = quantities(&["blockNumber", "cumulativeGasUsed", "gasUsed", "transactionIndex", "type"]);
    fields.extend(hashes(&["blockHash", "transactionHash"]));
    fields.extend([
        ("from", plain_address(), ""),
        ("to", nullable(plain_address()), ""),
        ("contractAddress", nullable(plain_address()), "of a creation"),
        ("logs", list(named("RpcLog")), ""),
        ("logsBloom", pattern("^0x[0-9a-f]{512}$"), ""),
    ]);
    let mut optional = quantities(&["effectiveGasPrice", "blobGasUsed", "blobGasPrice"]);
    optional.extend([("status", word(&["0x0", "0x1"]), "since Byzantium"), ("root", hash(), "before Byzantium")]);
    open_record(fields, optional)
}
