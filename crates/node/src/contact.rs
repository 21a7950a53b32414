//! What is heard of a node: by looks of their own, which nothing else holds up, and by all other calls.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use crate::error::failure::{Failure, FailureKind};

/// What was heard of a node, and when.
#[derive(Debug)]
pub struct Contact {
    heard: Mutex<LastContact>,
    revived: Notify,
}

#[derive(Debug)]
struct LastContact {
    /// When it answered last; at first, when it was first called.
    answered: Instant,
    /// How long it took for the last look.
    latency: Option<Duration>,
    /// Its newest block at the last look, and since when that is the newest.
    height: Option<(u64, Instant)>,
    /// The last failure since then.
    failure: Option<(FailureKind, String)>,
    /// When it answered a look last; at first, when it was first called.
    looked: Instant,
    /// The last failure of a look since then.
    look_failure: Option<(FailureKind, String)>,
    /// When the newest of the looks began that have ended.
    newest_look: Option<Instant>,
    /// Whether a look failed and none succeeded since.
    is_away: bool,
    /// How it shows that the node is of another chain, if it does.
    foreign: Option<String>,
}

/// What the answer of a look means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnsweredLook {
    /// A look that began later has ended: nothing.
    Late,
    /// The node was there before.
    Usual,
    /// The node was away before.
    Revival,
}

/// What is known of a node at a moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeStatus {
    /// Scheme, host and port.
    pub name: String,
    /// The time since its last answer.
    pub silence: Duration,
    /// How long it took for the last look that it answered.
    pub latency: Option<Duration>,
    /// Its newest block, and the time since that came.
    pub height: Option<(u64, Duration)>,
    /// What went wrong since its last answer.
    pub failure: Option<(FailureKind, String)>,
    /// The time since it last answered a look with its height.
    pub unseen: Duration,
    /// What went wrong with looks since then.
    pub look_failure: Option<(FailureKind, String)>,
    /// How it shows that the node is of another chain, if it does.
    pub foreign: Option<String>,
}

impl Default for Contact {
    fn default() -> Self {
        let answered = Instant::now();
        let heard = LastContact {
            answered,
            latency: None,
            height: None,
            failure: None,
            looked: answered,
            look_failure: None,
            newest_look: None,
            is_away: false,
            foreign: None,
        };
        Self { heard: Mutex::new(heard), revived: Notify::new() }
    }
}

impl Contact {
    fn heard(&self) -> MutexGuard<'_, LastContact> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The node answered a call.
    pub fn answered(&self) {
        let mut heard = self.heard();
        (heard.answered, heard.failure) = (Instant::now(), None);
    }

    /// The node answered a look that began at `started`: its newest block is `height`. Looks overlap, so one may be
    /// answered after a later one ended: that says nothing, whatever became of the later one.
    pub fn answered_look(&self, started: Instant, height: u64) -> AnsweredLook {
        let mut heard = self.heard();
        if heard.newest_look.is_some_and(|newest| newest > started) {
            return AnsweredLook::Late;
        }
        let now = Instant::now();
        (heard.answered, heard.latency, heard.failure) = (now, Some(now.duration_since(started)), None);
        (heard.looked, heard.look_failure, heard.newest_look) = (now, None, Some(started));
        if heard.height.is_none_or(|(known, _)| known != height) {
            heard.height = Some((height, now));
        }
        if std::mem::replace(&mut heard.is_away, false) {
            self.revived.notify_waiters();
            return AnsweredLook::Revival;
        }
        AnsweredLook::Usual
    }

    /// A call failed.
    pub fn failed(&self, failure: &Failure) {
        self.heard().failure = Some((failure.kind(), failure.cause().into()));
    }

    /// No look has been answered for long.
    pub fn missed(&self) {
        self.heard().is_away = true;
    }

    /// A look that began at `started` failed. It says nothing if one was answered since, or a later one ended.
    pub fn missed_look(&self, started: Instant, failure: &Failure) {
        let mut heard = self.heard();
        if heard.looked > started || heard.newest_look.is_some_and(|newest| newest > started) {
            return;
        }
        heard.newest_look = Some(started);
        let failure = Some((failure.kind(), failure.cause().to_owned()));
        (heard.is_away, heard.failure, heard.look_failure) = (true, failure.clone(), failure);
    }

    /// The node was compared with the chain that is expected.
    pub fn compared(&self, failure: Option<&Failure>) {
        let foreign = failure.filter(|failure| failure.kind() == FailureKind::OtherChain);
        self.heard().foreign = foreign.map(|failure| failure.cause().into());
    }

    /// Returns when a look is answered after others were not. Only of those that happen after this call.
    pub async fn revived(&self) {
        self.revived.notified().await;
    }

    /// What is known now.
    pub fn status(&self, name: &str) -> NodeStatus {
        let heard = self.heard();
        NodeStatus {
            name: name.into(),
            silence: heard.answered.elapsed(),
            latency: heard.latency,
            height: heard.height.map(|(height, since)| (height, since.elapsed())),
            failure: heard.failure.clone(),
            unseen: heard.looked.elapsed(),
            look_failure: heard.look_failure.clone(),
            foreign: heard.foreign.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_look_that_is_answered_after_silence_is_a_revival() {
        let contact = Contact::default();
        assert_eq!(contact.answered_look(Instant::now(), 5), AnsweredLook::Usual);
        contact.missed_look(Instant::now(), &Failure::unreachable("refused"));
        assert_eq!(contact.status("node").failure, Some((FailureKind::Unreachable, "refused".into())));
        let revived = contact.revived();
        tokio::pin!(revived);
        assert!(futures_util::poll!(revived.as_mut()).is_pending());
        assert_eq!(contact.answered_look(Instant::now(), 5), AnsweredLook::Revival);
        assert!(futures_util::poll!(revived.as_mut()).is_ready());
        assert!(contact.status("node").failure.is_none());
    }

    #[test]
    fn a_look_that_fails_after_a_later_one_was_answered_says_nothing() {
        let contact = Contact::default();
        let started = Instant::now();
        assert_eq!(contact.answered_look(Instant::now(), 5), AnsweredLook::Usual);
        contact.missed_look(started, &Failure::timeout("no answer in time"));
        assert!(contact.status("node").look_failure.is_none());
        assert_eq!(contact.answered_look(Instant::now(), 5), AnsweredLook::Usual);
    }

    #[test]
    fn a_look_that_is_answered_after_a_later_one_ended_says_nothing() {
        let contact = Contact::default();
        let first = Instant::now();
        let [second, third] = [1_u32, 2].map(|count| first + count * Duration::from_nanos(1));
        assert_eq!(contact.answered_look(second, 6), AnsweredLook::Usual);
        let since = contact.heard().height;
        assert_eq!(contact.answered_look(first, 5), AnsweredLook::Late);
        assert_eq!((since.map(|(height, _)| height), contact.heard().height), (Some(6), since));
        let failed = Instant::now() + Duration::from_secs(1);
        contact.missed_look(failed, &Failure::unreachable("refused"));
        assert_eq!(contact.answered_look(third, 6), AnsweredLook::Late, "it is away");
        assert!(contact.status("node").look_failure.is_some());
        assert_eq!(contact.answered_look(failed + Duration::from_secs(1), 6), AnsweredLook::Revival);
    }

    #[test]
    fn other_answers_do_not_stand_for_a_look() {
        let contact = Contact::default();
        contact.missed_look(Instant::now(), &Failure::not_ready("internal error"));
        contact.answered();
        let status = contact.status("node");
        assert_eq!((status.failure, status.look_failure.map(|(kind, _)| kind)), (None, Some(FailureKind::NotReady)));
    }
}
