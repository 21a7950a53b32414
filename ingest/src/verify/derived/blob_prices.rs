//! What a blob cost, by the schedule of its chain.

use alloy_hardforks::EthereumHardfork::{self, Bpo1, Bpo2, Cancun, Prague};
use alloy_hardforks::ForkCondition;
use trawl_chains::Family;
use trawl_core::primitives::U256;

/// Forks with the update fractions that they brought (EIP-4844, EIP-7691, EIP-7892).
const FRACTIONS: [(EthereumHardfork, u128); 4] =
    [(Cancun, 3_338_477), (Prague, 5_007_716), (Bpo1, 8_346_193), (Bpo2, 11_684_671)];

/// The price of blob gas by the schedule of a listed chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScheduledPrice {
    /// Wei per blob gas.
    pub wei: U256,
    /// Whether the schedule ends with it: a fork that came later may have changed the price.
    pub is_of_newest_fork: bool,
}

/// The price at a time (seconds since 1970) on a chain of Ethereum's whose forks are listed.
pub(super) fn scheduled_price(chain_id: u64, timestamp: u64, excess_blob_gas: u64) -> Option<ScheduledPrice> {
    let forks = match chain_id {
        1 => EthereumHardfork::mainnet().to_vec(),
        11_155_111 => EthereumHardfork::sepolia().to_vec(),
        17_000 => EthereumHardfork::holesky().to_vec(),
        560_048 => EthereumHardfork::hoodi().to_vec(),
        _ => return None,
    };
    let start = |name: EthereumHardfork| {
        forks.iter().find_map(|(fork, condition)| match *condition {
            ForkCondition::Timestamp(start) if *fork == name => Some(start),
            _ => None,
        })
    };
    let schedule = FRACTIONS.iter().filter_map(|(fork, fraction)| Some((start(*fork)?, *fraction)));
    let (later, begun): (Vec<_>, Vec<_>) = schedule.partition(|(start, _)| *start > timestamp);
    let (_, fraction) = begun.last()?;
    let wei = fake_exponential(1, excess_blob_gas, *fraction);
    Some(ScheduledPrice { wei, is_of_newest_fork: later.is_empty() })
}

/// Wei per blob gas under each known update fraction, and by the rules of the family: which one holds depends on a
/// chain's fork times, which headers do not show.
pub(super) fn blob_gas_prices(excess_blob_gas: u64, family: &Family) -> impl Iterator<Item = U256> {
    let of_ethereum = FRACTIONS.map(|(_, fraction)| (1, fraction));
    let of_family = family.blob_rules().map(|rule| (rule.least_price, rule.update_fraction));
    let all = of_ethereum.into_iter().chain(of_family);
    all.map(move |(least, fraction)| fake_exponential(least, excess_blob_gas, fraction))
}

/// `fake_exponential` of EIP-4844.
fn fake_exponential(factor: u128, numerator: u64, denominator: u128) -> U256 {
    let (numerator, denominator) = (U256::from(numerator), U256::from(denominator));
    let mut output = U256::ZERO;
    let mut term = U256::from(factor).saturating_mul(denominator);
    let mut step = U256::from(1);
    while !term.is_zero() {
        let Some(sum) = output.checked_add(term) else { return U256::MAX };
        output = sum;
        let Some(product) = term.checked_mul(numerator) else { return U256::MAX };
        term = product / (denominator * step);
        step += U256::from(1);
    }
    output / denominator
}

#[cfg(test)]
mod tests {
    use trawl_chains::{ETHEREUM, by_chain_id};

    use super::*;

    #[test]
    fn a_listed_chain_has_one_price_at_a_time() {
        let of = |timestamp: u64, excess: u64| scheduled_price(1, timestamp, excess);
        let price =
            |wei: u64, is_of_newest_fork: bool| Some(ScheduledPrice { wei: U256::from(wei), is_of_newest_fork });
        assert_eq!(of(1_710_338_134, 0), None, "before Cancun");
        assert_eq!(of(1_710_338_135, 0), price(1, false));
        // Block 22,431,084 of Mainnet, the first one with Prague; by the other fractions other prices follow.
        assert_eq!(of(1_746_612_311, 50_462_720), price(23_789, false));
        for other in [1_746_612_310, 1_765_290_071, 1_767_747_671] {
            assert_ne!(of(other, 50_462_720).map(|price| price.wei), Some(U256::from(23_789)), "{other}");
        }
        assert_eq!(of(1_767_747_671, 0), price(1, true));
        assert_eq!(scheduled_price(100, 1_767_747_671, 0), None, "Gnosis has rules of its own");
    }

    #[test]
    fn blobs_cost_what_their_chain_asks_at_least() {
        let has = |family: &Family, excess: u64, price: u64| {
            blob_gas_prices(excess, family).any(|found| found == U256::from(price))
        };
        let gnosis = by_chain_id(100);
        assert!(has(&ETHEREUM, 0, 1) && !has(&ETHEREUM, 0, 1_000_000_000));
        assert!(has(gnosis, 0, 1_000_000_000));
        // 10^9 · e^(131,072 / 1,112,826).
        assert!(has(gnosis, 131_072, 1_124_999_975), "{:?}", blob_gas_prices(131_072, gnosis).collect::<Vec<_>>());
        assert!(!has(gnosis, 131_072, 1_124_999_976));
    }
}
