//! The methods over a WebSocket, and notifications for subscribers.
//!
//! A connection keeps only the message that is being sent: events wait in one queue for all connections, and a client
//! that does not keep up with it is disconnected with a reason.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::rejection::WebSocketUpgradeRejection;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::response::{IntoResponse, Response};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::task::JoinSet;

use super::feed::Event;
use super::session::{Reply, Session, Topic, notification};
use crate::error::Problem;
use crate::limits::Allowance;
use crate::middleware::requester::Requester;
use crate::read::log_filter::selects;
use crate::rpc::protocol::endpoint::{Endpoint, RpcRequester};
use crate::rpc::service::Rpc;
use trawl_core::served_chain::{ServedChain, for_chain, for_same_chain};
use trawl_json::logs::{write_removed_log, write_rpc_log};
use trawl_serve::Full;

/// Longest message that is read, in bytes: six blobs with their proofs, and more.
const MAX_MESSAGE: usize = 8 << 20;
/// Most messages of one connection that are answered or wait for that; no further one is read until one is done. There
/// are more of them than are answered at a time, so that a client's pings are answered while its calls run.
const MESSAGES_PER_CONNECTION: usize = 32;
/// The longest a client may take to receive a message.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);
/// Time between two pings.
const PING_INTERVAL: Duration = Duration::from_secs(30);
/// The longest time without a message or pong of the client.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Accepts a connection, if there are not too many.
pub(crate) async fn connect(
    State(rpc): State<Rpc>,
    Extension(endpoint): Extension<Endpoint>,
    Requester(client): Requester,
    allowance: Allowance,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Response {
    let Ok(upgrade) = upgrade else { return Problem::MethodNotAllowed.into_response() };
    let Ok(slot) = Arc::clone(&rpc.sockets().slots).try_acquire_owned() else {
        return Problem::Busy.into_response();
    };
    let position = match rpc.app().limits().sockets.take(client, 1) {
        Ok(position) => position,
        Err(Full::Client) => return Problem::TooMuchAtOnce.into_response(),
        Err(Full::All) => return Problem::Busy.into_response(),
    };
    let chain = ServedChain::of_task();
    upgrade.max_message_size(MAX_MESSAGE).max_frame_size(MAX_MESSAGE).on_upgrade(move |socket| {
        for_chain(chain, async move {
            let open = metrics::gauge!("trawl_websocket_connections");
            open.increment(1);
            let session = Arc::new(Session::new(rpc.clone(), RpcRequester { endpoint, client }, allowance));
            serve(&rpc, session, socket).await;
            open.decrement(1);
            drop((slot, position));
        })
    })
}

/// Why a connection ends.
enum End {
    /// The client has gone.
    Disconnected,
    /// The server closes it, with a code and a reason.
    Close(u16, String),
}

async fn serve(rpc: &Rpc, session: Arc<Session>, mut socket: WebSocket) {
    if let End::Close(code, reason) = converse(rpc, &session, &mut socket).await {
        tracing::debug!(code, reason, "closing a WebSocket");
        let close = Message::Close(Some(CloseFrame { code, reason: Utf8Bytes::from(reason) }));
        // A client that does not receive the close frame has gone.
        let _ = tokio::time::timeout(Duration::from_secs(1), socket.send(close)).await;
    }
}

/// Reads messages and sends answers and notifications until one side ends the connection.
async fn converse(rpc: &Rpc, session: &Arc<Session>, socket: &mut WebSocket) -> End {
    let mut ending = rpc.sockets().ending.subscribe();
    let mut calls: JoinSet<CallAnswer> = JoinSet::new();
    let mut events: Option<broadcast::Receiver<Arc<Event>>> = None;
    let mut ping = tokio::time::interval(PING_INTERVAL);
    let mut last_message = Instant::now();
    loop {
        let outcome = tokio::select! {
            message = socket.recv(), if calls.len() < MESSAGES_PER_CONNECTION => {
                last_message = Instant::now();
                match message {
                    Some(Ok(Message::Text(text))) => spawn(&mut calls, rpc, session, text.into()),
                    Some(Ok(Message::Binary(bytes))) => spawn(&mut calls, rpc, session, bytes),
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return End::Disconnected,
                }
                Ok(())
            }
            Some(reply) = calls.join_next() => match reply {
                // A notification.
                Ok(CallAnswer { reply, .. }) if reply.text.is_empty() => Ok(()),
                Ok(CallAnswer { reply, slot }) => {
                    if !reply.opened.is_empty() {
                        events.get_or_insert_with(|| rpc.sockets().feed.listen());
                    }
                    let sent = send(socket, reply.text).await;
                    drop((reply.held, slot));
                    session.open(&reply.opened);
                    sent
                }
                Err(_) => Err(End::Close(close_code::ERROR, "internal error".into())),
            },
            event = next(&mut events) => match event {
                Ok(event) => notify(socket, session, &event).await,
                Err(RecvError::Lagged(missed)) => {
                    let reason = format!("too slow: {missed} notifications were missed; subscribe again");
                    Err(End::Close(close_code::POLICY, reason))
                }
                Err(RecvError::Closed) => Err(End::Disconnected),
            },
            _ = ping.tick() => match last_message.elapsed() > IDLE_TIMEOUT && calls.len() < MESSAGES_PER_CONNECTION {
                true => Err(End::Close(close_code::POLICY, "no message or pong received".into())),
                false => deliver(socket, Message::Ping(bytes::Bytes::new())).await,
            },
            () = ended(&mut ending) => Err(End::Close(close_code::AWAY, "the server is shutting down".into())),
        };
        if let Err(end) = outcome {
            return end;
        }
    }
}

/// An answer, and the slot of its connection, which it keeps until it is sent.
struct CallAnswer {
    reply: Reply,
    slot: Option<OwnedSemaphorePermit>,
}

/// Answers a message in a task of its own, so that a slow one does not block the others. It keeps memory for the
/// message until then, and for the answer until it is sent.
fn spawn(calls: &mut JoinSet<CallAnswer>, rpc: &Rpc, session: &Arc<Session>, text: bytes::Bytes) {
    let (rpc, session) = (rpc.clone(), Arc::clone(session));
    let taken = session.take_in(&text);
    calls.spawn(for_same_chain(async move {
        let _held = match taken {
            Ok(held) => held,
            // At once, so that no text waits for which there is no memory.
            Err(problem) => return CallAnswer { reply: session.refuse_text(&text, &problem), slot: None },
        };
        // The semaphores are never closed.
        let slot = session.slots().acquire_owned().await.ok();
        let _shared_slot = rpc.sockets().calls.acquire().await;
        CallAnswer { reply: session.answer(&text).await, slot }
    }));
}

async fn ended(ending: &mut watch::Receiver<bool>) {
    // The wait fails when the sender is dropped, which is the end as well.
    let _ = ending.wait_for(|is_ending| *is_ending).await;
}

async fn next(events: &mut Option<broadcast::Receiver<Arc<Event>>>) -> Result<Arc<Event>, RecvError> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

/// Sends an event to each subscription that selects it.
async fn notify(socket: &mut WebSocket, session: &Session, event: &Event) -> Result<(), End> {
    for (id, topic) in session.opened() {
        match (event, topic) {
            (Event::Header(json), Topic::Headers) => {
                send(socket, notification(&id, |writer| writer.raw(json))).await?;
            }
            (Event::Logs(batch), Topic::Logs(filter)) => {
                for row in (0..batch.len()).filter(|row| selects(&filter, &batch.view(), *row)) {
                    send(socket, notification(&id, |writer| write_rpc_log(writer, &batch.view(), row))).await?;
                }
            }
            (Event::Removed(batch), Topic::Logs(filter)) => {
                for row in (0..batch.len()).rev().filter(|row| selects(&filter, &batch.view(), *row)) {
                    send(socket, notification(&id, |writer| write_removed_log(writer, &batch.view(), row))).await?;
                }
            }
            (Event::Syncing(json), Topic::Syncing) => {
                send(socket, notification(&id, |writer| writer.raw(json))).await?;
            }
            (Event::LogsUnknown, Topic::Logs(_)) => {
                return Err(End::Close(close_code::POLICY, "the logs of a new block are not indexed".into()));
            }
            (Event::Broken(reason), _) => {
                return Err(End::Close(close_code::AGAIN, format!("{reason}; subscribe again")));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Sends JSON text with a line feed, as geth does: some clients find the end of a message by it.
async fn send(socket: &mut WebSocket, mut json: Vec<u8>) -> Result<(), End> {
    json.push(b'\n');
    match Utf8Bytes::try_from(json) {
        Ok(text) => deliver(socket, Message::Text(text)).await,
        Err(_) => Err(End::Close(close_code::ERROR, "internal error".into())),
    }
}

/// Sends a message; a client that does not receive it in time is disconnected.
async fn deliver(socket: &mut WebSocket, message: Message) -> Result<(), End> {
    match tokio::time::timeout(SEND_TIMEOUT, socket.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(End::Disconnected),
        Err(_) => Err(End::Close(close_code::POLICY, "too slow: a message was not read in time".into())),
    }
}
