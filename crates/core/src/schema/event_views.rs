//! The views of events that every database has: what `trawl-ingest views add` would make of these.

use std::sync::LazyLock;

use super::event_view::{LogSource, event_view};
use super::migrations::Step;
use crate::primitives::abi::KnownEvent;

/// View, which logs it reads, and the event.
const EVENTS: [(&str, LogSource<'static>, &str); 12] = [
    (
        "v_approvals_for_all",
        LogSource::Heights,
        "ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
    ),
    (
        "v_erc1155_batch_transfers",
        LogSource::Heights,
        "TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, \
         uint256[] values)",
    ),
    (
        "v_erc1155_transfers",
        LogSource::Heights,
        "TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, \
         uint256 value)",
    ),
    (
        "v_erc20_approvals",
        LogSource::Heights,
        "Approval(address indexed owner, address indexed spender, uint256 value)",
    ),
    ("v_erc20_transfers", LogSource::Heights, "Transfer(address indexed from, address indexed to, uint256 value)"),
    (
        "v_erc721_approvals",
        LogSource::Heights,
        "Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
    ),
    (
        "v_erc721_transfers",
        LogSource::Heights,
        "Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
    ),
    (
        "v_uniswap_v2_swaps",
        LogSource::Heights,
        "Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, \
         uint256 amount1Out, address indexed to)",
    ),
    (
        "v_uniswap_v3_swaps",
        LogSource::Heights,
        "Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, \
         uint160 sqrtPriceX96, uint128 liquidity, int24 tick)",
    ),
    (
        "v_uniswap_v4_swaps",
        LogSource::Heights,
        "Swap(bytes32 indexed id, address indexed sender, int128 amount0, int128 amount1, \
         uint160 sqrtPriceX96, uint128 liquidity, int24 tick, uint24 fee)",
    ),
    ("v_weth_deposits", LogSource::Contracts, "Deposit(address indexed dst, uint256 wad)"),
    ("v_weth_withdrawals", LogSource::Contracts, "Withdrawal(address indexed src, uint256 wad)"),
];

/// The statements of the views.
pub static EVENT_VIEWS: LazyLock<Vec<Step>> = LazyLock::new(|| {
    EVENTS
        .iter()
        .map(|(name, logs, event)| {
            let known = KnownEvent::parse(event).expect("an event of this release");
            let sql = event_view(name, &known, *logs).expect("parameters that fit columns");
            Step { name, sql: sql.leak() }
        })
        .collect()
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_a_view_of_its_name() {
        for step in EVENT_VIEWS.iter() {
            assert!(step.sql.starts_with(&format!("CREATE OR REPLACE VIEW {}\n(", step.name)), "{}", step.sql);
        }
    }
}
