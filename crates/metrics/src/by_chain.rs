//! The label `chain`, for a program that serves several: what a task counts is of the chain that it works for.

use std::borrow::Cow;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Metadata, Recorder, SharedString, Unit};

/// The name of the chain that the task that asks works for; `None` of what all share.
pub type ChainOfTask = fn() -> Option<&'static str>;

/// The name of the label.
pub(crate) const LABEL: &str = "chain";

/// A recorder that adds the label.
pub(crate) struct ByChain<R> {
    pub recorder: R,
    pub chain: ChainOfTask,
}

impl<R> ByChain<R> {
    fn labelled<'key>(&self, key: &'key Key) -> Cow<'key, Key> {
        match (self.chain)() {
            None => Cow::Borrowed(key),
            Some(name) => Cow::Owned(key.with_extra_labels(vec![Label::from_static_parts(LABEL, name)])),
        }
    }
}

impl<R: Recorder> Recorder for ByChain<R> {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.recorder.describe_counter(key, unit, description);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.recorder.describe_gauge(key, unit, description);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, description: SharedString) {
        self.recorder.describe_histogram(key, unit, description);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.recorder.register_counter(&self.labelled(key), metadata)
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        self.recorder.register_gauge(&self.labelled(key), metadata)
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        self.recorder.register_histogram(&self.labelled(key), metadata)
    }
}
