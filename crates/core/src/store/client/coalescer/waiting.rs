//! The pages that wait for their turn.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tokio::sync::oneshot;

use super::pages::PageMember;
use crate::statement::Workload;

/// A page whose request waits; `T` is what holds a turn.
pub(super) struct WaitingPage<T> {
    pub member: PageMember,
    /// Rows of the page at most.
    pub limit: u64,
    pub workload: Workload,
    /// When its request began to wait.
    pub since: Instant,
    pub reply: oneshot::Sender<PageReply<T>>,
}

/// The reply to a request that waited.
pub(super) enum PageReply<T> {
    /// The rows of its page.
    Rows(Vec<RecordBatch>),
    /// The turn to read alone.
    Turn(T),
}

/// Reads that go on, and pages that wait for the end of one.
pub(super) struct PageQueue<T> {
    reads: usize,
    waiting: VecDeque<WaitingPage<T>>,
}

impl<T> Default for PageQueue<T> {
    fn default() -> Self {
        Self { reads: 0, waiting: VecDeque::new() }
    }
}

impl<T> PageQueue<T> {
    /// Begins a read, if fewer than `max_reads` go on.
    pub fn begin(&mut self, max_reads: usize) -> bool {
        let is_free = self.reads < max_reads;
        self.reads += usize::from(is_free);
        is_free
    }

    /// Begins a read beside the others, if the page that came first has waited for `max_wait`.
    pub fn begin_beside(&mut self, max_wait: Duration) -> bool {
        let is_due = self.first_waits_for(max_wait);
        self.reads += usize::from(is_due);
        is_due
    }

    fn first_waits_for(&mut self, wait: Duration) -> bool {
        self.waiting.retain(|page| !page.reply.is_closed());
        self.waiting.front().is_some_and(|page| page.since.elapsed() >= wait)
    }

    pub fn push(&mut self, page: WaitingPage<T>) {
        self.waiting.push_back(page);
    }

    /// The pages that the read which ends goes on with, the one that waited longest first; `None` ends it. Where more
    /// than `max_reads` go on, it goes on only with what has waited for `max_wait`: the rest is read in larger groups.
    pub fn next_pages(
        &mut self,
        max_pages: usize,
        max_reads: usize,
        max_wait: Duration,
    ) -> Option<Vec<WaitingPage<T>>> {
        let is_due = self.first_waits_for(max_wait);
        let first = if self.reads > max_reads && !is_due { None } else { self.waiting.pop_front() };
        let Some(first) = first else {
            self.reads -= 1;
            return None;
        };
        let mut pages = vec![first];
        let mut position = 0;
        while pages.len() < max_pages && position < self.waiting.len() {
            if pages.iter().all(|page| page.goes_with(&self.waiting[position])) {
                pages.extend(self.waiting.remove(position));
            } else {
                position += 1;
            }
        }
        Some(pages)
    }
}

impl<T> WaitingPage<T> {
    fn goes_with(&self, other: &Self) -> bool {
        self.limit == other.limit && self.workload == other.workload && self.member.page.goes_with(&other.member.page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::{Address, BlockRange};
    use crate::statement::AddressPage;

    fn page(byte: u8, limit: u64) -> (WaitingPage<()>, oneshot::Receiver<PageReply<()>>) {
        let (reply, receiver) = oneshot::channel();
        let page = AddressPage {
            columns: "address".into(),
            table: "logs",
            conditions: Vec::new(),
            order: "block_number".into(),
            address: Address::repeat_byte(byte),
            blocks: BlockRange::single(1),
        };
        let member = PageMember { blocks: page.blocks, page, parameters: Vec::new() };
        (WaitingPage { member, limit, workload: Workload::Short, since: Instant::now(), reply }, receiver)
    }

    #[test]
    fn what_goes_together_is_taken_in_turn() {
        let mut queue = PageQueue::default();
        assert!(queue.begin(1) && !queue.begin(1));
        let receivers: Vec<_> = [(1, 50), (1, 50), (2, 10), (2, 50), (3, 50), (4, 50)]
            .map(|(byte, limit)| page(byte, limit))
            .into_iter()
            .map(|(page, receiver)| {
                queue.push(page);
                receiver
            })
            .collect();
        let mut taken = || {
            let pages = queue.next_pages(3, 1, Duration::ZERO)?;
            Some(pages.iter().map(|page| (page.member.page.address.0[0], page.limit)).collect::<Vec<_>>())
        };
        assert_eq!(taken(), Some(vec![(1, 50), (2, 50), (3, 50)]), "three at most, of different addresses");
        assert_eq!(taken(), Some(vec![(1, 50), (4, 50)]), "the other page of the first address, and what goes with it");
        drop(receivers);
        assert_eq!(taken(), None, "no reader waits for the last one");
        assert!(queue.begin(1), "the read has ended");
    }

    #[test]
    fn a_page_that_waits_too_long_is_read_beside_the_others() {
        const LONG: Duration = Duration::from_secs(3_600);
        let mut queue = PageQueue::default();
        assert!(queue.begin(1) && !queue.begin_beside(Duration::ZERO), "nothing waits");
        let receivers = [1, 2, 3].map(|byte| {
            let (page, receiver) = page(byte, 50);
            queue.push(page);
            receiver
        });
        assert!(!queue.begin_beside(LONG), "it came just now");
        assert!(queue.begin_beside(Duration::ZERO));
        assert_eq!(queue.next_pages(2, 1, Duration::ZERO).map(|pages| pages.len()), Some(2));
        assert!(queue.next_pages(2, 1, LONG).is_none(), "the read beside ends, and the last page waits for the other");
        assert_eq!(queue.next_pages(2, 1, LONG).map(|pages| pages.len()), Some(1));
        drop(receivers);
    }
}
