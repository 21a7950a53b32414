//! Measurements of legs that take turns, as a table.

use crate::programs::RunCost;

/// What each leg took each time, in the order they came.
#[derive(Default)]
pub struct Legs {
    legs: Vec<(String, Vec<RunCost>)>,
}

impl Legs {
    /// Adds a measurement.
    pub fn add(&mut self, name: &str, spent: RunCost) {
        eprintln!("{name}: {:.2} s, {:.2} s of processors, {:.0} MiB", spent.wall, spent.processor, spent.peak);
        match self.legs.iter_mut().find(|(other, _)| other == name) {
            Some((_, times)) => times.push(spent),
            None => self.legs.push((name.into(), vec![spent])),
        }
    }

    /// Prints the legs as a table of Markdown.
    pub fn print(&self) {
        println!("| leg | median s | min s | max s | median s of processors | peak MiB |\n|---|---|---|---|---|---|");
        for (name, times) in &self.legs {
            let wall = sorted(times, |spent| spent.wall);
            let processor = sorted(times, |spent| spent.processor);
            let peak = sorted(times, |spent| spent.peak);
            let (median, last) = (wall.len() / 2, wall.len() - 1);
            let peak = if peak[last] > 0.0 { format!("{:.0}", peak[last]) } else { String::new() };
            println!(
                "| {name} | {:.2} | {:.2} | {:.2} | {:.2} | {peak} |",
                wall[median], wall[0], wall[last], processor[median]
            );
        }
    }

    /// The median time of a leg.
    pub fn median(&self, name: &str) -> f64 {
        self.middle(name, |spent| spent.wall)
    }

    /// The median processor time of a leg.
    pub fn processor(&self, name: &str) -> f64 {
        self.middle(name, |spent| spent.processor)
    }

    fn middle(&self, name: &str, of: impl Fn(&RunCost) -> f64) -> f64 {
        let times = self.legs.iter().find(|(other, _)| other == name).map(|(_, times)| times);
        times.map_or(f64::NAN, |times| sorted(times, of)[times.len() / 2])
    }

    /// How the median of one leg stands to that of another, by the clock and in processor time, which other work on
    /// the machine disturbs less.
    pub fn ratios(&self, over: &str, under: &str) -> [f64; 2] {
        [self.median(over) / self.median(under), self.processor(over) / self.processor(under)]
    }
}

fn sorted(times: &[RunCost], of: impl Fn(&RunCost) -> f64) -> Vec<f64> {
    let mut values: Vec<f64> = times.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values
}
