//! What single requests cost: after each new block, at the same head again, on settled data.

use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use crate::ask::{HeadRequest, WINDOW};
use crate::bed::TestBed;
use crate::chain::Size;
use crate::clients::{Answer, Target, agent};
use crate::judge::{Verdict, judge};
use crate::report::{Bound, Report, figure};
use crate::tally::quantile;
use crate::{Flags, progress};

/// Milliseconds of a request.
#[derive(Debug, Clone, Copy)]
struct Cost {
    engine: f64,
    api: f64,
    wall: f64,
    statements: f64,
}

/// What runs between requests, so that it is not counted as theirs.
struct Meter<'a> {
    bed: &'a TestBed,
    target: Target,
    agent: ureq::Agent,
    /// Shares of a core.
    idle: [f64; 3],
    /// Statements a second.
    idle_statements: f64,
}

impl<'a> Meter<'a> {
    fn new(bed: &'a TestBed) -> anyhow::Result<Self> {
        let mut meter = Self { bed, target: bed.target()?, agent: agent(), idle: [0.; 3], idle_statements: 0. };
        bed.rest()?;
        let (statements, started) = (meter.statements()?, Instant::now());
        meter.idle = bed.idle(3.)?;
        meter.idle_statements = (meter.statements()? - statements - 1.) / started.elapsed().as_secs_f64();
        Ok(meter)
    }

    fn statements(&self) -> anyhow::Result<f64> {
        Ok(self.bed.sql("SELECT sum(value) FROM system.events WHERE event = 'SelectQuery'")?.parse()?)
    }

    /// Sends requests one after the other; what each cost on average.
    fn cost(&self, asks: &[HeadRequest]) -> anyhow::Result<Cost> {
        let statements = self.statements()?;
        let (before, started) = (self.bed.spent()?, Instant::now());
        let mut bodies = Vec::new();
        for ask in asks {
            match self.target.send(&self.agent, *ask) {
                Answer::Whole(200, body) => bodies.push(body),
                Answer::Whole(status, body) => bail!("{ask:?}: {status} {}", String::from_utf8_lossy(&body)),
                _ => bail!("{ask:?}: no answer"),
            }
        }
        let (took, after) = (started.elapsed().as_secs_f64(), self.bed.spent()?);
        let statements = self.statements()? - statements - 1. - self.idle_statements * took;
        let (model, world, now) = (self.target.chain.model(), &self.target.chain.world, Instant::now());
        for (ask, body) in asks.iter().zip(&bodies) {
            let verdict = judge(*ask, body, (&model, world), (now, now));
            ensure!(matches!(verdict, Verdict::Of(_)), "{verdict:?}");
        }
        let count = asks.len() as f64;
        let spent = |of: usize| (after[of] - before[of] - self.idle[of] * took) * 1e3 / count;
        Ok(Cost { engine: spent(0), api: spent(1), wall: took * 1e3 / count, statements: statements / count })
    }
}

fn middle(costs: &[Cost], of: fn(&Cost) -> f64) -> f64 {
    quantile(&costs.iter().map(of).collect::<Vec<_>>(), 0.5)
}

/// Every route after each of some new blocks.
pub fn measure(bed: &TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    let meter = Meter::new(bed)?;
    let mut rows = Vec::new();
    let (mut worst, mut at_head) = (0_f64, 0_f64);
    let tip = meter.target.tip_number();
    let asks: [fn(u64) -> HeadRequest; 11] = [
        |_| HeadRequest::Blocks,
        |_| HeadRequest::Transfers(3),
        |_| HeadRequest::Internal(3),
        |_| HeadRequest::AllLogs(6),
        |tip| HeadRequest::NewestLogs(1, tip - WINDOW + 1),
        |_| HeadRequest::FullBlock,
        |_| HeadRequest::Receipts,
        |_| HeadRequest::BlockLogs,
        |_| HeadRequest::Balance(3),
        |_| HeadRequest::BalanceOf(1, 3),
        HeadRequest::Batch,
    ];
    // Each time another page, so that none is from memory.
    let old: [fn(u64, u64) -> HeadRequest; 3] = [
        |tip, round| HeadRequest::BlocksBelow(tip / 2 + round),
        |tip, round| HeadRequest::TransfersBelow(3, tip / 2 + round),
        |tip, round| HeadRequest::OldLogs(1, tip / 4 + round, tip / 4 + round + WINDOW - 1),
    ];
    for (number, ask) in asks.into_iter().enumerate() {
        let (mut first, mut again, mut settled) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..flags.rounds {
            bed.chain.grow(1, size)?;
            bed.wait_until_followed()?;
            std::thread::sleep(Duration::from_millis(300));
            let ask = ask(meter.target.tip_number());
            first.push(meter.cost(&[ask])?);
            again.push(meter.cost(&[ask; 4])?);
            let old = match number {
                0 => Some(old[0]),
                1 => Some(old[1]),
                4 => Some(old[2]),
                _ => None,
            };
            if let Some(old) = old {
                settled.push(meter.cost(&[old(tip, 2 * round), old(tip, 2 * round + 1)])?);
            }
        }
        let name = ask(tip).route();
        let (engine, old) = (middle(&first, |cost| cost.engine), middle(&settled, |cost| cost.engine));
        if old.is_finite() {
            worst = worst.max(engine / old.max(0.1));
        }
        if (5..8).contains(&number) {
            at_head = at_head.max(middle(&first, |cost| cost.statements));
        }
        progress(&format!("{name}: {engine:.1} ms of the engine after a new block"));
        let figures = [
            engine,
            middle(&first, |cost| cost.api),
            middle(&first, |cost| cost.wall),
            middle(&first, |cost| cost.statements),
            middle(&again, |cost| cost.engine),
            middle(&again, |cost| cost.wall),
            middle(&again, |cost| cost.statements),
            old,
        ];
        rows.push([vec![name.to_owned()], figures.map(figure).to_vec()].concat());
    }
    report.table(
        "One client, ms of a request (medians)",
        &[
            "request",
            "after a new block: engine",
            "API",
            "clock",
            "statements",
            "same head again: engine",
            "clock",
            "statements",
            "the same page on settled data: engine",
        ],
        &rows,
    );
    report.goal(
        "page after each new block / the same page on settled data, engine CPU (worst)",
        "",
        worst,
        Bound::AtMost(1.1),
    );
    report.goal("newest block, its receipts, its logs: statements (most)", "", at_head, Bound::AtMost(0.));
    Ok(())
}

/// A settled page on tables as `follow` leaves them, and merged.
pub fn merged(bed: &TestBed, report: &mut Report) -> anyhow::Result<()> {
    let meter = Meter::new(bed)?;
    let settled: u64 = bed.sql("SELECT max(last_block) FROM ingest_commits")?.parse()?;
    let first = {
        // The newest settled blocks that have logs as the others of this run.
        let model = bed.chain.model();
        let has_logs = |number: &u64| {
            let window = *number..number + 2 * WINDOW;
            window.into_iter().all(|number| {
                model.on_branch(model.tip(), number).is_some_and(|block_index| !model.at(block_index).logs.is_empty())
            })
        };
        let last = settled.saturating_sub(2 * WINDOW);
        (1..=last).rev().find(has_logs).context("32 settled blocks with logs, one after the other")?
    };
    let parts = "SELECT count() FROM system.parts WHERE active AND database = currentDatabase()";
    let before = bed.sql(parts)?;
    let rounds = || {
        // Other pages of the same size.
        let page = |round: u64| HeadRequest::OldLogs(1, first + round % WINDOW, first + round % WINDOW + WINDOW - 1);
        let pages: Vec<HeadRequest> = (0..WINDOW).map(page).collect();
        let costs: Vec<Cost> = (0..3).map(|_| meter.cost(&pages)).collect::<anyhow::Result<_>>()?;
        anyhow::Ok(middle(&costs, |cost| cost.engine))
    };
    let left = rounds()?;
    let tables = "SELECT DISTINCT table FROM system.parts WHERE active AND database = currentDatabase() AND rows > 0";
    for table in bed.sql(tables)?.lines() {
        bed.sql(&format!("OPTIMIZE TABLE {table} FINAL"))?;
    }
    bed.rest()?;
    let merged = rounds()?;
    let row = vec![figure(left), before, figure(merged), bed.sql(parts)?, figure(left / merged)];
    let columns = ["as left: engine ms", "parts", "merged: engine ms", "parts", "ratio"];
    report.table("A settled page (eth_getLogs of a contract, 16 blocks)", &columns, &[row]);
    report.goal("settled page on tables as `follow` leaves them / merged", "", left / merged, Bound::AtMost(1.3));
    Ok(())
}
