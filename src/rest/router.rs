//! The routes under `/api/v2`.

use axum::Router;
use axum::http::Uri;
use axum::{middleware, routing};

use super::{
    activity, address_counters, address_counts, address_page, address_ranking, addresses, advanced_filters, block,
    blocks, coin_balances, deposits, everything, hot_contracts, instance_lists, main_page, messages, mined_blocks,
    same_code, search, smart_contracts, state_changes, stats, stats_service, summary, token_balances, token_instances,
    token_lists, token_ranking, tokens, transaction_parts, transactions, verdicts, verified_contracts,
};
use crate::app::App;
use crate::error::Problem;
use crate::http::cached::cached;
use crate::http::queued::queued;
use crate::http::route::get;
use crate::http::{health, openapi};
use crate::scan::{self, exports};

/// Routes of the API family, of wide scans and of the service itself.
pub(crate) fn router(app: App) -> Router {
    let lists = Router::new()
        .route("/api/v2/blocks", get(blocks::list))
        .route("/api/v2/blocks/{block_number_or_hash}", get(block::block))
        .route("/api/v2/blocks/{block_number_or_hash}/withdrawals", get(blocks::withdrawals))
        .route("/api/v2/blocks/{block_number_or_hash}/transactions", get(blocks::transactions))
        .route("/api/v2/transactions/{transaction_hash}", get(transactions::transaction))
        .route("/api/v2/addresses/{address_hash}", get(address_page::address_page))
        .route("/api/v2/addresses/{address_hash}/counters", get(address_counters::counters))
        .route("/api/v2/addresses/{address_hash}/tabs-counters", get(address_counts::tabs))
        .route("/api/v2/addresses/{address_hash}/transactions", get(addresses::transactions))
        .route("/api/v2/addresses/{address_hash}/logs", get(addresses::logs))
        .route("/api/v2/addresses/{address_hash}/activity/counterparties", get(activity::of_counterparties))
        .route("/api/v2/addresses/{address_hash}/activity/coins", get(activity::of_coins))
        .route("/api/v2/addresses/{address_hash}/activity/failures", get(activity::of_failures))
        .route("/api/v2/stats/activity/failures", get(activity::of_all_failures))
        .route("/api/v2/addresses/{address_hash}/activity/events", get(activity::of_events))
        .route("/api/v2/addresses/{address_hash}/activity/methods", get(activity::of_methods))
        .route("/api/v2/tokens/{address_hash}/activity", get(activity::of_transfers))
        .route("/api/v2/stats/activity", get(activity::of_chain))
        .route("/api/v2/addresses/{address_hash}/blocks-validated", get(mined_blocks::blocks_validated))
        .route("/api/v2/tokens", get(token_ranking::tokens))
        .route("/api/v2/tokens/{address_hash}", get(tokens::token))
        .route("/api/v2/tokens/{address_hash}/counters", get(tokens::counters))
        .route("/api/v2/tokens/{address_hash}/holders", get(token_lists::holders))
        .route("/api/v2/tokens/{address_hash}/transfers", get(token_lists::transfers))
        .route("/api/v2/tokens/{address_hash}/instances", get(token_instances::instances))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}", get(token_instances::instance))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}/transfers", get(instance_lists::transfers))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}/transfers-count", get(instance_lists::total))
        .route("/api/v2/tokens/{address_hash}/instances/{token_id}/holders", get(instance_lists::holders))
        .route("/api/v2/addresses/{address_hash}/nft", get(token_instances::nft))
        .route("/api/v2/addresses/{address_hash}/nft/collections", get(token_instances::nft_collections))
        .route("/api/v2/addresses/{address_hash}/token-balances", get(token_balances::token_balances))
        .route("/api/v2/addresses/{address_hash}/tokens", get(token_balances::tokens))
        .route("/api/v2/smart-contracts", get(verified_contracts::contracts))
        .route("/api/v2/smart-contracts/counters", get(verified_contracts::counters))
        .route("/api/v2/addresses/{address_hash}/coin-balance-history", get(coin_balances::history))
        .route("/api/v2/addresses/{address_hash}/coin-balance-history-by-day", get(coin_balances::by_day))
        .route("/api/v2/smart-contracts/{address_hash}", get(smart_contracts::smart_contract))
        .route("/api/v2/smart-contracts/{address_hash}/same-code", get(same_code::same_code))
        .route("/api/v2/transactions/{transaction_hash}/logs", get(transactions::logs))
        .route("/api/v2/addresses/{address_hash}/withdrawals", get(addresses::withdrawals))
        .route("/api/v2/addresses/{address_hash}/internal-transactions", get(addresses::internal_transactions))
        .route("/api/v2/addresses/{address_hash}/token-transfers", get(addresses::token_transfers))
        .route("/api/v2/transactions/{transaction_hash}/token-transfers", get(transaction_parts::token_transfers))
        .route("/api/v2/transactions/{transaction_hash}/internal-transactions", get(transaction_parts::frames))
        .route("/api/v2/transactions/{transaction_hash}/blobs", get(transaction_parts::blobs))
        .route("/api/v2/blocks/{block_number_or_hash}/internal-transactions", get(block::internal_transactions))
        .route("/api/v2/blocks/{block_number_or_hash}/countdown", get(block::countdown))
        .route("/api/v2/transactions/{transaction_hash}/state-changes", get(state_changes::state_changes))
        .route("/api/v2/transactions/{transaction_hash}/raw-trace", get(transactions::raw_trace))
        .route("/api/v2/transactions/{transaction_hash}/summary", get(summary::summary))
        .route("/api/v2/transactions", get(everything::transactions))
        .route("/api/v2/token-transfers", get(everything::token_transfers))
        .route("/api/v2/internal-transactions", get(everything::internal_transactions))
        .route("/api/v2/advanced-filters", get(advanced_filters::list))
        .route("/api/v2/advanced-filters/methods", get(advanced_filters::methods))
        .route("/api/v2/withdrawals", get(everything::withdrawals))
        .route("/api/v2/withdrawals/counters", get(everything::withdrawal_counters))
        .merge(messages_to_l1())
        .merge(deposits_from_l1())
        .route("/api/v2/main-page/blocks", get(main_page::blocks))
        .route("/api/v2/main-page/transactions", get(main_page::transactions))
        .route("/api/v2/main-page/indexing-status", get(main_page::indexing_status))
        .route("/api/v2/stats", get(stats::stats))
        .route("/api/v2/addresses", get(address_ranking::addresses))
        .route("/api/v2/stats/hot-smart-contracts", get(hot_contracts::hot_contracts))
        .route("/api/v2/stats/charts/transactions", get(stats::transactions_chart))
        .route("/api/v2/stats/charts/market", get(stats::market_chart))
        .route("/api/v2/transactions/stats", get(stats::last_day))
        .merge(statistics())
        .route("/api/v2/search", get(search::search))
        .route("/api/v2/search/quick", get(search::quick))
        .route("/api/v2/search/check-redirect", get(search::check_redirect))
        // What is in the cache waits for nothing.
        .route_layer(middleware::from_fn_with_state(app.clone(), queued))
        .route_layer(middleware::from_fn_with_state(app.clone(), cached));
    // A block may be proven anew while the chain stands still.
    let verdicts = Router::new()
        .route("/api/v2/blocks/{block_number_or_hash}/verdict", get(verdicts::verdict))
        .route("/api/v2/stats/verdicts", get(verdicts::totals))
        .route_layer(middleware::from_fn_with_state(app.clone(), queued));
    Router::new()
        .merge(lists)
        .merge(verdicts)
        .route("/api/v2/scan/logs", get(scan::get).post(scan::post))
        .route("/api/v2/scan/internal-transactions", get(scan::internal_transactions))
        .route("/api/v2/scan/token-transfers", get(scan::token_transfers))
        .route("/api/v2/scan/transactions", get(scan::transactions))
        .route("/api/v2/addresses/{address_hash}/transactions/csv", get(exports::transactions))
        .route("/api/v2/addresses/{address_hash}/token-transfers/csv", get(exports::token_transfers))
        .route("/api/v2/addresses/{address_hash}/internal-transactions/csv", get(exports::internal_transactions))
        .route("/api/v2/addresses/{address_hash}/logs/csv", get(exports::logs))
        .route("/api/v2/config/backend-version", routing::get(health::backend_version))
        .route("/api/v2/config/json-rpc-url", get(health::json_rpc_url))
        .route("/api/v2/openapi", routing::get(openapi::openapi))
        .route("/api/v2", get(unknown))
        .route("/api/v2/proxy/account-abstraction/{*rest}", get(user_operations))
        .route("/api/v2/{*rest}", get(unknown))
        .with_state(app)
}

/// Routes of the statistics service.
fn statistics() -> Router<App> {
    Router::new()
        .route("/stats-service/api/v1/counters", get(stats_service::counters))
        .route("/stats-service/api/v1/lines", get(stats_service::lines))
        .route("/stats-service/api/v1/lines/{name}", get(stats_service::line))
        .route("/stats-service/api/v1/pages/main", get(stats_service::main_page))
        .route("/stats-service/api/v1/pages/transactions", get(stats_service::transactions_page))
        .route("/stats-service/api/v1/pages/contracts", get(stats_service::contracts_page))
}

/// Lists of messages to L1, at the path that clients of each family know.
fn messages_to_l1() -> Router<App> {
    let paths = trawl_chains::message_paths().into_iter();
    paths.fold(Router::new(), |router, path| router.route(path, get(messages::list)))
}

/// Lists of transactions from L1, at the path that clients of each family know.
fn deposits_from_l1() -> Router<App> {
    let paths = trawl_chains::deposit_paths().into_iter();
    paths.fold(Router::new(), |router, path| router.route(path, get(deposits::list)))
}

/// What Blockscout asks another service for.
async fn user_operations(_: Uri) -> Problem {
    Problem::UserOperations
}

async fn unknown(_: Uri) -> Problem {
    Problem::UnknownAction
}
