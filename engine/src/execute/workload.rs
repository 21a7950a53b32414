//! What a statement is for. Each workload has slots of its own, so that none can take those of another.

use crate::account::Role;
use crate::execute::query::Query;

/// The setting by which a client says what its statement is for. A ClickHouse server has it too.
pub const SETTING: &str = "workload";

/// What a statement is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Whatever writes, and what those who write read.
    Ingest,
    /// A read that is over soon.
    Short,
    /// Reads of state during a call.
    Call,
    /// A read of any length, whose client takes its rows as it likes.
    Scan,
    /// The reader's statements, whatever they are.
    Reader,
}

/// Whether a statement reads or writes, as far as its first words tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It has a result and changes nothing.
    Reads,
    /// Any other statement, though it may change nothing.
    Writes,
}

impl Workload {
    /// All of them; the position of each is its number.
    pub const ALL: [Self; 5] = [Self::Ingest, Self::Short, Self::Call, Self::Scan, Self::Reader];

    /// Its name, in the setting and in metrics.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ingest => "ingest",
            Self::Short => "short",
            Self::Call => "call",
            Self::Scan => "scan",
            Self::Reader => "reader",
        }
    }

    /// The workload of a statement. A read is what its setting says, except the reader's; a short read if that says
    /// nothing known.
    #[must_use]
    pub fn of(role: Role, kind: Kind, query: &Query) -> Self {
        if role.is_limited() {
            return Self::Reader;
        }
        if role == Role::Owner && kind == Kind::Writes {
            return Self::Ingest;
        }
        let stated = query.settings.iter().rfind(|(name, _)| name == SETTING).map(|(_, value)| value.as_str());
        let known = Self::ALL.into_iter().find(|workload| Some(workload.name()) == stated);
        known.filter(|workload| kind == Kind::Reads && *workload != Self::Reader).unwrap_or(Self::Short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_cannot_take_the_slots_of_others() {
        let stating = |workload: &str| Query {
            settings: vec![("max_threads".into(), "1".into()), (SETTING.into(), workload.into())],
            ..Query::default()
        };
        for workload in Workload::ALL {
            assert_eq!(Workload::of(Role::Reader, Kind::Reads, &stating(workload.name())), Workload::Reader);
            assert_eq!(Workload::of(Role::Owner, Kind::Writes, &stating(workload.name())), Workload::Ingest);
            assert_eq!(Workload::of(Role::Api, Kind::Writes, &stating(workload.name())), Workload::Short);
        }
        assert_eq!(Workload::of(Role::Owner, Kind::Reads, &stating("scan")), Workload::Scan);
        assert_eq!(Workload::of(Role::Api, Kind::Reads, &stating("scan")), Workload::Scan);
        assert_eq!(Workload::of(Role::Owner, Kind::Reads, &stating("reader")), Workload::Short);
        assert_eq!(Workload::of(Role::Owner, Kind::Reads, &stating("default")), Workload::Short);
        assert_eq!(Workload::of(Role::Owner, Kind::Reads, &Query::default()), Workload::Short);
    }
}
