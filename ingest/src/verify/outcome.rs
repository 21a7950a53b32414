//! What came of the checks of a block.

use trawl_core::schema::NotCheckable as NotCheckableRow;

use super::check::Check;
use crate::block::Block;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Every check that applies to the block.
    Full,
    /// That parts fit each other, and the hash and links of headers; no roots, no senders.
    Header,
    /// That parts fit each other, without which rows could not be written.
    Off,
}

/// A block that is refused: which check, what was expected, what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("block {number} is refused: {}: expected {expected}, found {found}", check.name())]
pub struct VerifyError {
    /// Height of the block.
    pub number: u64,
    /// The check that failed.
    pub check: Check,
    /// What the check requires.
    pub expected: String,
    /// What the block has.
    pub found: String,
}

/// Why a check cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotCheckable(pub String);

/// What was checked of a block that is not refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    passed: Vec<Check>,
    not_checkable: Vec<(Check, String)>,
    /// Bytes of the encoded block, where all of it could be encoded.
    pub size: Option<u64>,
}

impl Outcome {
    /// Notes a check that ran and passed.
    pub fn passed(&mut self, check: Check) {
        if !self.passed.contains(&check) {
            self.passed.push(check);
        }
    }

    /// Notes a check that applies and cannot run.
    pub fn not_checkable(&mut self, check: Check, reason: &str) {
        self.passed.retain(|passed| *passed != check);
        if self.not_checkable.iter().all(|(other, _)| *other != check) {
            self.not_checkable.push((check, reason.into()));
        }
    }

    /// Notes a check that ran and passed, unless it was noted that it could not.
    pub(super) fn passed_if_checkable(&mut self, check: Check) {
        if !self.is_not_checkable(check) {
            self.passed(check);
        }
    }

    /// Whether a check ran and passed.
    #[must_use]
    pub fn has_passed(&self, check: Check) -> bool {
        self.passed.contains(&check)
    }

    /// Whether a check applies and could not run.
    pub(super) fn is_not_checkable(&self, check: Check) -> bool {
        self.not_checkable.iter().any(|(other, _)| *other == check)
    }

    /// Names of the checks that passed, in the order they ran.
    #[must_use]
    pub fn checked(&self) -> Vec<String> {
        self.passed.iter().map(|check| check.name().into()).collect()
    }

    /// Checks that could not run, with the reasons.
    #[must_use]
    pub fn impossible(&self) -> Vec<NotCheckableRow> {
        let row =
            |(check, reason): &(Check, String)| NotCheckableRow { check: check.name().into(), reason: reason.clone() };
        self.not_checkable.iter().map(row).collect()
    }

    /// Its name in `block_verdicts`.
    #[must_use]
    pub fn verdict(&self, depth: Depth) -> &'static str {
        let is_whole = self.not_checkable.iter().all(|(check, _)| !check.proves_rows());
        match depth {
            Depth::Off => "unverified",
            Depth::Full if is_whole => "verified",
            Depth::Full | Depth::Header => "partial",
        }
    }
}

/// Compares two values of a block under the name of a check.
pub(super) fn same<T: PartialEq + ToString>(
    block: &Block,
    check: Check,
    expected: &T,
    found: &T,
) -> Result<(), VerifyError> {
    if expected == found {
        return Ok(());
    }
    refuse(block, check, expected.to_string(), found.to_string())
}

/// Refuses a block under the name of a check.
pub(super) fn refuse<T>(block: &Block, check: Check, expected: String, found: String) -> Result<T, VerifyError> {
    Err(VerifyError { number: block.header.number, check, expected, found })
}
