//! The report: Markdown to read and to paste.

use std::fmt::Write as _;

use xtask::workspace;

/// Tables and the goals they are for.
pub struct Report {
    command: String,
    time: String,
    facts: Vec<String>,
    text: String,
    goals: Vec<(String, String, f64, Bound)>,
}

/// What a figure shall be.
#[derive(Debug, Clone, Copy)]
pub enum Bound {
    /// So much or more.
    AtLeast(f64),
    /// So much or less.
    AtMost(f64),
}

impl Report {
    /// An empty one.
    pub fn new(command: &str) -> Self {
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H%M%SZ").to_string();
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("unknown").to_owned();
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let facts = vec![format!("{cores} cores, load average {load} before.")];
        Self { command: command.into(), time, facts, text: String::new(), goals: Vec::new() }
    }

    /// Says something of the run.
    pub fn fact(&mut self, fact: impl Into<String>) {
        self.facts.push(fact.into());
    }

    /// Adds a table.
    pub fn table(&mut self, title: &str, columns: &[&str], rows: &[Vec<String>]) {
        let _ = write!(self.text, "\n**{title}**\n\n| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()));
        for row in rows {
            let _ = writeln!(self.text, "| {} |", row.join(" | "));
        }
    }

    /// Adds a figure that has a goal.
    pub fn goal(&mut self, name: impl Into<String>, unit: &str, measured: f64, bound: Bound) {
        self.goals.push((name.into(), unit.into(), measured, bound));
    }

    /// The whole of it.
    pub fn markdown(&self) -> String {
        let mut text = format!("`{}`, {}. {}\n", self.command, self.time, self.facts.join(" "));
        text.push_str("\n| goal | measured | goal |\n|---|---|---|\n");
        for (name, unit, measured, bound) in &self.goals {
            let (is_met, sign, limit) = match bound {
                Bound::AtLeast(limit) => (measured >= limit, "≥", limit),
                Bound::AtMost(limit) => (measured <= limit, "≤", limit),
            };
            let verdict = if is_met { "" } else { " **missed**" };
            let _ = writeln!(text, "| {name} | {}{unit}{verdict} | {sign} {limit}{unit} |", figure(*measured));
        }
        text + &self.text
    }

    /// Prints it and writes it to a folder of its own under `target/bench`.
    pub fn publish(&self) -> anyhow::Result<()> {
        let folder = workspace::target().join("bench").join(format!("report-head-{}", self.time));
        std::fs::create_dir_all(&folder)?;
        let markdown = self.markdown();
        std::fs::write(folder.join("report.md"), &markdown)?;
        println!("{markdown}");
        eprintln!("bench: the report is in {}", folder.display());
        Ok(())
    }
}

/// Three digits that count, and no more than a reader wants.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size.is_nan() => "–".into(),
        size if size >= 100. || size == 0. => format!("{value:.0}"),
        size if size >= 10. => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
