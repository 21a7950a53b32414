//! Finality of blocks.

/// When a block of a chain becomes final.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finality {
    /// When nodes call it `finalized`; where they know no such name, so many blocks below the newest.
    Tag {
        /// Blocks below the newest.
        depth: u64,
    },
    /// So many blocks below the newest, whatever nodes call `finalized`: that lags by more blocks than can be followed.
    Depth(u64),
    /// At once: consensus ends before nodes show a block.
    AtOnce,
}

impl Finality {
    /// The newest block that is final, where a node's newest block is `newest` and it calls `tagged` finalized.
    #[must_use]
    pub fn newest_final(self, newest: u64, tagged: Option<u64>) -> Option<u64> {
        match self {
            Self::Tag { depth } => tagged.or(newest.checked_sub(depth)).map(|block| block.min(newest)),
            Self::Depth(depth) => newest.checked_sub(depth),
            Self::AtOnce => Some(newest),
        }
    }

    /// The same with a depth that the operator gave, for where nodes do not say what is final.
    #[must_use]
    pub fn with_depth(self, depth: u64) -> Self {
        match self {
            Self::Tag { .. } => Self::Tag { depth },
            Self::Depth(_) | Self::AtOnce => Self::Depth(depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Finality::{AtOnce, Depth, Tag};

    #[test]
    fn a_tag_is_believed_where_it_says_what_is_final() {
        for (finality, newest, tagged, expected) in [
            (Tag { depth: 10 }, 100, Some(60), Some(60)),
            (Tag { depth: 10 }, 100, None, Some(90)),
            (Tag { depth: 10 }, 9, None, None),
            // Of two nodes behind one address, one lags.
            (Tag { depth: 10 }, 100, Some(101), Some(100)),
            (Depth(10), 100, Some(20), Some(90)),
            (AtOnce, 100, None, Some(100)),
            (AtOnce, 100, Some(99), Some(100)),
            (AtOnce.with_depth(3), 100, None, Some(97)),
            (Tag { depth: 10 }.with_depth(3), 100, None, Some(97)),
            (Tag { depth: 10 }.with_depth(3), 100, Some(60), Some(60)),
        ] {
            assert_eq!(finality.newest_final(newest, tagged), expected, "{finality:?} {newest} {tagged:?}");
        }
    }
}
