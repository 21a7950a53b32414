//! How long an answer stays valid, and what HTTP caches may therefore do with it.
//!
//! A first page may change with the next block or a reorganisation: a cache has to revalidate it each time, and gets
//! 304 if it is unchanged. Rows after a cursor in final blocks never change, but names, tags and proxies of the
//! addresses in them may: a cache may keep such a page for a minute. Only an answer without facts of addresses is
//! immutable.

use axum::http::HeaderValue;
use axum::response::Response;

use trawl_core::primitives::{BlockNumber, BlockRange};
use trawl_core::readable::Readable;
use trawl_core::store::Head;

/// How long an answer stays valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum CachePolicy {
    /// Until the next view of the chain.
    #[default]
    Revalidate,
    /// The rows are final, the facts of the addresses in them may change: a minute.
    Short,
    /// The whole answer is final: a year.
    Immutable,
}

impl CachePolicy {
    /// The policy of an answer about one block that shows facts of addresses, or has members that are null until a part
    /// of the block is loaded.
    pub fn of_block(head: &Head, block: BlockNumber) -> Self {
        if head.finalized() >= Some(block) { Self::Short } else { Self::Revalidate }
    }

    /// The policy of an answer about one block that shows nothing else.
    pub fn of_block_alone(head: &Head, block: BlockNumber) -> Self {
        if head.finalized() >= Some(block) { Self::Immutable } else { Self::Revalidate }
    }

    /// The policy of a page of rows below `cursor`, read from the blocks of `part`. A gap there may still be filled.
    pub fn of_page(head: &Head, part: &Readable, cursor: Option<BlockNumber>) -> Self {
        let (Some(cursor), Some(finalized)) = (cursor, head.finalized()) else { return Self::Revalidate };
        let below = BlockRange::new(0, cursor);
        let is_whole = below.is_some_and(|below| part.missing(below).is_empty());
        if cursor <= finalized && is_whole { Self::Short } else { Self::Revalidate }
    }

    /// Attaches the policy to a response.
    pub fn mark(self, mut response: Response) -> Response {
        response.extensions_mut().insert(self);
        response
    }

    /// The value of the header `Cache-Control`.
    pub fn cache_control(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Revalidate => "max-age=0, private, must-revalidate",
            Self::Short => "public, max-age=60",
            Self::Immutable => "public, max-age=31536000, immutable",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trawl_core::primitives::{Coverage, HotRange};

    fn range(first: u64, last: u64) -> BlockRange {
        BlockRange::new(first, last).expect("ordered")
    }

    fn head(settled: &[BlockRange], hot: BlockRange) -> Head {
        let settled: Coverage = settled.iter().copied().collect();
        let mut head = Head::default();
        head.blocks = Readable::new(settled, &[HotRange { blocks: hot, generation: 1 }]);
        head
    }

    #[test]
    fn only_final_blocks_are_cached() {
        let head = head(&[range(0, 9)], range(10, 12));
        assert_eq!(CachePolicy::of_block(&head, 9), CachePolicy::Short);
        assert_eq!(CachePolicy::of_block_alone(&head, 9), CachePolicy::Immutable);
        assert_eq!(CachePolicy::of_block(&head, 10), CachePolicy::Revalidate);
        assert_eq!(CachePolicy::of_block_alone(&Head::default(), 0), CachePolicy::Revalidate);
        assert_eq!(CachePolicy::of_page(&head, &head.blocks, Some(9)), CachePolicy::Short);
        assert_eq!(CachePolicy::of_page(&head, &head.blocks, Some(10)), CachePolicy::Revalidate);
        assert_eq!(CachePolicy::of_page(&head, &head.blocks, None), CachePolicy::Revalidate);
    }

    #[test]
    fn pages_above_a_gap_are_revalidated() {
        let head = head(&[range(0, 3), range(5, 9)], range(10, 12));
        assert_eq!(CachePolicy::of_page(&head, &head.blocks, Some(3)), CachePolicy::Short);
        assert_eq!(CachePolicy::of_page(&head, &head.blocks, Some(8)), CachePolicy::Revalidate);
    }
}
