//! Every metric, by what it is of. [The reference](../../../docs/reference/metrics.md) is made from it.

use crate::metric::{Group, Metric, Program};

mod api;
mod engine;
mod ingest;
mod shared;

/// All of them.
pub const GROUPS: [Group; 9] = [
    api::REQUESTS,
    api::HEAD,
    ingest::FOLLOWING,
    ingest::WRITING,
    engine::ENGINE,
    shared::STATEMENTS,
    shared::NODES,
    shared::CONNECTIONS,
    shared::PROCESS,
];

/// The metrics of a program.
pub fn of(program: Program) -> impl Iterator<Item = &'static Metric> {
    groups_of(program).flat_map(|group| group.metrics)
}

/// The same in groups.
pub(crate) fn groups_of(program: Program) -> impl Iterator<Item = &'static Group> {
    GROUPS.iter().filter(move |group| group.programs.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Kind;

    #[test]
    fn names_and_help_follow_the_rules() {
        let mut names = Vec::new();
        for metric in GROUPS.iter().flat_map(|group| group.metrics) {
            let Metric { name, kind, labels, help } = metric;
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'));
            assert!(name.starts_with("trawl_") || name.starts_with("process_"), "{name}");
            assert_eq!(*kind == Kind::Counter, name.ends_with("_total"), "{name}: counters end in _total");
            assert!(!["_sum", "_count", "_bucket"].iter().any(|end| name.ends_with(end)), "{name}");
            assert!(help.ends_with('.') && !help.contains(['\\', '\n']), "{name}: {help}");
            assert!(!name.contains("_ms") && !name.contains("_kb"), "{name}: base units are seconds and bytes");
            assert!(labels.iter().all(|label| label.name != "le" && !label.name.starts_with("__")), "{name}");
            names.push(*name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name is there twice");
    }
}
