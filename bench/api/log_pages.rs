//! Pages of 50 logs: somewhere in the logs of somewhere near the busiest contracts, other ones each time.

use serde_json::json;
use trawl_core::primitives::{Address, BlockRange, LogFilter};
use trawl_query::logs::LogPage;

use crate::bed::TestBed;
use crate::client::{Client, Load, Request};
use crate::leg::Leg;
use crate::postgres::Postgres;
use crate::{sql, wide};

/// Logs of a page.
pub const SIZE: u64 = 50;

/// Contracts of which pages are requested.
pub struct Pages {
    addresses: Vec<String>,
    last: u64,
}

impl Pages {
    /// The hundred busiest contracts of a data set.
    pub fn of(bed: &TestBed) -> anyhow::Result<Self> {
        let sql = "SELECT lower(hex(address)) FROM logs GROUP BY address ORDER BY count() DESC, address LIMIT 100";
        let addresses = bed.store.text(sql, &[])?.lines().map(str::to_owned).collect();
        Ok(Self { addresses, last: bed.last_block() })
    }

    /// A contract and a block to begin at; the same for the same number.
    fn contract_at(&self, number: u64) -> (&str, u64) {
        let hash = scatter(number);
        let address = &self.addresses[(hash % self.addresses.len() as u64) as usize];
        (address, (hash >> 32) % (self.last * 9 / 10 + 1))
    }

    /// The request of a client of eth_getLogs.
    pub fn served(&self, url: &str, path: &str, number: u64) -> Request {
        let (address, first) = self.contract_at(number);
        let (first, last) = (format!("{first:#x}"), format!("{:#x}", self.last));
        wide::rpc(url, path, &json!({"address": format!("0x{address}"), "fromBlock": first, "toBlock": last}))
    }

    /// The statement of Trawl's plan.
    pub fn planned(&self, bed: &TestBed, number: u64) -> Request {
        let (address, first) = self.contract_at(number);
        let addresses = vec![address.parse::<Address>().expect("hexadecimal digits")];
        let filter = LogFilter { addresses, topics: Vec::new() };
        let blocks = vec![BlockRange::new(first, self.last).expect("ordered")];
        sql::planned(&bed.store, &LogPage::new(filter, blocks, SIZE).statement())
    }
}

/// A pseudo-random number (splitmix64).
pub fn scatter(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Pages a second for a number of clients, in turns. `api` answers pages of [`SIZE`].
pub fn measure(
    client: &Client,
    bed: &TestBed,
    api: &str,
    postgres: Option<&Postgres>,
    (clients, seconds, rounds): (usize, f64, usize),
) -> anyhow::Result<Vec<Leg>> {
    let pages = Pages::of(bed)?;
    let trawl = |number| pages.served(api, "/api/eth-rpc", number);
    let raw = |number| pages.planned(bed, number);
    let path = format!("/api/eth-rpc/{SIZE}");
    let peer = postgres.map(|postgres| |number: u64| pages.served(postgres.url(), &path, number));
    let mut requests: Vec<(&str, &dyn Fn(u64) -> Request)> = vec![("Trawl", &trawl), ("raw engine", &raw)];
    if let Some(peer) = &peer {
        requests.push(("PostgreSQL", peer));
    }
    loads(client, &requests, clients, seconds, rounds)
}

/// Answers a second of each leg in turn, with the median time beside it; the numbers of requests go on from round to
/// round.
pub fn loads(
    client: &Client,
    requests: &[(&str, &dyn Fn(u64) -> Request)],
    clients: usize,
    seconds: f64,
    rounds: usize,
) -> anyhow::Result<Vec<Leg>> {
    let mut legs: Vec<(Leg, Vec<Load>)> = requests.iter().map(|(name, _)| (Leg::new(*name), Vec::new())).collect();
    for round in 0..=rounds as u64 {
        for ((leg, loads), (_, request)) in legs.iter_mut().zip(requests) {
            let load = client.load(clients, seconds / rounds as f64, |number| request((round << 32) + number))?;
            if round > 0 {
                leg.samples.push(load.rate);
                loads.push(load);
            }
        }
    }
    let summed = |(leg, loads): (Leg, Vec<Load>)| {
        let median = |of: fn(&Load) -> f64| crate::leg::median(&loads.iter().map(of).collect::<Vec<_>>());
        leg.with(MEDIAN, median(|load| load.median) * 1e3).with("p99, ms", median(|load| load.p99) * 1e3)
    };
    Ok(legs.into_iter().map(summed).collect())
}

/// The median of an answer's time.
pub const MEDIAN: &str = "median, ms";
