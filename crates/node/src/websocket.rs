//! WebSocket connections to one node. Each has one request in flight, so responses cannot be mixed up.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use crate::error::failure::Failure;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connections, opened on demand and reused while they work.
#[derive(Debug)]
pub struct WebSocketPool {
    url: String,
    timeout: Duration,
    /// Most bytes of a response.
    limit: usize,
    idle: Mutex<Vec<Socket>>,
}

impl WebSocketPool {
    pub fn new(url: String, timeout: Duration, limit: usize) -> Self {
        Self { url, timeout, limit, idle: Mutex::default() }
    }

    /// Sends a request and waits for its response. A connection with any failure is not used again.
    pub async fn send(&self, body: String) -> Result<String, Failure> {
        let exchange = async {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut socket = match idle {
                Some(socket) => socket,
                None => self.connect().await?,
            };
            let answer = exchange(&mut socket, body).await.map_err(|error| failed(error, self.limit))?;
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
            Ok(answer)
        };
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::timeout("no answer in time")),
        }
    }

    async fn connect(&self) -> Result<Socket, Failure> {
        let config = WebSocketConfig::default().max_message_size(Some(self.limit)).max_frame_size(Some(self.limit));
        let (socket, _) = connect_async_with_config(&self.url, Some(config), true)
            .await
            .map_err(|error| failed(error, self.limit))?;
        Ok(socket)
    }
}

async fn exchange(socket: &mut Socket, body: String) -> Result<String, Error> {
    socket.send(Message::text(body)).await?;
    while let Some(message) = socket.next().await {
        match message? {
            Message::Text(text) => return Ok(text.as_str().to_owned()),
            // Binary frames that are not UTF-8 fail like a text frame with the same bytes.
            Message::Binary(bytes) => {
                return String::from_utf8(bytes.into()).map_err(|error| Error::Utf8(error.to_string()));
            }
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            Message::Close(_) => break,
        }
    }
    Err(Error::ConnectionClosed)
}

fn failed(error: Error, limit: usize) -> Failure {
    match error {
        Error::Http(response) => Failure::status(response.status().as_u16(), response.headers()),
        Error::Capacity(_) => Failure::too_large(format!("an answer of more than {limit} bytes")),
        // The error's text contains at most the host.
        error => Failure::unreachable(trawl_core::error_chain(&error)),
    }
}
