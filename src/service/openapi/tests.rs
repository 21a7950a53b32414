//! The description matches the code in parameters, methods, columns and version. Routes: `tests/it/described.rs`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::DOCUMENT;
use crate::http::parameters::QueryParameters;
use crate::http::query::{Kind, MAX_COUNT, ParameterGroup};
use crate::rest::{
    account_abstraction, activity, addresses, advanced_filters, blocks, contracts, everything, rollups, search, stats,
    tokens, transactions,
};
use crate::rpc::method_names;
use crate::scan::exports;
use trawl_core::schema::{BlockTokenTransferRow, ScannedInternalTransaction, ScannedTransaction};
use trawl_json::scan_rows::{self, ScanRow};

fn document() -> Value {
    serde_json::from_str(DOCUMENT).expect("JSON")
}

/// Visits every object in a value.
fn visit(value: &Value, act: &mut dyn FnMut(&Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            act(object);
            object.values().for_each(|value| visit(value, act));
        }
        Value::Array(values) => values.iter().for_each(|value| visit(value, act)),
        _ => {}
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(document()["info"]["version"], env!("CARGO_PKG_VERSION"));
}

#[test]
fn every_reference_has_a_component_and_every_component_is_referenced() {
    let document = document();
    let mut used = BTreeSet::new();
    visit(&document, &mut |object| {
        if let Some(Value::String(reference)) = object.get("$ref") {
            used.insert(reference.clone());
        }
        // Operations name schemes of security without `$ref`.
        for scheme in object.get("security").and_then(Value::as_array).into_iter().flatten() {
            let names = scheme.as_object().expect("schemes").keys();
            used.extend(names.map(|name| format!("#/components/securitySchemes/{name}")));
        }
    });
    let mut components = BTreeSet::new();
    for (kind, members) in document["components"].as_object().expect("components") {
        let names = members.as_object().expect("names").keys();
        components.extend(names.map(|name| format!("#/components/{kind}/{name}")));
    }
    assert_eq!(used, components);
}

#[test]
fn required_members_are_described() {
    let mut records = 0;
    visit(&document(), &mut |object| {
        let (Some(Value::Array(required)), Some(Value::Object(members))) =
            (object.get("required"), object.get("properties"))
        else {
            return;
        };
        records += 1;
        for name in required {
            assert!(members.contains_key(name.as_str().unwrap_or_default()), "{name} of {object:?}");
        }
    });
    assert!(records > 40, "only {records}");
}

/// The value, or the component that it refers to.
fn resolve<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let reference = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
    reference.map_or(value, |pointer| document.pointer(pointer).expect("a component"))
}

/// The endpoints, and the query parameters that their handlers declare.
const DECLARED: &[(&str, &[ParameterGroup])] = &[
    ("/api/v2/advanced-filters", advanced_filters::AdvancedFiltersParameters::GROUPS),
    ("/api/v2/advanced-filters/csv", advanced_filters::export::FilterExportParameters::GROUPS),
    ("/api/v2/advanced-filters/methods", advanced_filters::methods::MethodsParameters::GROUPS),
    ("/api/v2/smart-contracts/counters", &[]),
    ("/api/v2/blocks", blocks::list::BlockListParameters::GROUPS),
    ("/api/v2/blocks/{block_number_or_hash}", &[]),
    ("/api/v2/blocks/{block_number_or_hash}/withdrawals", blocks::list::WithdrawalsParameters::GROUPS),
    ("/api/v2/blocks/{block_number_or_hash}/verdict", &[]),
    ("/api/v2/stats/verdicts", &[]),
    ("/api/v2/stats/storage", &[]),
    ("/api/v2/blocks/{block_number_or_hash}/transactions", blocks::list::TransactionsParameters::GROUPS),
    ("/api/v2/transactions/{transaction_hash}", &[]),
    ("/api/v2/addresses/{address_hash}", &[]),
    ("/api/v2/addresses/{address_hash}/tabs-counters", &[]),
    ("/api/v2/addresses/{address_hash}/activity/counterparties", activity::TotalsParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/activity/coins", activity::TotalsParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/activity/failures", activity::TotalsParameters::GROUPS),
    ("/api/v2/stats/activity/failures", activity::TotalsParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/activity/events", activity::ActivityParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/activity/methods", activity::ActivityParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}/activity", activity::ActivityParameters::GROUPS),
    ("/api/v2/stats/activity", activity::ActivityParameters::GROUPS),
    ("/api/v2/utils/decode-calldata", contracts::calldata::CalldataParameters::GROUPS),
    ("/api/v2/smart-contracts", contracts::list::ContractListParameters::GROUPS),
    ("/api/v2/smart-contracts/{address_hash}", &[]),
    ("/api/v2/smart-contracts/{address_hash}/same-code", &[]),
    ("/api/v2/addresses/{address_hash}/token-balances", &[]),
    ("/api/v2/addresses/{address_hash}/tokens", tokens::balances::TokensParameters::GROUPS),
    ("/api/v2/tokens", tokens::ranking::TokensParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}", &[]),
    ("/api/v2/tokens/{address_hash}/counters", &[]),
    ("/api/v2/tokens/{address_hash}/holders", tokens::lists::HoldersParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}/holders/csv", tokens::holders_csv::HolderExportParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}/instances", tokens::instances::InstancesParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}/instances/{token_id}", &[]),
    ("/api/v2/tokens/{address_hash}/instances/{token_id}/transfers", tokens::lists::TransfersParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}/instances/{token_id}/transfers-count", &[]),
    ("/api/v2/tokens/{address_hash}/instances/{token_id}/holders", tokens::lists::HoldersParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/nft", tokens::instances::NftParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/nft/collections", tokens::instances::CollectionsParameters::GROUPS),
    ("/api/v2/tokens/{address_hash}/transfers", tokens::lists::TransfersParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/transactions", addresses::lists::TransactionsParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/counters", &[]),
    ("/api/v2/addresses/{address_hash}/logs", addresses::lists::LogsParameters::GROUPS),
    ("/api/v2/transactions/{transaction_hash}/logs", transactions::transaction::LogsParameters::GROUPS),
    ("/api/v2/transactions/{transaction_hash}/calls", &[]),
    ("/api/v2/transactions/{transaction_hash}/raw-trace", transactions::transaction::RawTraceParameters::GROUPS),
    ("/api/v2/transactions/{transaction_hash}/blobs", &[]),
    (
        "/api/v2/transactions/{transaction_hash}/state-changes",
        transactions::state_changes::StateChangesParameters::GROUPS,
    ),
    ("/api/v2/transactions/{transaction_hash}/token-transfers", transactions::parts::TokenTransfersParameters::GROUPS),
    (
        "/api/v2/transactions/{transaction_hash}/internal-transactions",
        transactions::parts::InternalTransactionsParameters::GROUPS,
    ),
    (
        "/api/v2/blocks/{block_number_or_hash}/internal-transactions",
        blocks::block::InternalTransactionsParameters::GROUPS,
    ),
    ("/api/v2/blocks/{block_number_or_hash}/countdown", &[]),
    ("/api/v2/transactions/{transaction_hash}/summary", transactions::summary::SummaryParameters::GROUPS),
    (
        "/api/v2/addresses/{address_hash}/internal-transactions",
        addresses::lists::InternalTransactionsParameters::GROUPS,
    ),
    ("/api/v2/addresses/{address_hash}/token-transfers", addresses::lists::TokenTransfersParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/coin-balance-history", addresses::coin_balances::HistoryParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/coin-balance-history-by-day", &[]),
    ("/api/v2/addresses/{address_hash}/withdrawals", addresses::lists::WithdrawalsParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/transactions/csv", exports::SideParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/token-transfers/csv", exports::SideParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/internal-transactions/csv", exports::SideParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/logs/csv", exports::LogParameters::GROUPS),
    ("/api/v2/addresses", addresses::ranking::AddressesParameters::GROUPS),
    ("/api/v2/addresses/{address_hash}/blocks-validated", addresses::mined_blocks::BlocksValidatedParameters::GROUPS),
    ("/api/v2/transactions", everything::TransactionsParameters::GROUPS),
    ("/api/v2/token-transfers", everything::TokenTransfersParameters::GROUPS),
    ("/api/v2/internal-transactions", everything::InternalTransactionsParameters::GROUPS),
    ("/api/v2/withdrawals", everything::WithdrawalsParameters::GROUPS),
    ("/api/v2/proxy/account-abstraction/operations", account_abstraction::lists::OperationsParameters::GROUPS),
    ("/api/v2/proxy/account-abstraction/operations/{operation_hash}", &[]),
    ("/api/v2/proxy/account-abstraction/bundles", account_abstraction::bundles::BundlesParameters::GROUPS),
    ("/api/v2/proxy/account-abstraction/accounts/{address_hash}", &[]),
    ("/api/v2/proxy/account-abstraction/paymasters/{address_hash}", &[]),
    ("/api/v2/withdrawals/counters", &[]),
    ("/api/v2/optimism/withdrawals", rollups::messages::MessagesParameters::GROUPS),
    ("/api/v2/arbitrum/messages/from-rollup", rollups::messages::MessagesParameters::GROUPS),
    ("/api/v2/arbitrum/messages/withdrawals/{transaction_hash}", &[]),
    ("/api/v2/scroll/withdrawals", rollups::messages::MessagesParameters::GROUPS),
    ("/api/v2/main-page/optimism-deposits", &[]),
    ("/api/v2/main-page/arbitrum/messages/to-rollup", &[]),
    ("/api/v2/optimism/deposits", rollups::deposits::DepositsParameters::GROUPS),
    ("/api/v2/arbitrum/messages/to-rollup", rollups::deposits::DepositsParameters::GROUPS),
    ("/api/v2/scroll/deposits", rollups::deposits::DepositsParameters::GROUPS),
    ("/api/v2/main-page/blocks", &[]),
    ("/api/v2/main-page/transactions", &[]),
    ("/api/v2/main-page/indexing-status", &[]),
    ("/api/v2/stats", &[]),
    ("/api/v2/stats/hot-smart-contracts", contracts::hot_contracts::HotContractsParameters::GROUPS),
    ("/api/v2/stats/charts/transactions", &[]),
    ("/api/v2/stats/charts/market", &[]),
    ("/api/v2/transactions/stats", &[]),
    ("/api/v1/gas-price-oracle", &[]),
    ("/stats-service/api/v1/counters", &[]),
    ("/stats-service/api/v1/lines", &[]),
    ("/stats-service/api/v1/lines/{name}", stats::service::ChartParameters::GROUPS),
    ("/stats-service/api/v1/pages/main", &[]),
    ("/stats-service/api/v1/pages/transactions", &[]),
    ("/stats-service/api/v1/pages/contracts", &[]),
    ("/api/v2/search", search::SearchParameters::GROUPS),
    ("/api/v2/search/quick", search::QuickSearchParameters::GROUPS),
    ("/api/v2/search/check-redirect", search::QuickSearchParameters::GROUPS),
];

/// Those that take no parameters of a noun. Scans are compared by their fields.
const DECLARED_ELSEWHERE: [&str; 3] =
    ["/api/v2/config/backend-version", "/api/v2/config/json-rpc-url", "/api/v2/openapi"];

#[test]
fn lists_take_the_parameters_that_their_handlers_declare() {
    let document = document();
    let paths = document["paths"].as_object().expect("paths");
    let reads = paths.iter().filter(|(path, item)| path.starts_with("/api/v2/") && item.get("get").is_some());
    let is_elsewhere = |path: &str| DECLARED_ELSEWHERE.contains(&path) || path.starts_with("/api/v2/scan/");
    for (path, _) in reads.filter(|(path, _)| !is_elsewhere(path)) {
        assert!(DECLARED.iter().any(|(declared, _)| declared == path), "{path} is not in DECLARED");
    }
    for (path, declared) in DECLARED {
        let operation = &document["paths"][*path]["get"];
        assert!(operation.is_object(), "{path}");
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let parameters = parameters.map(|parameter| resolve(&document, parameter));
        let described: Vec<(&str, Value)> = parameters
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| (parameter["name"].as_str().expect("a name"), resolve(&document, &parameter["schema"])))
            .map(|(name, schema)| (name, schema.clone()))
            .collect();
        let expected: Vec<(&str, Value)> =
            declared.iter().copied().flatten().map(|(name, kind)| (*name, schema(*kind))).collect();
        let by_name = |parameters: Vec<(&str, Value)>| {
            parameters
                .into_iter()
                .map(|(name, schema)| (name.to_owned(), schema))
                .collect::<std::collections::BTreeMap<_, _>>()
        };
        assert_eq!(described.len(), expected.len(), "{path}");
        assert_eq!(by_name(described), by_name(expected), "{path}");
    }
}

/// The schema of a declared parameter.
fn schema(kind: Kind) -> Value {
    let text = |pattern: &str| json!({"type": "string", "pattern": pattern});
    let integer =
        |least: i64, most: i64| json!({"type": "integer", "format": "int64", "minimum": least, "maximum": most});
    match kind {
        // Generators make no names of values with bars.
        Kind::Name(names) if names.iter().any(|name| name.contains('|')) => {
            let words: Vec<String> = names.iter().map(|name| name.replace('|', r"\|")).collect();
            text(&format!("^({})$", words.join("|")))
        }
        Kind::Name(names) => json!({"type": "string", "enum": names}),
        Kind::Height => integer(0, i64::MAX),
        Kind::Integer => integer(i64::MIN, i64::MAX),
        Kind::Count => integer(1, MAX_COUNT),
        Kind::Address => text("^0x[0-9a-fA-F]{40}$"),
        Kind::Hash => text("^0x[0-9a-fA-F]{64}$"),
        Kind::Text => json!({"type": "string"}),
        Kind::Amount => text("^[0-9]{1,78}$"),
        Kind::Known => text("^([0-9]{1,18}|null)?$"),
        Kind::Standards => {
            let one = "[Ee][Rr][Cc]-(20|721|1155|404|7984)";
            text(&format!("^({one}(,{one})*|\\[{one}(,{one})*\\]|\\[\\])?$"))
        }
    }
}

#[test]
fn the_methods_of_a_call_are_those_that_are_served() {
    let document = document();
    for (schema, served) in ["RpcCall", "NodeRpcCall"].into_iter().zip(method_names()) {
        let calls = document["components"]["schemas"][schema]["oneOf"].as_array().expect("calls");
        let names = calls.iter().flat_map(|call| call["properties"]["method"]["enum"].as_array().expect("methods"));
        let described: BTreeSet<&str> = names.map(|name| name.as_str().expect("a name")).collect();
        assert_eq!(described, served.into_iter().collect(), "{schema}");
    }
}

#[test]
fn rows_of_scans_have_the_fields_that_are_written() {
    rows::<ScannedInternalTransaction>("/api/v2/scan/internal-transactions");
    rows::<BlockTokenTransferRow>("/api/v2/scan/token-transfers");
    rows::<ScannedTransaction>("/api/v2/scan/transactions");
}

fn rows<R: ScanRow>(path: &str) {
    let document = document();
    let answer = &document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]["anyOf"];
    let row = resolve(&document, &answer[0]["properties"]["items"]["items"]);
    let fields: Vec<(&str, Value)> = R::FIELDS.iter().map(|field| (field.name, nullable(field.kind))).collect();
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let members: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    assert_eq!(row["required"], json!(names), "{path}");
    assert_eq!(row["properties"], Value::Object(members), "{path}");
    assert_eq!(row["additionalProperties"], false, "{path}");
}

/// The schema of a field that may be null.
fn nullable(kind: scan_rows::Kind) -> Value {
    let pattern = match kind {
        scan_rows::Kind::Number | scan_rows::Kind::Wide | scan_rows::Kind::Time => "^0x(0|[1-9a-f][0-9a-f]*)$",
        scan_rows::Kind::Address => "^0x[0-9a-f]{40}$",
        scan_rows::Kind::Word => "^0x[0-9a-f]{64}$",
        scan_rows::Kind::Bytes => "^0x([0-9a-f]{2})*$",
        scan_rows::Kind::Text => return json!({"type": ["string", "null"]}),
        scan_rows::Kind::Flag => return json!({"type": ["boolean", "null"]}),
    };
    json!({"type": ["string", "null"], "pattern": pattern})
}
