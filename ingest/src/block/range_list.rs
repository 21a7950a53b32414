//! Ranges of blocks as `status` and messages list them.

use trawl_core::primitives::BlockRange;

/// Ranges as pairs of their ends.
#[must_use]
pub fn pairs(ranges: &[BlockRange]) -> Vec<(u64, u64)> {
    ranges.iter().map(|range| (range.first(), range.last())).collect()
}

/// How many ranges a person gets to see.
const SHOWN: usize = 20;

/// Ranges for a person; long lists are cut.
#[must_use]
pub fn list(ranges: &[(u64, u64)]) -> String {
    if ranges.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> = ranges
        .iter()
        .take(SHOWN)
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    let rest = ranges.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}
