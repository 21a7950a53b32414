//! What came of requests, by route.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::judge::Verdict;

/// What came of the requests of a route.
#[derive(Debug, Clone, Default)]
pub struct Route {
    /// Seconds of each answer.
    pub times: Vec<f64>,
    /// Answers of a head that was current, or had been within the allowed time.
    pub right: u64,
    /// Answers of heads that were left longer ago.
    pub stale: u64,
    /// The longest that a head had been left when it was answered from.
    pub oldest: Duration,
    /// Answers of several branches.
    pub mixed: u64,
    /// Answers of no branch.
    pub wrong: u64,
    /// Refused for lack of room.
    pub refused: u64,
    /// Errors, 5xx among them.
    pub failed: u64,
    /// Broken off while blocks left the chain.
    pub broken: u64,
    /// Broken off and nothing left the chain.
    pub broken_alone: u64,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// What came of the requests of each route, by its name.
    pub routes: BTreeMap<&'static str, Route>,
    /// Errors and wrong answers with their numbers.
    pub said: BTreeMap<String, u64>,
}

impl Tally {
    /// Adds what came of a request.
    pub fn add(&mut self, name: &'static str, took: Duration, verdict: Verdict, allowed: Duration, reorganised: bool) {
        let route = self.routes.entry(name).or_default();
        route.times.push(took.as_secs_f64());
        match verdict {
            Verdict::Of(age) => {
                route.oldest = route.oldest.max(age);
                let counter = if age <= allowed { &mut route.right } else { &mut route.stale };
                *counter += 1;
            }
            Verdict::Refused => route.refused += 1,
            Verdict::BrokenOff if reorganised => route.broken += 1,
            Verdict::BrokenOff => route.broken_alone += 1,
            Verdict::Mixed(what) => {
                route.mixed += 1;
                self.say(name, "mixed", &what);
            }
            Verdict::Wrong(what) => {
                route.wrong += 1;
                self.say(name, "wrong", &what);
            }
            Verdict::Failed(what) => {
                route.failed += 1;
                self.say(name, "failed", &what);
            }
        }
    }

    fn say(&mut self, name: &str, kind: &str, what: &str) {
        let what: String = what.chars().take(240).collect();
        *self.said.entry(format!("{name}: {kind}: {what}")).or_default() += 1;
    }

    /// Takes over another.
    pub fn merge(&mut self, other: Self) {
        for (name, route) in other.routes {
            let into = self.routes.entry(name).or_default();
            into.times.extend(route.times);
            into.oldest = into.oldest.max(route.oldest);
            for (into, from) in [
                (&mut into.right, route.right),
                (&mut into.stale, route.stale),
                (&mut into.mixed, route.mixed),
                (&mut into.wrong, route.wrong),
                (&mut into.refused, route.refused),
                (&mut into.failed, route.failed),
                (&mut into.broken, route.broken),
                (&mut into.broken_alone, route.broken_alone),
            ] {
                *into += from;
            }
        }
        for (what, count) in other.said {
            *self.said.entry(what).or_default() += count;
        }
    }

    /// All routes as one.
    pub fn sum(&self) -> Route {
        let mut sum = Self::default();
        for route in self.routes.values() {
            sum.merge(Self { routes: BTreeMap::from([("all", route.clone())]), said: BTreeMap::new() });
        }
        sum.routes.remove("all").unwrap_or_default()
    }
}

impl Route {
    /// The time that this share of the requests took at most, in milliseconds.
    pub fn quantile(&self, share: f64) -> f64 {
        quantile(&self.times, share) * 1e3
    }
}

/// The value that this share of some numbers is at most.
pub fn quantile(numbers: &[f64], share: f64) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}
