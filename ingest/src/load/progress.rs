//! Shows the progress of a load: a bar on a terminal, plain lines otherwise. It counts what is committed.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::source::Total;
use crate::write::batch::CommittedBatch;

/// How often a line is written where there is no terminal.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Progress of one load.
pub struct Progress {
    bar: ProgressBar,
    total: Total,
    written: CommittedBatch,
    done: u64,
    started: Instant,
    last_line: Instant,
}

impl Progress {
    /// Starts the clock.
    #[must_use]
    pub fn new(total: Total) -> Self {
        let length = match total {
            Total::Blocks(blocks) => blocks,
            Total::Bytes(bytes) => bytes,
        };
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let template = "{bar:30} {percent:>3}% {msg} [{elapsed_precise}, ETA {eta_precise}]";
        bar.set_style(ProgressStyle::with_template(template).expect("a fixed template"));
        let now = Instant::now();
        Self { bar, total, written: CommittedBatch::default(), done: 0, started: now, last_line: now }
    }

    /// Counts a committed batch; `position` is how many bytes of the source are read.
    pub fn committed(&mut self, written: CommittedBatch, position: u64) {
        self.written += written;
        self.done = match self.total {
            Total::Blocks(_) => self.written.blocks + self.written.quarantined,
            Total::Bytes(_) => position,
        };
        self.bar.set_position(self.done);
        self.bar.set_message(self.rates());
        if self.bar.is_hidden() && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            eprintln!("{}", self.line());
        }
    }

    /// Ends the bar and prints the totals.
    #[must_use]
    pub fn finish(self) -> CommittedBatch {
        self.bar.finish_and_clear();
        eprintln!(
            "committed {} in {:.1} s ({})",
            counts(self.written),
            self.started.elapsed().as_secs_f64(),
            self.rates()
        );
        let CommittedBatch { verified, partial, .. } = self.written;
        if verified + partial > 0 {
            eprintln!("{} verified, {} in part", group(verified), group(partial));
        }
        if partial > 0 {
            tracing::warn!(
                blocks = partial,
                "the source lacks data to verify these blocks fully; block_verdicts names the checks"
            );
        }
        if self.written.quarantined > 0 {
            eprintln!("{} blocks are quarantined: block_verdicts has the reasons", group(self.written.quarantined));
        }
        self.written
    }

    fn rates(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        let rate = |count: u64| group((count as f64 / seconds) as u64);
        format!("{} blocks/s, {} logs/s", rate(self.written.blocks), rate(self.written.logs))
    }

    fn line(&self) -> String {
        let (total, unit) = match self.total {
            Total::Blocks(blocks) => (blocks, "blocks"),
            Total::Bytes(bytes) => (bytes, "bytes"),
        };
        let elapsed = self.started.elapsed().as_secs_f64();
        let left =
            if self.done == 0 { 0.0 } else { elapsed / self.done as f64 * total.saturating_sub(self.done) as f64 };
        format!("committed {} of {} {unit}, {}, ETA {left:.0} s", group(self.done), group(total), self.rates())
    }
}

fn counts(written: CommittedBatch) -> String {
    format!(
        "{} blocks, {} transactions, {} logs",
        group(written.blocks),
        group(written.transactions),
        group(written.logs)
    )
}

/// Digits in groups of three.
fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_are_grouped_from_the_right() {
        assert_eq!([0, 12, 123, 1234, 1_234_567].map(super::group), ["0", "12", "123", "1,234", "1,234,567"]);
    }
}
