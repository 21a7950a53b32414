//! The session of one WebSocket connection: its subscriptions, and the answers to its calls, each one message.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;
use trawl_serve::Client;

use super::feed::SubscriberGuard;
use crate::error::Problem;
use crate::http::body::StreamError;
use crate::http::values::invalid;
use crate::limits::{Allowance, MemoryReservation};
use crate::read::log_filter::emitters_and_topics;
use crate::rpc::ids::new_id;
use crate::rpc::methods;
use crate::rpc::protocol::answer::Sink;
use crate::rpc::protocol::context::{HeadSnapshot, RequestContext, exactly};
use crate::rpc::protocol::endpoint::{Endpoint, RpcRequester};
use crate::rpc::protocol::envelope;
use crate::rpc::protocol::envelope::{Call, Id, Message};
use crate::rpc::protocol::params::value;
use crate::rpc::service::Rpc;
use trawl_core::primitives::LogFilter;
use trawl_json::JsonWriter;

/// Longest message that is sent, in bytes: the longest frame that tungstenite reads by default, and with it alloy.
const MAX_ANSWER: usize = 16 << 20;
/// Bytes around the result of a call, or of the error in its stead, without the id.
const ENVELOPE: usize = 256;
/// Most messages of one connection that are answered at the same time.
const CALLS_PER_CONNECTION: usize = 8;

/// The events that a subscription selects.
#[derive(Debug, Clone)]
pub(crate) enum Topic {
    /// `newHeads`: headers of new blocks.
    Headers,
    /// `logs` that the filter selects.
    Logs(Arc<LogFilter>),
    /// `syncing`: the progress of ingest, or `false`.
    Syncing,
    /// `newPendingTransactions`: of which none comes, because no transaction is pending here.
    Pending,
}

struct Subscription {
    topic: Topic,
    /// The memory of its filter.
    _held: Option<MemoryReservation>,
    /// Whether the answer with its id has been sent; no notification is sent before.
    is_open: bool,
    _interest: Option<SubscriberGuard>,
}

/// The state of a connection.
pub(crate) struct Session {
    rpc: Rpc,
    client: Client,
    endpoint: Endpoint,
    allowance: Allowance,
    subscriptions: Mutex<BTreeMap<String, Subscription>>,
    slots: Arc<Semaphore>,
}

/// An answer, empty if none is due, and the subscriptions that open as soon as it is sent.
pub(crate) struct Reply {
    pub text: Vec<u8>,
    pub opened: Vec<String>,
    /// The memory of the text, until it is sent.
    pub held: MemoryReservation,
}

/// A sink that limits an answer to one message, for which there is memory.
struct OneMessage {
    held: Mutex<MemoryReservation>,
    /// Bytes of the answers before, in a batch.
    before: usize,
    /// Most bytes of all results. The rest is for envelopes, and for refusals of the calls for which there is no room.
    limit: usize,
}

impl OneMessage {
    fn fits(&self, bytes: usize) -> Result<(), Problem> {
        let whole = self.before + bytes;
        if whole > self.limit {
            return Err(Problem::TooLongForSocket);
        }
        self.held.lock().unwrap_or_else(PoisonError::into_inner).grow_to(whole)
    }

    fn reply(self, text: Vec<u8>, opened: Vec<String>) -> Reply {
        Reply { text, opened, held: self.held.into_inner().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl Sink for OneMessage {
    fn flush_if_full<'w>(&'w self, writer: &'w mut JsonWriter) -> BoxFuture<'w, Result<(), StreamError>> {
        Box::pin(ready(self.fits(writer.len()).map_err(StreamError::Problem)))
    }
}

impl Session {
    /// A session without subscriptions.
    pub fn new(rpc: Rpc, RpcRequester { endpoint, client }: RpcRequester, allowance: Allowance) -> Self {
        let slots = Arc::new(Semaphore::new(CALLS_PER_CONNECTION));
        Self { rpc, client, endpoint, allowance, subscriptions: Mutex::default(), slots }
    }

    /// One for each message that is being answered, until its answer is sent.
    pub fn slots(&self) -> Arc<Semaphore> {
        Arc::clone(&self.slots)
    }

    /// Memory for the text of a message.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn take_in(&self, text: &[u8]) -> Result<MemoryReservation, Problem> {
        self.rpc.app().limits().bodies.hold(self.client, text.len())
    }

    /// The answer to a message for which there is no memory. It has the id of a call, by which the client finds the call.
    pub fn refuse_text(&self, text: &[u8], problem: &Problem) -> Reply {
        let call: Option<&RawValue> = serde_json::from_slice(text).ok();
        let id = call.and_then(Call::id);
        self.message().reply(error(&id.unwrap_or_else(Id::null), problem), Vec::new())
    }

    /// The answer to a message that was not read.
    pub fn refuse(&self, problem: &Problem) -> Reply {
        self.message().reply(error(&Id::null(), problem), Vec::new())
    }

    fn message(&self) -> OneMessage {
        let held = Mutex::new(self.rpc.app().limits().answers.open(self.client));
        OneMessage { held, before: 0, limit: MAX_ANSWER }
    }

    /// Answers a message: a call or a batch.
    pub async fn answer(&self, text: &[u8]) -> Reply {
        let head = HeadSnapshot::of(self.rpc.app());
        let mut opened = Vec::new();
        let mut message = self.message();
        let calls = match Message::read(text) {
            Err(problem) => return self.refuse(&problem),
            Ok(Message::One(call)) => {
                message.limit = room(text, 1);
                let text = self.answer_call(&head, &message, &call, &mut opened).await;
                return message.reply(text, opened);
            }
            Ok(Message::Batch(calls)) => calls,
        };
        if let Err(problem) = self.endpoint.check_batch(calls.len(), self.rpc.app().options()) {
            return message.reply(envelope::refused_batch(&calls, self.endpoint, &problem), Vec::new());
        }
        message.limit = room(text, calls.len());
        let mut text = Vec::new();
        for call in &calls {
            let answer = match text.len() > message.limit {
                true => self.too_long(call),
                false => self.answer_call(&head, &message, call, &mut opened).await,
            };
            // An error is not counted while it is written, and may have the output of a call.
            let is_long = text.len() + answer.len() > message.limit + ENVELOPE * calls.len();
            let answer = if is_long { self.too_long(call) } else { answer };
            // Notifications have no answer.
            if !answer.is_empty() {
                text.push(if text.is_empty() { b'[' } else { b',' });
                text.extend(answer);
                message.before = text.len();
            }
        }
        match (text.is_empty(), calls.is_empty()) {
            (false, _) => text.push(b']'),
            (true, true) => text.extend(b"[]"),
            (true, false) => {}
        }
        message.reply(text, opened)
    }

    /// The answer to a call that is not made, because those before it fill the message.
    fn too_long(&self, call: &RawValue) -> Vec<u8> {
        Call::read(call, self.endpoint).0.map(|id| error(&id, &Problem::TooLongForSocket)).unwrap_or_default()
    }

    async fn answer_call(
        &self,
        head: &HeadSnapshot,
        message: &OneMessage,
        text: &RawValue,
        opened: &mut Vec<String>,
    ) -> Vec<u8> {
        let (id, called) = Call::read(text, self.endpoint);
        let outcome = match &called {
            Ok(call) => {
                let outcome = self.outcome(head, message, call, opened).await;
                methods::count(&call.method, outcome.is_ok());
                outcome
            }
            Err(problem) => Err(problem.clone()),
        };
        let Some(id) = id else { return Vec::new() };
        let mut writer = JsonWriter::new();
        match outcome {
            Ok(result) => {
                envelope::open_result(&mut writer);
                writer.raw(result);
                envelope::close(&mut writer, &id);
            }
            Err(problem) => {
                let method = called.as_ref().map_or("", |call| call.method.as_str());
                envelope::write_error_of(&mut writer, &id, method, &problem);
            }
        }
        writer.into_bytes()
    }

    /// The result as JSON text.
    async fn outcome(
        &self,
        head: &HeadSnapshot,
        message: &OneMessage,
        call: &Call<'_>,
        opened: &mut Vec<String>,
    ) -> Result<Vec<u8>, Problem> {
        self.allowance.take(1)?;
        let mut writer = JsonWriter::new();
        match call.method.as_str() {
            "eth_subscribe" => {
                let id = self.subscribe(&call.params)?;
                writer.string(&id);
                opened.push(id);
            }
            "eth_unsubscribe" => {
                self.unsubscribe(&call.params)?;
                writer.bool(true);
            }
            _ => {
                let requester = RpcRequester { endpoint: self.endpoint, client: self.client };
                let request = RequestContext { rpc: &self.rpc, head, requester };
                let answer = methods::call(request, call).await?;
                message.fits(answer.len())?;
                match answer.write(&mut writer, message).await {
                    Ok(()) => message.fits(writer.len())?,
                    Err(StreamError::Problem(problem)) => return Err(problem),
                    Err(StreamError::Disconnected) => return Err(Problem::Internal),
                }
            }
        }
        Ok(writer.into_bytes())
    }

    fn subscribe(&self, params: &[&RawValue]) -> Result<String, Problem> {
        let wrong_count = || invalid("Incorrect number of params");
        let (name, filter) = match params {
            [name] => (name, None),
            [name, filter] => (name, Some(value(filter)).filter(|filter| !filter.is_null())),
            _ => return Err(wrong_count()),
        };
        let name = value(name);
        let feed = &self.rpc.sockets().feed;
        let mut held = None;
        let (topic, interest) = match name.as_str() {
            Some("newHeads") => (Topic::Headers, Some(feed.subscribe_to_headers())),
            Some("logs") => {
                held = params.get(1).map(|filter| self.take_in(filter.get().as_bytes())).transpose()?;
                let filter = filter.map_or_else(|| Ok(LogFilter::default()), |filter| emitters_and_topics(&filter))?;
                (Topic::Logs(Arc::new(filter)), Some(feed.subscribe_to_logs()))
            }
            Some("syncing") => (Topic::Syncing, Some(feed.subscribe_to_syncing())),
            Some("newPendingTransactions") => (Topic::Pending, None),
            other => return Err(Problem::NoSuchSubscription(other.unwrap_or_default().to_owned())),
        };
        let limit = self.rpc.sockets().settings.subscriptions;
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if subscriptions.len() >= limit {
            return Err(invalid(&format!("too many subscriptions on this connection: at most {limit}")));
        }
        let id = new_id();
        subscriptions.insert(id.clone(), Subscription { topic, _held: held, is_open: false, _interest: interest });
        Ok(id)
    }

    fn unsubscribe(&self, params: &[&RawValue]) -> Result<(), Problem> {
        let [id] = exactly(params)?;
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = value(id).as_str().and_then(|id| subscriptions.remove(id));
        removed.map(drop).ok_or_else(|| invalid("subscription not found"))
    }

    /// Opens subscriptions whose ids have been sent to the client.
    pub fn open(&self, ids: &[String]) {
        let mut subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        for id in ids {
            if let Some(subscription) = subscriptions.get_mut(id) {
                subscription.is_open = true;
            }
        }
    }

    /// The subscriptions that receive notifications, with their ids.
    pub fn opened(&self) -> Vec<(String, Topic)> {
        let subscriptions = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        let open = subscriptions.iter().filter(|(_, subscription)| subscription.is_open);
        open.map(|(id, subscription)| (id.clone(), subscription.topic.clone())).collect()
    }
}

/// Most bytes of the results of a message's calls. Their ids, which are repeated, are part of its text.
fn room(text: &[u8], calls: usize) -> usize {
    MAX_ANSWER.saturating_sub(text.len() + calls * ENVELOPE)
}

fn error(id: &Id, problem: &Problem) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    envelope::write_error(&mut writer, id, problem);
    writer.into_bytes()
}

/// A notification of the subscription `id`; `write` writes its result.
pub(crate) fn notification(id: &str, write: impl FnOnce(&mut JsonWriter)) -> Vec<u8> {
    let mut writer = JsonWriter::new();
    writer.raw(r#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"#);
    writer.string(id);
    writer.raw(r#","result":"#);
    write(&mut writer);
    writer.raw("}}");
    writer.into_bytes()
}
