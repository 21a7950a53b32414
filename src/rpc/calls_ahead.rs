//! Calls of a batch that are made while the answers before theirs are written.
//!
//! Each is a task that waits neither for the client nor for another call: a short answer is held until its turn, and a
//! long one is dropped and read again then. So no statement waits for a client that reads slowly, and a batch needs
//! no more than `--max-reads` allows it at the moment.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::task::JoinHandle;
use trawl_core::served_chain::for_same_chain;

use super::methods;
use super::protocol::answer::Sink;
use super::protocol::context::{RequestContext, TakenHead};
use super::protocol::endpoint::RpcRequester;
use super::protocol::envelope::{self, Call};
use super::service::Rpc;
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::limits::{BudgetShare, MemoryReservation};
use trawl_json::JsonWriter;

/// Most calls of a batch that are made ahead of the one whose turn it is.
const MAX_CALLS: usize = 7;
/// Most bytes of an answer that is held until its turn.
const MAX_BYTES: usize = 2 << 20;

/// A batch with what its calls share.
pub(super) struct Batch {
    rpc: Rpc,
    requester: RpcRequester,
    /// The head that all calls have.
    head: TakenHead,
    pub calls: Vec<Box<RawValue>>,
    /// The memory of their text.
    _held: MemoryReservation,
}

impl Batch {
    /// The calls of a request, from the head as of now; `held` is the memory of their text.
    pub fn new(rpc: Rpc, requester: RpcRequester, calls: Vec<Box<RawValue>>, held: MemoryReservation) -> Self {
        Self { head: TakenHead::of(rpc.app()), rpc, requester, calls, _held: held }
    }

    /// The context of its calls.
    pub fn request(&self) -> RequestContext<'_> {
        RequestContext { rpc: &self.rpc, head: &self.head, requester: self.requester }
    }
}

/// The answer to a call before its turn.
pub(super) struct EarlyAnswer {
    /// The whole message; empty for a notification.
    pub text: Vec<u8>,
    _held: MemoryReservation,
    _slot: BudgetShare,
}

/// The calls of a batch that have begun before their turn.
pub(super) struct CallsAhead {
    batch: Arc<Batch>,
    /// Those that run or wait for their turn, without gaps, up to the next one to begin.
    tasks: VecDeque<EarlyCall>,
    /// The next call to begin.
    next: usize,
}

/// A task that ends when this is dropped.
struct EarlyCall(JoinHandle<Option<EarlyAnswer>>);

impl Drop for EarlyCall {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl CallsAhead {
    /// None has begun.
    pub fn new(batch: Arc<Batch>) -> Self {
        Self { batch, tasks: VecDeque::new(), next: 0 }
    }

    /// Begins some of the calls after this one, and returns its own answer if it was made already. Otherwise it is to
    /// be made now. To be called for each call in order.
    pub async fn take(&mut self, index: usize) -> Option<EarlyAnswer> {
        let own = self.tasks.pop_front();
        self.next = self.next.max(index + 1);
        self.begin();
        match own {
            // A task that panicked is made again, and panics where that ends the answer.
            Some(mut task) => (&mut task.0).await.ok().flatten(),
            None => None,
        }
    }

    /// Begins calls as long as there are slots. One that must not be made twice, or before those before it have
    /// ended, waits for its turn, and with it all that follow.
    fn begin(&mut self) {
        while self.tasks.len() < MAX_CALLS {
            let Some(text) = self.batch.calls.get(self.next) else { return };
            if !methods::is_repeatable(text, self.batch.requester.endpoint) {
                return;
            }
            let Ok(slot) = self.batch.rpc.app().limits().early_calls.take(self.batch.requester.client, 1) else {
                return;
            };
            let call = answer(Arc::clone(&self.batch), self.next, slot);
            self.tasks.push_back(EarlyCall(tokio::spawn(for_same_chain(call))));
            self.next += 1;
        }
    }
}

/// Answers a call of a batch. `None` if its answer is too long to be held, or must be tried again.
async fn answer(batch: Arc<Batch>, index: usize, slot: BudgetShare) -> Option<EarlyAnswer> {
    let (client, endpoint) = (batch.requester.client, batch.requester.endpoint);
    let (id, called) = Call::read(batch.calls.get(index)?, endpoint);
    let call = called.ok()?;
    let outcome = methods::call(batch.request(), &call).await;
    if let Err(Problem::Busy | Problem::TooMuchAtOnce) = outcome {
        return None;
    }
    let is_ok = outcome.is_ok();
    let sink = Held(Mutex::new(batch.rpc.app().limits().answers.open(client)));
    let mut writer = JsonWriter::new();
    match (id, outcome) {
        (None, _) => {}
        (Some(id), Err(problem)) => envelope::write_error(&mut writer, &id, &problem),
        (Some(id), Ok(answer)) => {
            sink.fits(answer.len()).ok()?;
            envelope::open_result(&mut writer);
            answer.write(&mut writer, &sink).await.ok()?;
            envelope::close(&mut writer, &id);
        }
    }
    methods::count(&call.method, is_ok);
    let held = sink.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Some(EarlyAnswer { text: writer.into_bytes(), _held: held, _slot: slot })
}

/// A sink of answers that are held until their turn.
struct Held(Mutex<MemoryReservation>);

impl Held {
    fn fits(&self, bytes: usize) -> Result<(), Problem> {
        if bytes > MAX_BYTES {
            return Err(Problem::TooMuchAtOnce);
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).grow_to(bytes)
    }
}

impl Sink for Held {
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(std::future::ready(self.fits(writer.len()).map_err(StreamError::Problem)))
    }
}
