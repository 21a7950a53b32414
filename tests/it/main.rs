//! The integration tests: everything over HTTP against the real engine, started here and ended by process id.

/// A test of each line: its name, and what it runs.
macro_rules! tests {
    ($($(#[$attribute:meta])* $name:ident: $run:expr),* $(,)?) => {
        $(#[test]
        $(#[$attribute])*
        fn $name() -> anyhow::Result<()> {
            $run
        })*
    };
}

/// A test of each name in a group, run by a function of group and name; and `LISTED`, to hold the list to what there
/// is.
macro_rules! listed {
    ($run:path; $($group:ident { $($name:ident)* })*) => {
        /// Groups, and the names in them.
        pub const LISTED: &[(&str, &[&str])] = &[$((stringify!($group), &[$(stringify!($name)),*])),*];
        $(mod $group {
            $(#[test]
            fn $name() -> anyhow::Result<()> {
                $run(stringify!($group), stringify!($name))
            })*
        })*
    };
}

mod activity;
mod address_logs;
mod address_pages;
mod address_ranking;
mod advanced_filters;
mod analysts;
mod attacks;
mod chain_activity;
mod chains;
mod clients;
mod coin_balances;
mod coin_flows;
mod console;
mod crowds;
mod damage;
mod described;
mod dice;
mod docs;
mod engine;
mod ens;
mod env;
mod etherscan;
mod everything;
mod failures;
mod family;
mod golden;
mod guides;
mod holdings;
mod hostile;
mod hot_contracts;
mod http_caching;
mod ingest;
mod instances;
mod labels;
mod lifecycle;
mod lookups;
mod main_page;
mod mcp;
mod mined_blocks;
mod operate;
mod otterscan;
mod pages;
mod plans;
mod rpc;
mod same_code;
mod scan;
mod scenario;
mod schema;
mod search;
mod server;
mod service;
mod several_chains;
mod smart_contracts;
mod sorted_transactions;
mod state_changes;
mod stats;
mod summaries;
mod tidy;
mod token_ranking;
mod tokens;
mod topics;
mod transactions;
mod user_operations;
mod verdicts;
mod web;
mod web_page;
