//! How much memory a wide answer takes in the API.

use xtask::process::Server;

use crate::bed::TestBed;
use crate::client::Client;
use crate::leg::Leg;
use crate::processes::{forget_peak, resident};
use crate::wide::{self, Contract};

/// What the resident memory of a fresh API grows to over answers of a tenth of a contract's logs and of all, in MiB
/// above what it was before the first of them.
pub fn measure(
    client: &Client,
    bed: &TestBed,
    api: &Server,
    contract: &Contract,
    rounds: usize,
) -> anyhow::Result<Vec<Leg>> {
    let mut legs = vec![Leg::new("a tenth of the logs"), Leg::new("all logs")];
    let request = |last| wide::get_logs(&api.url, "/api/eth-rpc", &contract.address, last);
    // What is allocated for the first request of all stays.
    client.drain(&request(1))?;
    let before = resident(api.id())?.now;
    for _ in 0..rounds {
        for (leg, last) in legs.iter_mut().zip([bed.last_block() / 10, bed.last_block()]) {
            forget_peak(api.id())?;
            client.drain(&request(last))?;
            let peak = resident(api.id())?.peak;
            leg.samples.push((peak - before).max(0.));
            leg.figures.insert("peak, MiB".into(), peak);
        }
    }
    Ok(legs)
}
