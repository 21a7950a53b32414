//! Something that is wrong, for operators.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use serde::Serialize;

/// Something that is wrong.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Problem {
    /// Its kind, as metrics name it.
    pub kind: String,
    /// In words.
    pub detail: String,
    /// How long it has been so; `None` if that is not known.
    pub seconds: Option<u64>,
}

impl Problem {
    pub fn new(kind: &str, detail: String, age: Duration) -> Self {
        Self { kind: kind.into(), detail, seconds: Some(age.as_secs()) }
    }

    /// One that is found by looking, which does not tell since when it has been so.
    pub fn of_unknown_age(kind: &str, detail: String) -> Self {
        Self { kind: kind.into(), detail, seconds: None }
    }
}

/// Sets `trawl_problem` of each kind that is there to 1, and of those that were there before to 0.
pub(crate) fn show(problems: &[Problem]) {
    static SHOWN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut shown = SHOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    shown.extend(problems.iter().map(|problem| problem.kind.clone()));
    for kind in shown.iter() {
        let is_there = problems.iter().any(|problem| problem.kind == *kind);
        metrics::gauge!("trawl_problem", "kind" => kind.clone()).set(f64::from(u8::from(is_there)));
    }
}
