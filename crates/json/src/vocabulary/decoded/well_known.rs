//! Events of well-known standards; and how to read them from contracts that index other parameters than their standard:
//! the hash of a log names types in order, and does not say which of them are topics.

use std::collections::HashMap;
use std::sync::LazyLock;

use trawl_core::primitives::B256;
use trawl_core::primitives::abi::KnownEvent;

use super::super::packages;

/// Most parameters of an event of which each choice is tried; of a longer one only the leftmost may be indexed.
const MAX_PARAMETERS: usize = 8;

/// Events of well-known standards, by hash and number of topics.
static EVENTS: LazyLock<HashMap<(B256, usize), KnownEvent>> = LazyLock::new(|| {
    include_str!("../../../../../sql/signatures/events.txt")
        .lines()
        .filter_map(|line| {
            let known = KnownEvent::parse(line).ok()?;
            Some(((known.event.selector(), known.event.num_topics()), known))
        })
        .collect()
});

/// The events of well-known standards with a hash, else those that packages declare, as lines of text.
#[must_use]
pub fn well_known_events(hash: &B256) -> Vec<String> {
    if !BY_HASH.contains_key(hash) {
        return packages::events(hash).iter().map(KnownEvent::text).collect();
    }
    let mut found: Vec<_> = EVENTS.iter().filter(|((known, _), _)| known == hash).collect();
    found.sort_unstable_by_key(|((_, topics), _)| *topics);
    found.into_iter().map(|(_, known)| known.text()).collect()
}

/// The well-known event with a hash and a number of topics.
pub(crate) fn of(hash: &B256, topics: usize) -> Option<&'static KnownEvent> {
    EVENTS.get(&(*hash, topics))
}

/// Well-known events by hash alone.
static BY_HASH: LazyLock<HashMap<B256, KnownEvent>> = LazyLock::new(|| {
    let mut found: HashMap<B256, KnownEvent> = HashMap::new();
    for ((hash, _), known) in EVENTS.iter() {
        found.entry(*hash).and_modify(|other| keep_common_names(other, known)).or_insert_with(|| known.clone());
    }
    found
});

/// A well-known event with a hash; parameters that standards name differently have no name.
pub(crate) fn by_hash(hash: &B256) -> Option<&'static KnownEvent> {
    BY_HASH.get(hash)
}

fn keep_common_names(event: &mut KnownEvent, other: &KnownEvent) {
    for (one, other) in event.event.inputs.iter_mut().zip(&other.event.inputs) {
        if one.name != other.name {
            one.name.clear();
        }
    }
}

/// The ways to index so many of all parameters, those further left first, as most events have it.
pub(crate) fn choices(parameters: usize, indexed: usize) -> impl Iterator<Item = Vec<bool>> {
    let leftmost = (1_u32 << indexed.min(MAX_PARAMETERS)) - 1;
    let all = if parameters > MAX_PARAMETERS { leftmost..leftmost + 1 } else { 0..1 << parameters };
    let mut choices: Vec<u32> = all.filter(|choice| choice.count_ones() as usize == indexed).collect();
    // Bit `n` stands for parameter `n`: reversed, a larger number has its bits further left.
    choices.sort_unstable_by_key(|choice| std::cmp::Reverse(choice.reverse_bits()));
    choices.into_iter().map(move |choice| {
        (0..parameters).map(|position| choice.checked_shr(position as u32).is_some_and(|bits| bits & 1 == 1)).collect()
    })
}

#[cfg(test)]
pub(crate) fn key(pick: usize) -> (B256, usize) {
    let keys: Vec<_> = EVENTS.keys().collect();
    *keys[pick % keys.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_an_event() {
        let lines = || include_str!("../../../../../sql/signatures/events.txt").lines();
        for line in lines() {
            let known = KnownEvent::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(known.has_indexed_flags && known.text() == line, "{line}");
        }
        assert_eq!(EVENTS.len(), lines().count(), "two lines are the same event");
    }

    #[test]
    fn those_further_left_come_first() {
        let all: Vec<Vec<bool>> = choices(3, 1).collect();
        assert_eq!(all, [[true, false, false], [false, true, false], [false, false, true]]);
        let two: Vec<Vec<bool>> = choices(3, 2).collect();
        assert_eq!(two, [[true, true, false], [true, false, true], [false, true, true]]);
        assert_eq!((choices(3, 0).count(), choices(3, 3).count(), choices(1, 3).count()), (1, 1, 0));
        assert_eq!(choices(17, 3).collect::<Vec<_>>().len(), 1);
    }
}
