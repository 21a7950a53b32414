//! The parts that can be filled in.

use std::fmt;

use crate::block::Parts;

/// A part of blocks that a node may not have of old ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillPart {
    /// Call frames, with rewards where the node reports them.
    Traces,
    /// State of the accounts.
    State,
}

impl FillPart {
    /// What the names of `ingest_commits` for it begin with.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Traces => "traces",
            Self::State => "state",
        }
    }
}

/// Some of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FillParts {
    traces: bool,
    state: bool,
}

impl FromIterator<FillPart> for FillParts {
    fn from_iter<I: IntoIterator<Item = FillPart>>(parts: I) -> Self {
        let mut all = Self::default();
        for part in parts {
            match part {
                FillPart::Traces => all.traces = true,
                FillPart::State => all.state = true,
            }
        }
        all
    }
}

impl FillParts {
    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = FillPart> {
        [FillPart::Traces, FillPart::State].into_iter().filter(move |part| self.contains(*part))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }

    /// Whether one is among them.
    #[must_use]
    pub fn contains(self, part: FillPart) -> bool {
        match part {
            FillPart::Traces => self.traces,
            FillPart::State => self.state,
        }
    }

    /// Those that a commit with parts of these names has not.
    pub(super) fn not_in(self, names: &[String]) -> Self {
        self.iter().filter(|part| !names.iter().any(|name| name.starts_with(part.name()))).collect()
    }

    /// Of what a source had of a block: these alone.
    pub(super) fn of(self, had: Parts) -> Parts {
        let traces = self.traces && had.traces;
        Parts {
            receipts: false,
            uncles: false,
            withdrawals: false,
            state: had.state.filter(|_| self.state),
            traces,
            rewards: traces && had.rewards,
        }
    }

    /// Whether all of them are in what a block got.
    pub(super) fn are_in(self, got: Parts) -> bool {
        self.iter().all(|part| has(got, part))
    }

    /// Whether any of them is in what a block got.
    pub(super) fn are_any_in(self, got: Parts) -> bool {
        self.iter().any(|part| has(got, part))
    }
}

fn has(got: Parts, part: FillPart) -> bool {
    match part {
        FillPart::Traces => got.traces,
        FillPart::State => got.state.is_some(),
    }
}

impl fmt::Display for FillParts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(FillPart::name).collect();
        formatter.write_str(&names.join(", "))
    }
}
