//! The objects that REST answers hold (specification section 2), as `json` writes them.

use super::shape::{
    Field, Shape, amount, any_of, big_integer, boolean, bytes, checksummed, count, decimal, hash, list, map_of, named,
    null, nullable, number, one_of, open_record, pattern, plain_address, quantity, record, record_with, short_list,
    text, timestamp, word,
};

/// Every object by its name.
pub(super) fn all() -> Vec<(&'static str, Shape)> {
    vec![
        ("Address", address()),
        ("Token", token()),
        ("InternalTransaction", internal_transaction()),
        ("TokenTransfer", token_transfer()),
        ("Log", log()),
        ("DecodedLog", decoded_log()),
        ("DecodedValue", decoded_value()),
        ("Block", block()),
        ("Frame", frame()),
        ("AddressWithdrawal", address_withdrawal()),
        ("BlockWithdrawal", block_withdrawal()),
        ("Summary", summary()),
        ("SummaryVariable", summary_variable()),
        ("Message", message()),
        ("InvalidParameters", invalid_parameters()),
        ("NotFound", not_found()),
    ]
}

const TOKEN_TYPES: [&str; 3] = ["ERC-20", "ERC-721", "ERC-1155"];

fn tags(keys: [&'static str; 2]) -> Shape {
    let fields = keys.map(|key| (key, text(), ""));
    list(open_record(Vec::new(), fields.into_iter().chain([("address_hash", checksummed(), "")]).collect()))
}

fn address() -> Shape {
    record(vec![
        ("hash", checksummed(), "the address, with the checksum of EIP-55"),
        ("implementation_name", nullable(text()), "name of the first implementation"),
        ("name", nullable(text()), ""),
        ("ens_domain_name", nullable(text()), ""),
        ("metadata", nullable(open_record(Vec::new(), Vec::new())), "a tag: slug, name, tagType, ordinal, meta"),
        ("is_contract", boolean(), "has or had code, or delegates to some (EIP-7702)"),
        ("private_tags", tags(["display_name", "label"]), ""),
        ("watchlist_names", tags(["display_name", "label"]), ""),
        ("public_tags", tags(["display_name", "label"]), ""),
        ("is_verified", nullable(boolean()), "null for an account"),
        (
            "implementations",
            list(record(vec![("address_hash", checksummed(), ""), ("name", nullable(text()), "")])),
            "to whom a proxy forwards its calls",
        ),
        ("proxy_type", nullable(word(&["eip1167", "eip1967", "eip1822", "eip1967_beacon", "eip7702"])), ""),
        ("is_scam", boolean(), ""),
        ("reputation", word(&["ok", "scam"]), ""),
    ])
}

fn token() -> Shape {
    let unknown = |name, shape: Shape| (name, nullable(shape), "");
    record(vec![
        ("address_hash", checksummed(), "the contract"),
        ("address", checksummed(), "the same, for older clients"),
        ("name", nullable(text()), ""),
        ("symbol", nullable(text()), ""),
        ("decimals", nullable(decimal()), ""),
        ("type", word(&TOKEN_TYPES), ""),
        ("total_supply", nullable(decimal()), "in the smallest unit"),
        unknown("holders_count", decimal()),
        unknown("holders", decimal()),
        unknown("exchange_rate", amount()),
        unknown("volume_24h", amount()),
        unknown("circulating_market_cap", amount()),
        unknown("circulating_supply", amount()),
        unknown("icon_url", text()),
        ("reputation", word(&["ok", "scam"]), ""),
    ])
}

fn internal_transaction() -> Shape {
    let kinds = ["call", "callcode", "delegatecall", "staticcall", "create", "create2", "selfdestruct", "reward"];
    record(vec![
        ("block_number", count(), ""),
        ("transaction_index", count(), "place of the transaction in its block"),
        ("index", count(), "place in the trace, depth first; the root is 0"),
        ("transaction_hash", hash(), ""),
        ("timestamp", timestamp(), ""),
        ("type", word(&kinds), ""),
        ("from", named("Address"), ""),
        ("to", nullable(named("Address")), "null for a creation"),
        ("created_contract", nullable(named("Address")), "of a creation that succeeded"),
        ("value", decimal(), "wei"),
        ("gas_limit", decimal(), ""),
        ("success", boolean(), ""),
        ("error", nullable(text()), "as the node words it"),
    ])
}

fn token_transfer() -> Shape {
    let token_id = || ("token_id", nullable(decimal()), "");
    let instance = || ("token_instance", null(), "");
    let value = || ("value", decimal(), "in the smallest unit");
    let decimals = || ("decimals", nullable(decimal()), "");
    let totals = one_of(vec![
        record(vec![value(), decimals()]),
        record(vec![token_id(), instance()]),
        record(vec![token_id(), instance(), value(), decimals()]),
    ]);
    record(vec![
        ("transaction_hash", hash(), ""),
        ("block_hash", hash(), ""),
        ("block_number", count(), ""),
        ("log_index", count(), "place of the log in its block; the transfers of a batch share it"),
        ("timestamp", timestamp(), ""),
        ("from", named("Address"), ""),
        ("to", named("Address"), ""),
        ("token", named("Token"), ""),
        ("token_type", word(&TOKEN_TYPES), "of this very transfer"),
        ("total", totals, "of ERC-20, of ERC-721, of ERC-1155"),
        ("type", word(&["token_transfer", "token_minting", "token_burning", "token_spawning"]), ""),
        ("method", nullable(text()), "what the transaction called: a name, or the first four bytes of its input"),
    ])
}

fn log() -> Shape {
    record(vec![
        ("address_hash", named("Address"), "the emitter"),
        ("address", named("Address"), "the same, as other explorers name it"),
        ("smart_contract", nullable(named("Address")), "the transaction's recipient"),
        ("block_hash", hash(), ""),
        ("block_number", count(), ""),
        ("block_timestamp", timestamp(), ""),
        ("transaction_hash", hash(), ""),
        ("index", count(), "place in the block"),
        ("topics", short_list(hash(), 4), ""),
        ("data", bytes(), ""),
        ("decoded", nullable(named("DecodedLog")), "null where no known event fits"),
    ])
}

fn decoded_log() -> Shape {
    let parameter = record(vec![
        ("name", text(), ""),
        ("type", text(), ""),
        ("indexed?", boolean(), ""),
        ("indexed", boolean(), ""),
        ("value", named("DecodedValue"), ""),
    ]);
    record(vec![
        ("method_call", text(), "the event with its parameters"),
        ("method_id", pattern("^0x[0-9a-f]{8}$"), "the first four bytes of its hash"),
        ("parameters", list(parameter), ""),
    ])
}

fn decoded_value() -> Shape {
    any_of(vec![text(), null(), list(named("DecodedValue"))])
}

fn block() -> Shape {
    let unknown = |name, shape: Shape, words| (name, nullable(shape), words);
    let reward = record(vec![
        ("reward", big_integer(), "wei, all digits"),
        ("type", word(&["Miner Reward", "Uncle Reward"]), ""),
    ]);
    let percent = "null where the source did not have what it is made from";
    record(vec![
        ("height", count(), ""),
        ("hash", hash(), ""),
        unknown("parent_hash", hash(), ""),
        ("timestamp", timestamp(), ""),
        ("type", word(&["block", "uncle", "reorg"]), ""),
        unknown("miner", named("Address"), ""),
        unknown("nonce", pattern("^0x[0-9a-f]{16}$"), ""),
        unknown("size", count(), "bytes"),
        unknown("difficulty", decimal(), ""),
        unknown("total_difficulty", decimal(), ""),
        unknown("gas_limit", decimal(), ""),
        unknown("gas_used", decimal(), ""),
        unknown("gas_used_percentage", number(), percent),
        unknown("gas_target_percentage", number(), percent),
        unknown("base_fee_per_gas", decimal(), "wei"),
        unknown("burnt_fees", decimal(), "wei"),
        unknown("burnt_fees_percentage", number(), "null without fees"),
        unknown("priority_fee", decimal(), "wei"),
        unknown("transaction_fees", decimal(), "wei"),
        unknown("transactions_count", count(), "null for an uncle whose transactions are not known"),
        unknown("withdrawals_count", count(), ""),
        unknown("internal_transactions_count", count(), "null where call frames are not loaded"),
        ("is_pending_update", boolean(), ""),
        unknown("uncles_hashes", list(hash()), ""),
        ("rewards", list(reward), "of proof of work"),
        unknown("blob_transactions_count", count(), ""),
        unknown("blob_gas_used", decimal(), ""),
        unknown("excess_blob_gas", decimal(), ""),
        unknown("extra_data", bytes(), ""),
        unknown("state_root", hash(), ""),
    ])
}

/// A frame of a trace in Parity's shape: what it is decides its action and its result.
fn frame() -> Shape {
    let gas_used = || ("gasUsed", nullable(quantity()), "");
    let from = || ("from", plain_address(), "");
    let call = record(vec![
        ("callType", word(&["call", "callcode", "delegatecall", "staticcall"]), ""),
        from(),
        ("gas", quantity(), ""),
        ("input", bytes(), ""),
        ("to", nullable(plain_address()), ""),
        ("value", quantity(), "wei"),
    ]);
    let create = record(vec![
        ("creationMethod", word(&["create", "create2"]), ""),
        from(),
        ("gas", quantity(), ""),
        ("init", bytes(), ""),
        ("value", quantity(), "wei"),
    ]);
    let suicide = record(vec![
        ("address", plain_address(), ""),
        ("balance", quantity(), "wei"),
        ("refundAddress", nullable(plain_address()), ""),
    ]);
    let called = record(vec![gas_used(), ("output", bytes(), "")]);
    let created = record(vec![("address", nullable(plain_address()), ""), ("code", bytes(), ""), gas_used()]);
    one_of(vec![
        frame_of("call", call, nullable(called)),
        frame_of("create", create, nullable(created)),
        frame_of("suicide", suicide, null()),
    ])
}

fn frame_of(kind: &str, action: Shape, result: Shape) -> Shape {
    let fields: Vec<Field> = vec![
        ("action", action, ""),
        ("result", result, "null for a frame that failed"),
        ("subtraces", count(), "direct children"),
        ("traceAddress", list(count()), "the way to it from the root"),
        ("type", word(&[kind]), ""),
    ];
    record_with(fields, vec![("error", text(), "of a frame that failed")])
}

fn withdrawal() -> Vec<Field> {
    vec![
        ("index", count(), ""),
        ("amount", decimal(), "wei"),
        ("validator_index", count(), ""),
        ("receiver", named("Address"), ""),
    ]
}

fn block_withdrawal() -> Shape {
    record(withdrawal())
}

fn address_withdrawal() -> Shape {
    let mut fields = withdrawal();
    fields.extend([("block_number", count(), ""), ("timestamp", timestamp(), "")]);
    record(fields)
}

fn summary() -> Shape {
    let summary = record(vec![
        ("summary_template", text(), "text with {names} of variables; {native} is the chain's own coin"),
        ("summary_template_variables", map_of(named("SummaryVariable")), ""),
    ]);
    let data = record(vec![("summaries", list(summary), "empty where no sentence is certain")]);
    record(vec![("success", boolean(), ""), ("data", data, "")])
}

fn summary_variable() -> Shape {
    let variable = |kind: &str, value: Shape| record(vec![("type", word(&[kind]), ""), ("value", value, "")]);
    one_of(vec![
        variable("string", text()),
        variable("currency", amount()),
        variable("token", named("Token")),
        variable("address", named("Address")),
        variable("method", text()),
    ])
}

fn message() -> Shape {
    record(vec![("message", text(), "what is wrong, and what to send instead")])
}

fn invalid_parameters() -> Shape {
    let source = record(vec![("pointer", pattern("^/"), "the parameter")]);
    let entry = record(vec![("title", word(&["Invalid value"]), ""), ("source", source, ""), ("detail", text(), "")]);
    record(vec![
        ("message", word(&["Invalid parameter(s)", "Invalid number"]), ""),
        ("errors", list(entry), "one each"),
    ])
}

fn not_found() -> Shape {
    record_with(
        vec![("message", text(), "")],
        vec![("hash", hash(), "of the block that lost its place, where only such a one is known")],
    )
}

/// A page of a list, whose cursor has these members.
pub(super) fn page(item: &str, cursor: Vec<Field>, optional: Vec<Field>) -> Shape {
    let next = nullable(record_with(cursor, optional));
    record(vec![
        ("items", list(named(item)), ""),
        ("next_page_params", next, "what to send along for the next page; null at the end"),
    ])
}
