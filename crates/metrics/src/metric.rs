//! The description of a metric: name, kind, labels and help.

/// A metric: its name has the unit, its help says what is counted.
#[derive(Debug, Clone, Copy)]
pub struct Metric {
    /// By the rules of <https://prometheus.io/docs/practices/naming/>.
    pub name: &'static str,
    /// How its values behave.
    pub kind: Kind,
    /// What its series differ in.
    pub labels: &'static [Label],
    /// A sentence, without a line break or a backslash.
    pub help: &'static str,
}

/// Metrics that belong together, and the programs that have them.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    /// What they are of, as a heading.
    pub title: &'static str,
    /// Who answers with them.
    pub programs: &'static [Program],
    /// What `trawl-api` has them of, where it serves several chains.
    pub scope: Scope,
    /// In the order of the page.
    pub metrics: &'static [Metric],
}

/// What the metrics of a group are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The process as a whole.
    Process,
    /// Each of its chains: with several their series have the label `chain`.
    Chain,
}

/// How the values of a metric behave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Only rises while the program runs; there from 0 on.
    Counter,
    /// Rises and falls; there once it is known.
    Gauge,
    /// 1 or 0; there from 0 on.
    Flag,
    /// Counts by size, in buckets up to these bounds and one above; there from 0 on.
    Histogram(&'static [f64]),
}

/// What the series of a metric differ in.
#[derive(Debug, Clone, Copy)]
pub struct Label {
    /// As a series has it.
    pub name: &'static str,
    /// All its values; none where they are not known before.
    pub values: &'static [&'static str],
}

/// A program that answers with metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// The program `trawl-api`.
    Api,
    /// The program `trawl-engine`.
    Engine,
    /// `trawl-ingest`, as long as it loads or follows.
    Ingest,
}

impl Program {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Api, Self::Ingest, Self::Engine];

    /// The name of its executable.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Api => "trawl-api",
            Self::Engine => "trawl-engine",
            Self::Ingest => "trawl-ingest",
        }
    }
}

impl Metric {
    /// What only rises.
    #[must_use]
    pub const fn counter(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, kind: Kind::Counter, labels, help }
    }

    /// What rises and falls.
    #[must_use]
    pub const fn gauge(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, kind: Kind::Gauge, labels, help }
    }

    /// What is so or not.
    #[must_use]
    pub const fn flag(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, kind: Kind::Flag, labels, help }
    }

    /// Durations in seconds.
    #[must_use]
    pub const fn durations(name: &'static str, labels: &'static [Label], help: &'static str) -> Self {
        Self { name, kind: Kind::Histogram(&SECONDS), labels, help }
    }

    /// Sizes, in buckets of their own.
    #[must_use]
    pub const fn sizes(
        name: &'static str,
        labels: &'static [Label],
        bounds: &'static [f64],
        help: &'static str,
    ) -> Self {
        Self { name, kind: Kind::Histogram(bounds), labels, help }
    }

    /// The labels of all series whose values are known before; none where one label's are not.
    #[must_use]
    pub fn known_series(&self) -> Vec<Vec<(&'static str, &'static str)>> {
        self.series_with("", &[])
    }

    /// The same where the values of the label `given` are these.
    #[must_use]
    pub fn series_with(&self, given: &str, values: &[&'static str]) -> Vec<Vec<(&'static str, &'static str)>> {
        self.labels.iter().fold(vec![Vec::new()], |series, label| {
            let values = if label.name == given { values } else { label.values };
            let longer = |start: &Vec<_>| {
                let start = start.clone();
                values.iter().map(move |value| [start.as_slice(), &[(label.name, *value)]].concat())
            };
            series.iter().flat_map(longer).collect()
        })
    }
}

/// A label of these values.
#[must_use]
pub const fn label(name: &'static str, values: &'static [&'static str]) -> Label {
    Label { name, values }
}

/// A label whose values are not known before.
#[must_use]
pub const fn open(name: &'static str) -> Label {
    Label { name, values: &[] }
}

/// Bounds of durations: a lookup takes milliseconds, a scan or a batch takes a minute.
const SECONDS: [f64; 11] = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_all_pairs_of_values_unless_some_are_unknown() {
        const BOTH: Metric = Metric::counter("x_total", &[label("a", &["1", "2"]), label("b", &["3", "4", "5"])], "");
        const HALF: Metric = Metric::counter("x_total", &[label("a", &["1"]), open("b")], "");
        assert_eq!(BOTH.known_series().len(), 6);
        assert_eq!(Metric::counter("x_total", &[], "").known_series(), [vec![]]);
        assert!(HALF.known_series().is_empty());
        assert_eq!(HALF.series_with("b", &["2", "3"]), [[("a", "1"), ("b", "2")], [("a", "1"), ("b", "3")]]);
    }
}
