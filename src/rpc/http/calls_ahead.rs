//! Reads of a batch that are made while the answers before theirs are written.
//!
//! Each is a task that waits neither for the client nor for another call, and takes only what no other request waits
//! for: a short answer is held until its turn, and everything else is dropped and made again then. So nothing that is
//! made early holds a statement, and no call fails because of those after it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;
use trawl_core::served_chain::for_same_chain;

use super::effect::Effect;
use crate::error::{Limit, Problem};
use crate::http::body::StreamError;
use crate::limits::{BudgetShare, MemoryReservation};
use crate::rpc::methods;
use crate::rpc::protocol::answer::{Answer, Sink};
use crate::rpc::protocol::context::{HeadSnapshot, RequestContext};
use crate::rpc::protocol::endpoint::RpcRequester;
use crate::rpc::protocol::envelope::{self, Call, Id};
use crate::rpc::service::Rpc;
use trawl_json::JsonWriter;

/// How many calls after the one whose turn it is are looked at.
const WINDOW: usize = 7;
/// Most bytes of an answer that is held until its turn.
const MAX_BYTES: usize = 2 << 20;

/// A batch with what its calls share.
pub(super) struct Batch {
    rpc: Rpc,
    requester: RpcRequester,
    /// The head that all calls have.
    head: HeadSnapshot,
    pub calls: Vec<Box<RawValue>>,
    /// The memory of their text.
    _held: MemoryReservation,
}

impl Batch {
    /// The calls of a request, from the head as of now; `held` is the memory of their text.
    pub fn new(rpc: Rpc, requester: RpcRequester, calls: Vec<Box<RawValue>>, held: MemoryReservation) -> Self {
        Self { head: HeadSnapshot::of(rpc.app()), rpc, requester, calls, _held: held }
    }

    /// The context of its calls.
    pub fn request(&self) -> RequestContext<'_> {
        RequestContext { rpc: &self.rpc, head: &self.head, requester: self.requester }
    }

    /// What the call at a position does.
    fn effect(&self, index: usize) -> Option<Effect> {
        Some(Effect::of(self.calls.get(index)?, self.requester.endpoint))
    }
}

/// The answer to a call before its turn.
pub(super) struct EarlyAnswer {
    /// The whole message; empty for a notification.
    pub text: Vec<u8>,
    _held: MemoryReservation,
    _slot: BudgetShare,
}

/// Why there is no early answer.
enum PrefetchSkipped {
    /// It is too long to be held.
    TooLong,
    /// The call failed, or there was no slot or memory for it now.
    Failed,
}

/// The calls of a batch that have begun before their turn.
pub(super) struct CallsAhead {
    batch: Arc<Batch>,
    /// For each call after the one whose turn it is, up to the next one to be looked at: its task, if it has begun.
    tasks: VecDeque<Option<EarlyCall>>,
    /// The next call to be looked at.
    next: usize,
    /// Whether no more calls begin early: answers of this batch are long.
    has_ended: bool,
}

/// A task that ends when this is dropped.
struct EarlyCall(JoinHandle<Result<EarlyAnswer, PrefetchSkipped>>);

impl Drop for EarlyCall {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl CallsAhead {
    /// None has begun.
    pub fn new(batch: Arc<Batch>) -> Self {
        Self { batch, tasks: VecDeque::new(), next: 0, has_ended: false }
    }

    /// The answer to this call if it was made already; otherwise it is to be made now. Some of the calls after it
    /// begin. To be called for each call in order.
    pub async fn take(&mut self, index: usize) -> Option<EarlyAnswer> {
        let own = match self.tasks.pop_front().flatten() {
            // A task that panicked is made again, and panics where that ends the answer.
            Some(mut task) => Some((&mut task.0).await.unwrap_or(Err(PrefetchSkipped::Failed))),
            None => None,
        };
        self.next = self.next.max(index + 1);
        match own {
            Some(Err(PrefetchSkipped::TooLong)) => self.has_ended = true,
            // It is made now, without others beside it.
            Some(Err(PrefetchSkipped::Failed)) => {}
            _ if self.batch.effect(index) == Some(Effect::Changes) => {}
            _ => self.begin(),
        }
        own.and_then(Result::ok)
    }

    /// Begins the reads that come next as long as there are slots, up to the next call that changes something.
    fn begin(&mut self) {
        while !self.has_ended && self.tasks.len() < WINDOW {
            let task = match self.batch.effect(self.next) {
                Some(Effect::Reads) => {
                    let limits = self.batch.rpc.app().limits();
                    let Ok(slot) = limits.early_calls.take(self.batch.requester.client, 1) else { return };
                    let call = answer(Arc::clone(&self.batch), self.next, slot);
                    Some(EarlyCall(tokio::spawn(for_same_chain(call))))
                }
                Some(Effect::None) => None,
                Some(Effect::Changes) | None => return,
            };
            self.tasks.push_back(task);
            self.next += 1;
        }
    }
}

/// Answers a call of a batch.
async fn answer(batch: Arc<Batch>, index: usize, slot: BudgetShare) -> Result<EarlyAnswer, PrefetchSkipped> {
    let text = batch.calls.get(index).ok_or(PrefetchSkipped::Failed)?;
    let (id, Ok(call)) = Call::read(text, batch.requester.endpoint) else { return Err(PrefetchSkipped::Failed) };
    let answer = methods::call_early(batch.request(), &call).await.ok_or(PrefetchSkipped::Failed)?;
    let (text, held) = match id {
        Some(id) => message(&batch, &id, answer).await?,
        None => (Vec::new(), batch.rpc.app().limits().answers.open(batch.requester.client)),
    };
    methods::count(&call.method, true);
    Ok(EarlyAnswer { text, _held: held, _slot: slot })
}

/// The message with an answer.
async fn message(batch: &Batch, id: &Id, answer: Answer) -> Result<(Vec<u8>, MemoryReservation), PrefetchSkipped> {
    let held = batch.rpc.app().limits().answers.open(batch.requester.client);
    let sink = BufferedText(Mutex::new(held));
    let mut writer = JsonWriter::new();
    let refused = |problem: Problem| match problem {
        Problem::TooLongForSocket | Problem::TooManyLogs { reason: Limit::Message, .. } => PrefetchSkipped::TooLong,
        _ => PrefetchSkipped::Failed,
    };
    sink.fits(answer.len()).map_err(refused)?;
    envelope::open_result(&mut writer);
    answer.write(&mut writer, &sink).await.map_err(|error| match error {
        StreamError::Problem(problem) => refused(problem),
        StreamError::Disconnected => PrefetchSkipped::Failed,
    })?;
    envelope::close(&mut writer, id);
    Ok((writer.into_bytes(), sink.0.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

/// A sink of answers that are held until their turn.
struct BufferedText(Mutex<MemoryReservation>);

impl BufferedText {
    fn fits(&self, bytes: usize) -> Result<(), Problem> {
        if bytes > MAX_BYTES {
            return Err(Problem::TooLongForSocket);
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).grow_to(bytes)
    }
}

impl Sink for BufferedText {
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(std::future::ready(self.fits(writer.len()).map_err(StreamError::Problem)))
    }
}
