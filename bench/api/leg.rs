//! Legs: what is measured against each other, in turns.

use std::collections::BTreeMap;

use serde::Serialize;

/// A leg and what was measured of it.
#[derive(Debug, Clone, Serialize)]
pub struct Leg {
    /// What it is.
    pub name: String,
    /// One measurement a round, in the unit of its section.
    pub samples: Vec<f64>,
    /// Further figures, by name.
    pub figures: BTreeMap<String, f64>,
}

impl Leg {
    /// A leg without measurements.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), samples: Vec::new(), figures: BTreeMap::new() }
    }

    /// A leg with one measurement.
    pub fn of(name: impl Into<String>, sample: f64) -> Self {
        Self { samples: vec![sample], ..Self::new(name) }
    }

    /// Adds a figure.
    pub fn with(mut self, figure: &str, value: f64) -> Self {
        self.figures.insert(figure.into(), value);
        self
    }

    /// The middle of its measurements.
    pub fn median(&self) -> f64 {
        median(&self.samples)
    }

    /// The least of its measurements.
    pub fn min(&self) -> f64 {
        self.samples.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The greatest of its measurements.
    pub fn max(&self) -> f64 {
        self.samples.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}

/// Legs that are measured in the same unit.
#[derive(Debug, Serialize)]
pub struct Section {
    /// What is measured.
    pub title: String,
    /// Of the measurements.
    pub unit: &'static str,
    /// In the order they took turns.
    pub legs: Vec<Leg>,
}

/// The middle of some numbers; not a number if there are none.
pub fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[count / 2],
        count => f64::midpoint(sorted[count / 2 - 1], sorted[count / 2]),
    }
}

/// Measures legs in turns, `rounds` times after a round that only warms up. `measure` gets the number of the leg.
pub fn in_turns(
    names: &[&str],
    rounds: usize,
    mut measure: impl FnMut(usize) -> anyhow::Result<f64>,
) -> anyhow::Result<Vec<Leg>> {
    let mut legs: Vec<Leg> = names.iter().map(|name| Leg::new(*name)).collect();
    for round in 0..=rounds {
        for (number, leg) in legs.iter_mut().enumerate() {
            let sample = measure(number)?;
            if round > 0 {
                leg.samples.push(sample);
            }
        }
    }
    Ok(legs)
}

/// A number with three significant digits.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 100. => {
            let digits = format!("{:.0}", value.abs());
            let groups: Vec<&str> =
                digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap_or("")).collect();
            format!("{}{}", if value < 0. { "-" } else { "" }, groups.join(","))
        }
        size if size >= 10. => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
