//! What a page and a scattered filter cost over many rows, against over few.

use crate::bed::TestBed;
use crate::client::{Client, Request};
use crate::leg::{Leg, in_turns};
use crate::log_pages::{Pages, SIZE};
use crate::store::Content;
use crate::{Flags, scattered};

/// Times in milliseconds of pages and of scattered logs per thousand of them, in turns over both data sets.
pub fn measure(client: &Client, flags: &Flags, large: &TestBed, rounds: usize) -> anyhow::Result<[Vec<Leg>; 2]> {
    let small = TestBed::start(flags, Content::Logs, flags.small_rows)?;
    let beds = [&small, large];
    let names = beds.map(|bed| format!("{} logs", crate::leg::figure(bed.size as f64)));
    let names = [names[0].as_str(), names[1].as_str()];
    let size = SIZE.to_string();
    let mut apis = Vec::new();
    let mut scans = Vec::new();
    for bed in beds {
        apis.push(bed.api(&["--max-logs", &size])?);
        scans.push(bed.api(&["--max-logs", "0"])?);
    }
    let sets = [Pages::of(&small)?, Pages::of(large)?];
    let mut number = 0;
    let pages = in_turns(&names, 40 * rounds, |leg| {
        number += 1;
        let request: Request = sets[leg].served(&apis[leg].url, "/api/eth-rpc", number);
        Ok(client.drain(&request)?.total * 1e3)
    })?;
    let topics = [scattered::find(&small.store, 1)?, scattered::find(&large.store, 1)?];
    let filters = in_turns(&names, rounds, |leg| {
        let request = topics[leg].request(&scans[leg].url, "/api/eth-rpc", beds[leg].last_block());
        Ok(client.drain(&request)?.total * 1e3 / topics[leg].logs as f64 * 1e3)
    })?;
    Ok([pages, filters])
}
