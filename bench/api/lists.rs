//! The list that is hard: token transfers of an address that has ten of twelve million. Raw engine, Trawl from its
//! tables, Trawl from memory, PostgreSQL.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use serde_json::Value;
use trawl_core::primitives::{Address, BlockRange, TransferPosition};
use trawl_core::readable::Span;
use trawl_core::schema::TokenTransferRow;
use trawl_core::statement::Statement;
use trawl_query::addresses::{self, RequestedFacts};
use trawl_query::tokens::transfers;
use trawl_query::tokens::transfers::TransferFilter;
use trawl_query::transactions;
use xtask::process::Server;

use crate::bed::TestBed;
use crate::client::{Client, Request};
use crate::leg::{figure, in_turns};
use crate::log_pages::{loads, scatter};
use crate::postgres::Postgres;
use crate::report::{Bound, Report};
use crate::scans::{ratio, start};
use crate::store::Content;
use crate::{Flags, progress, sql};

/// Transfers of a page.
const SIZE: u64 = 50;
/// Number of the deep page, where there are that many.
const DEEP: u64 = 10_000;

const RAW: &str = "raw engine, the list's statement";
const LOOKUPS: &str = "raw engine, with what the page looks up";
const COLD: &str = "Trawl, from its tables";
const HOT: &str = "Trawl, from memory";
const PEER: &str = "PostgreSQL";

/// A page: of which address, and behind which position.
#[derive(Debug, Clone)]
struct Page {
    address: String,
    before: Option<TransferPosition>,
}

impl Page {
    /// The request of a client of the API.
    fn served(&self, url: &str) -> Request {
        let cursor = self.before.map(|at| format!("?block_number={}&index={}", at.block_number, at.log_index));
        let path = format!("/api/v2/addresses/0x{}/token-transfers{}", self.address, cursor.unwrap_or_default());
        Request::get(url, &path)
    }

    /// The statement of Trawl's plan.
    fn statement(&self, bed: &TestBed) -> anyhow::Result<Statement<TokenTransferRow>> {
        let blocks: Span = vec![BlockRange::new(0, bed.last_block()).context("ordered")?].into();
        let (address, filter) = (self.address.parse::<Address>()?, TransferFilter::default());
        Ok(transfers::of_address(&address, &filter, &blocks, self.before, SIZE + 1))
    }

    /// What the API asks the engine for such a page: its rows, what their transactions call, what is known of the
    /// addresses.
    fn planned(&self, bed: &TestBed) -> anyhow::Result<[Vec<Request>; 3]> {
        let statement = self.statement(bed)?;
        let blocks: Span = vec![BlockRange::new(0, bed.last_block()).context("ordered")?].into();
        let rows: Vec<TokenTransferRow> =
            bed.rows(&statement)?.iter().flat_map(|batch| batch.rows().collect::<Vec<_>>()).collect();
        let positions: BTreeSet<(u64, u64)> =
            rows.iter().map(|row| (row.block_number, u64::from(row.transaction_index))).collect();
        let parties: BTreeSet<Address> =
            rows.iter().flat_map(|row| [row.from_address, row.to_address, row.token_address]).collect();
        let (positions, parties): (Vec<_>, Vec<_>) = (positions.into_iter().collect(), parties.into_iter().collect());
        let store = &bed.store;
        let requested = RequestedFacts { code: parties.clone(), tokens: parties.clone(), counted: parties };
        let lookups = addresses::facts(&requested, &blocks).iter().map(|facts| sql::planned(store, facts)).collect();
        let selectors = sql::planned(store, &transactions::selectors(&positions, &blocks));
        Ok([vec![sql::planned(store, &statement)], vec![selectors], lookups])
    }
}

/// The measured servers.
struct Servers {
    /// Without memory for answers.
    cold: Server,
    hot: Server,
    postgres: Option<Postgres>,
}

/// Measures the list.
pub fn measure(flags: &Flags) -> anyhow::Result<Report> {
    let mut report = Report::new("lists", &flags.command);
    let client = Client::new()?;
    let bed = TestBed::start(flags, Content::Transfers, flags.rows)?;
    let sql = "SELECT lower(hex(address)), count() FROM token_transfers GROUP BY address ORDER BY count() DESC LIMIT 1";
    let text = bed.store.text(sql, &[])?;
    let (busy, count) = text.split_once('\t').context("transfers")?;
    let count: u64 = count.parse()?;
    let depth = (count / SIZE).min(DEEP);
    report.fact(format!(
        "{} generated rows of token transfers, {} of one address; pages of {SIZE}; {} rounds after one that warms up.",
        figure(bed.size as f64),
        figure(count as f64),
        flags.rounds
    ));
    let postgres = start(flags, &mut report, PEER, || Postgres::start(&bed, Content::Transfers));
    if let Some(postgres) = &postgres {
        report.fact(format!("PostgreSQL {}.", postgres.version()?));
    }
    let servers = Servers { cold: bed.api(&["--cache-bytes", "0"])?, hot: bed.api(&[])?, postgres };
    let first = Page { address: busy.into(), before: None };
    let deep = Page { before: Some(position(&bed, busy, depth)?), ..first.clone() };
    for (name, page) in [("page 1".to_owned(), first), (format!("page {}", figure(depth as f64)), deep)] {
        progress(&name);
        one_page(flags, &client, &bed, &servers, (&name, &page), &mut report)?;
    }
    many_clients(flags, &client, &bed, &servers, busy, &mut report)?;
    Ok(report)
}

/// The last transfer of the page before page `number`.
fn position(bed: &TestBed, address: &str, number: u64) -> anyhow::Result<TransferPosition> {
    let sql = "SELECT block_number, log_index FROM token_transfers WHERE address = toFixedString(unhex({address:String}), 20) \
               ORDER BY block_number DESC, log_index DESC LIMIT 1 OFFSET {offset:UInt64}";
    let offset = (number.max(2) - 1) * SIZE - 1;
    let text = bed.store.text(sql, &[("address", address.into()), ("offset", offset.to_string())])?;
    let (block, log) = text.split_once('\t').context("the page exists")?;
    Ok(TransferPosition { block_number: block.parse()?, log_index: log.parse()?, batch_index: 0 })
}

fn one_page(
    flags: &Flags,
    client: &Client,
    bed: &TestBed,
    servers: &Servers,
    (name, page): (&str, &Page),
    report: &mut Report,
) -> anyhow::Result<()> {
    let planned = page.planned(bed)?;
    let mut names = vec![RAW, COLD, HOT, LOOKUPS];
    let (cold, hot) = (page.served(&servers.cold.url), page.served(&servers.hot.url));
    let mut requests = vec![planned[..1].to_vec(), vec![vec![cold.clone()]], vec![vec![hot]], planned.to_vec()];
    if let Some(postgres) = &servers.postgres {
        names.push(PEER);
        let theirs = page.served(postgres.url());
        same_items(client, &cold, &theirs)?;
        requests.push(vec![vec![theirs]]);
    }
    let legs = in_turns(&names, 20 * flags.rounds, |leg| match &requests[leg][..] {
        [one] => Ok(client.drain(&one[0])?.total * 1e3),
        groups => Ok(client.groups(groups)? * 1e3),
    })?;
    report.goal(format!("{name}, from tables / raw engine, time"), ratio(&legs, COLD, RAW), Bound::AtMost(1.3));
    let lookups = ratio(&legs, COLD, LOOKUPS);
    report.goal(format!("{name}, from tables / raw engine with what it looks up, time"), lookups, Bound::Unbounded);
    report.goal(format!("{name}, from tables / PostgreSQL, time"), ratio(&legs, COLD, PEER), Bound::AtMost(4.));
    report.goal(format!("{name}, from memory / PostgreSQL, time"), ratio(&legs, HOT, PEER), Bound::AtMost(0.8));
    let hot = legs[2].median();
    // What the client sees is more than what the server takes.
    report.goal(format!("{name}, from memory, seen by the client, ms"), hot, Bound::AtMost(0.5));
    report.section(format!("Token transfers of the busy address, {name}, one client"), "ms", legs);
    Ok(())
}

/// Checks that both pages have the same items.
fn same_items(client: &Client, ours: &Request, theirs: &Request) -> anyhow::Result<()> {
    let read = |request| anyhow::Ok(serde_json::from_slice::<Value>(&client.fetch(request)?.body)?);
    let (ours, theirs) = (read(ours)?, read(theirs)?);
    let items = |page: &Value| page["items"].as_array().cloned().unwrap_or_default();
    let (ours, theirs) = (items(&ours), items(&theirs));
    ensure!(ours.len() == SIZE as usize && theirs.len() == ours.len(), "{} and {} items", ours.len(), theirs.len());
    for (one, other) in ours.iter().zip(&theirs) {
        for member in
            ["transaction_hash", "block_hash", "block_number", "log_index", "timestamp", "total", "token_type"]
        {
            ensure!(one[member] == other[member], "{member}: {} and {}", one[member], other[member]);
        }
        let keys = |value: &Value| value.as_object().map(|object| object.keys().cloned().collect::<Vec<_>>());
        ensure!(keys(one) == keys(other), "{one} has other members than {other}");
    }
    Ok(())
}

/// One client and 64: pages that were not requested before, and the same hundred pages again and again.
fn many_clients(
    flags: &Flags,
    client: &Client,
    bed: &TestBed,
    servers: &Servers,
    busy: &str,
    report: &mut Report,
) -> anyhow::Result<()> {
    let last = bed.last_block();
    let behind = |block_number| {
        let before = Some(TransferPosition { block_number, log_index: 0, batch_index: 0 });
        Page { address: busy.to_owned(), before }
    };
    let anywhere = |number: u64| behind(1 + scatter(number) % last);
    let favourite = |number: u64| behind(last - number % 100);
    for number in 0..100 {
        client.drain(&favourite(number).served(&servers.hot.url))?;
    }
    for clients in [1, 64] {
        for (what, trawl, page) in [
            ("other pages each time", &servers.cold, &anywhere as &dyn Fn(u64) -> Page),
            ("the same hundred pages", &servers.hot, &favourite),
        ] {
            progress(&format!("{clients} clients, {what}"));
            let ours = |number| page(number).served(&trawl.url);
            let theirs = servers.postgres.as_ref().map(|postgres| |number: u64| page(number).served(postgres.url()));
            let name = if what.starts_with("other") { COLD } else { HOT };
            let mut requests: Vec<(&str, &dyn Fn(u64) -> Request)> = vec![(name, &ours)];
            if let Some(theirs) = &theirs {
                requests.push((PEER, theirs));
            }
            let legs = loads(client, &requests, clients, flags.seconds, flags.rounds)?;
            let bound = match (clients, name) {
                (1, _) => Bound::Unbounded,
                (_, COLD) => Bound::AtLeast(0.7),
                _ => Bound::AtLeast(2.),
            };
            report.goal(
                format!("{clients} clients, {what}, Trawl / PostgreSQL, pages/s"),
                ratio(&legs, name, PEER),
                bound,
            );
            if name == HOT && clients == 1 {
                report.goal(
                    "a page from memory, in the server, ms",
                    in_server(client, &servers.hot, &favourite)?,
                    Bound::AtMost(0.5),
                );
            }
            report.section(format!("Token transfers of the busy address, {what}, {clients} clients"), "pages/s", legs);
        }
    }
    Ok(())
}

/// Milliseconds that a page from memory takes in the server by its own measurement, on average.
fn in_server(client: &Client, hot: &Server, page: &dyn Fn(u64) -> Page) -> anyhow::Result<f64> {
    const PAGES: u64 = 1000;
    let measured = || -> anyhow::Result<(f64, f64)> {
        let text = client.fetch(&Request::get(&hot.url, "/metrics"))?.body;
        let text = String::from_utf8(text)?;
        let value = |ending: &str| {
            let prefix = format!("trawl_http_request_duration_seconds_{ending}{{");
            let line = text.lines().find(|line| line.starts_with(&prefix) && line.contains("token-transfers"))?;
            line.rsplit(' ').next()?.parse::<f64>().ok()
        };
        Ok((value("sum").context("durations in /metrics")?, value("count").context("durations in /metrics")?))
    };
    let before = measured()?;
    for number in 0..PAGES {
        client.drain(&page(number).served(&hot.url))?;
    }
    let after = measured()?;
    Ok((after.0 - before.0) / (after.1 - before.1) * 1e3)
}
