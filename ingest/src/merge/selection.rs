//! Predicts which parts ClickHouse selects on `OPTIMIZE TABLE`. A statement cannot name parts: ClickHouse selects
//! neighbours whose merge costs least per part removed, with 5 MiB added to the size of each part: so it takes all
//! small parts, and a large one with them.
//!
//! The prediction only decides whether the statement is sent.

use std::ops::Range;

/// Bytes that ClickHouse adds to each part when it compares merges.
const BYTES_OF_A_PART: f64 = (5 << 20) as f64;
/// A selection whose left neighbour is nearly as large, by powers of two, is preferred by up to a quarter.
const NEARLY: f64 = 0.5;
const PREFERENCE: f64 = 0.25;

/// Most parts that are considered, from the newest back: the time grows with their square.
const MAX_PARTS: usize = 2_000;

/// The neighbours among parts of these sizes that ClickHouse would merge: at least two, if there are two.
#[must_use]
pub fn selection(sizes: &[u64]) -> Option<Range<usize>> {
    let skipped = sizes.len().saturating_sub(MAX_PARTS);
    let mut total = 0.;
    let sums = sizes.iter().map(|size| {
        total += *size as f64;
        total
    });
    let sums: Vec<f64> = std::iter::once(0.).chain(sums).collect();
    let of_first = |first| (first + 2..=sizes.len()).map(move |end| first..end);
    let costs = (skipped..sizes.len()).flat_map(of_first).map(|range| (cost(sizes, &sums, &range), range));
    costs.min_by(|left, right| left.0.total_cmp(&right.0)).map(|(_, range)| range)
}

/// The cost of a merge per removed part. `sums[n]` are the bytes of the first `n` parts.
fn cost(sizes: &[u64], sums: &[f64], range: &Range<usize>) -> f64 {
    let (bytes, parts) = (sums[range.end] - sums[range.start], range.len() as f64);
    let cost = (bytes + BYTES_OF_A_PART * parts) / (parts - 1.9);
    let before = range.start.checked_sub(1).map_or(0., |left| sizes[left] as f64);
    let distance = (bytes / before).log2().abs();
    if before > bytes * 0.9 && distance < NEARLY { cost * (1. - PREFERENCE * (1. - distance / NEARLY)) } else { cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    /// As `OPTIMIZE TABLE` of ClickHouse 26.7 did it.
    #[test]
    fn a_part_of_some_megabytes_goes_with_small_ones_and_a_larger_one_does_not() {
        let with_four = |large: u64| selection(&[large, 99 * KIB, 99 * KIB, 99 * KIB, 99 * KIB]);
        assert_eq!(with_four(2 * MIB), Some(0..5));
        assert_eq!(with_four(19 * MIB), Some(1..5));
        assert_eq!(with_four(115 * MIB), Some(1..5));
        assert_eq!(selection(&[20 * MIB, 300 * KIB, 300 * KIB]), Some(0..3), "although two are near");
    }

    /// A table that was loaded without merges.
    #[test]
    fn many_parts_are_looked_at_in_no_time() {
        let begun = std::time::Instant::now();
        let chosen = selection(&vec![KIB; 100_000]).expect("some of them");
        assert!(chosen.end <= 100_000 && chosen.len() > 100, "{chosen:?}");
        assert!(begun.elapsed() < std::time::Duration::from_secs(5), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_single_part_is_not_merged() {
        assert_eq!(selection(&[]), None);
        assert_eq!(selection(&[1]), None);
        assert_eq!(selection(&[9 * MIB, 1]), Some(0..2));
    }
}
