//! The report of a measurement: Markdown to read and paste, JSON to compare, plots.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;
use xtask::workspace;

use crate::leg::{Leg, Section, figure};
use crate::plot;

/// Measurements and goals.
#[derive(Debug, Serialize)]
pub struct Report {
    /// First word of its folder's name.
    subject: &'static str,
    /// What made it.
    command: String,
    /// When it was made.
    time: String,
    /// Data and machine, a sentence each.
    facts: Vec<String>,
    sections: Vec<Section>,
    goals: Vec<Goal>,
    missing: Vec<SkippedLeg>,
}

/// A ratio with its bound.
#[derive(Debug, Serialize)]
pub struct Goal {
    name: String,
    measured: f64,
    goal: Bound,
    met: bool,
}

/// The bound of a ratio.
#[derive(Debug, Clone, Copy, Serialize)]
pub enum Bound {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// Of interest, not promised.
    Unbounded,
}

/// A leg that could not be measured.
#[derive(Debug, Clone, Serialize)]
pub struct SkippedLeg {
    /// Name of the leg.
    pub leg: String,
    /// Why it could not be measured.
    pub reason: String,
}

impl Report {
    /// An empty report.
    pub fn new(subject: &'static str, command: &str) -> Self {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H%M%SZ").to_string();
        let machine = machine();
        let (command, facts) = (command.to_owned(), vec![machine]);
        Self { subject, command, time, facts, sections: Vec::new(), goals: Vec::new(), missing: Vec::new() }
    }

    /// Adds a fact about the data.
    pub fn fact(&mut self, fact: impl Into<String>) {
        self.facts.push(fact.into());
    }

    /// Adds the samples of legs in a unit, under a title.
    pub fn section(&mut self, title: impl Into<String>, unit: &'static str, legs: Vec<Leg>) {
        self.sections.push(Section { title: title.into(), unit, legs });
    }

    /// Adds a ratio; one that is not a number, since a leg was missing, is left out.
    pub fn goal(&mut self, name: impl Into<String>, measured: f64, goal: Bound) {
        if measured.is_finite() {
            let met = goal.is_met(measured);
            self.goals.push(Goal { name: name.into(), measured, goal, met });
        }
    }

    /// Names a leg that could not be measured.
    pub fn missing(&mut self, leg: impl Into<String>, reason: &anyhow::Error) {
        self.missing.push(SkippedLeg { leg: leg.into(), reason: format!("{reason:#}") });
    }

    /// Names a leg that was left out.
    pub fn without(&mut self, missing: SkippedLeg) {
        self.missing.push(missing);
    }

    /// The goals that were missed.
    pub fn missed(&self) -> impl Iterator<Item = &Goal> {
        self.goals.iter().filter(|goal| !goal.met)
    }

    /// The report as Markdown.
    pub fn markdown(&self) -> String {
        let mut text = format!("`{}`, {}.", self.command, self.time);
        for fact in &self.facts {
            let _ = write!(text, " {fact}");
        }
        text.push('\n');
        for section in &self.sections {
            section.write(&mut text);
        }
        text.push_str("\n| ratio | measured | goal |\n|---|---|---|\n");
        for goal in &self.goals {
            let verdict = if goal.met { "" } else { " **missed**" };
            let _ = writeln!(text, "| {} | {}{verdict} | {} |", goal.name, figure(goal.measured), goal.goal.text());
        }
        for missing in &self.missing {
            let _ = writeln!(text, "\nmissing: {}: {}", missing.leg, missing.reason);
        }
        text
    }

    /// Writes the report to a folder of its own under `target/bench` and prints it.
    pub fn publish(&self) -> anyhow::Result<PathBuf> {
        let folder = workspace::target().join("bench").join(format!("report-{}-{}", self.subject, self.time));
        std::fs::create_dir_all(&folder)?;
        let markdown = self.markdown();
        std::fs::write(folder.join("report.md"), &markdown)?;
        std::fs::write(folder.join("report.json"), serde_json::to_vec_pretty(self)?)?;
        for (number, section) in self.sections.iter().enumerate() {
            std::fs::write(folder.join(format!("{:02}.svg", number + 1)), plot::bars(section))?;
        }
        println!("{markdown}");
        eprintln!("bench: the report is in {}", folder.display());
        Ok(folder)
    }
}

impl Section {
    /// A table of the legs, with a column for each figure that any of them has.
    fn write(&self, text: &mut String) {
        let mut names: Vec<&String> = self.legs.iter().flat_map(|leg| leg.figures.keys()).collect();
        names.sort();
        names.dedup();
        let _ = write!(text, "\n**{}**, {}\n\n| leg | median | min | max |", self.title, self.unit);
        for name in &names {
            let _ = write!(text, " {name} |");
        }
        let _ = writeln!(text, "\n|---|---|---|---|{}", "---|".repeat(names.len()));
        for leg in &self.legs {
            let (median, min, max) = (figure(leg.median()), figure(leg.min()), figure(leg.max()));
            let _ = write!(text, "| {} | {median} | {min} | {max} |", leg.name);
            for name in &names {
                let value = leg.figures.get(*name).map(|value| figure(*value)).unwrap_or_default();
                let _ = write!(text, " {value} |");
            }
            text.push('\n');
        }
    }
}

impl Goal {
    /// The goal with its measurement, in one line.
    pub fn line(&self) -> String {
        format!("{}: {}, goal {}", self.name, figure(self.measured), self.goal.text())
    }
}

impl Bound {
    fn is_met(self, measured: f64) -> bool {
        match self {
            Self::AtLeast(bound) => measured >= bound,
            Self::AtMost(bound) => measured <= bound,
            Self::Unbounded => true,
        }
    }

    fn text(self) -> String {
        match self {
            Self::AtLeast(bound) => format!("≥ {bound}"),
            Self::AtMost(bound) => format!("≤ {bound}"),
            Self::Unbounded => String::new(),
        }
    }
}

fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kibibytes = memory.lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    let gibibytes = kibibytes.unwrap_or(f64::NAN) / f64::from(1 << 20);
    format!("{cores} cores, {gibibytes:.0} GiB of memory, load average {load} before.")
}
