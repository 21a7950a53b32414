//! Which of several chains a task works for: its metrics have the label `chain`, its log lines say so. It knows no
//! chain: a name is what the operator of a server of several chains gave one.

use tracing::{Instrument, Span};

tokio::task_local! {
    static CHAIN: Option<ServedChain>;
}

/// One of several chains that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedChain(&'static str);

impl ServedChain {
    /// The chain of a name. The name lives until the process ends, as its metrics do.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.to_owned().leak())
    }

    /// Its name, as its operator gave it.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }

    /// The chain that this task works for; none where a server has one chain, and for what all share.
    #[must_use]
    pub fn of_task() -> Option<Self> {
        CHAIN.try_with(|chain| *chain).ok().flatten()
    }

    /// `work` for this chain. Tasks that it starts are of no chain, but by [`for_same_chain`].
    pub fn scope<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        for_chain(Some(self), work)
    }

    /// Runs `work` for this chain.
    pub fn sync_scope<T>(self, work: impl FnOnce() -> T) -> T {
        CHAIN.sync_scope(Some(self), work)
    }
}

/// `work` for the chain of this task, to be run by another task.
pub fn for_same_chain<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    for_chain(ServedChain::of_task(), work)
}

/// `work` for a chain, or for none.
pub fn for_chain<T>(chain: Option<ServedChain>, work: impl Future<Output = T>) -> impl Future<Output = T> {
    let span = chain.map_or_else(Span::none, |ServedChain(name)| tracing::info_span!("chain", %name));
    CHAIN.scope(chain, work.instrument(span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_works_for_the_chain_of_the_one_that_started_it() {
        let base = ServedChain::new("base");
        let inside = async || {
            let same = tokio::spawn(for_same_chain(async { ServedChain::of_task() }));
            let none = tokio::spawn(async { ServedChain::of_task() });
            (ServedChain::of_task(), same.await.expect("it ends"), none.await.expect("it ends"))
        };
        assert_eq!(base.scope(inside()).await, (Some(base), Some(base), None));
        assert_eq!((inside().await, base.sync_scope(ServedChain::of_task)), ((None, None, None), Some(base)));
    }
}
