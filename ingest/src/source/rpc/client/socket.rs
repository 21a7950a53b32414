//! WebSocket connections to one node. Each has one request under way, so an answer cannot meet another's request.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async_with_config};

use super::failure::Failure;
use super::transport::{MAX_ANSWER, retry_after};

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Connections, opened as they are needed and kept while they work.
#[derive(Debug)]
pub(super) struct Sockets {
    url: String,
    timeout: Duration,
    idle: Mutex<Vec<Socket>>,
}

impl Sockets {
    pub fn new(url: String, timeout: Duration) -> Self {
        Self { url, timeout, idle: Mutex::default() }
    }

    /// Sends a request and waits for its answer. A connection on which anything went wrong is not used again.
    pub async fn post(&self, body: String) -> Result<String, Failure> {
        let exchange = async {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut socket = match idle {
                Some(socket) => socket,
                None => self.connect().await?,
            };
            let answer = exchange(&mut socket, body).await?;
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(socket);
            Ok(answer)
        };
        match tokio::time::timeout(self.timeout, exchange).await {
            Ok(answer) => answer,
            Err(_) => Err(Failure::slow("no answer in time")),
        }
    }

    async fn connect(&self) -> Result<Socket, Failure> {
        let config = WebSocketConfig::default().max_message_size(Some(MAX_ANSWER)).max_frame_size(Some(MAX_ANSWER));
        let (socket, _) = connect_async_with_config(&self.url, Some(config), true).await.map_err(failed)?;
        Ok(socket)
    }
}

async fn exchange(socket: &mut Socket, body: String) -> Result<String, Failure> {
    socket.send(Message::text(body)).await.map_err(failed)?;
    while let Some(message) = socket.next().await {
        match message.map_err(failed)? {
            Message::Text(text) => return Ok(text.as_str().to_owned()),
            Message::Binary(bytes) => {
                return String::from_utf8(bytes.into()).map_err(|_| Failure::transient("its answer is no text"));
            }
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            Message::Close(_) => break,
        }
    }
    Err(Failure::transient("it closed the connection"))
}

fn failed(error: Error) -> Failure {
    match error {
        Error::Http(response) => Failure::status(response.status().as_u16(), retry_after(response.headers())),
        Error::Capacity(_) => Failure::too_large(format!("an answer of more than {MAX_ANSWER} bytes")),
        // Its words name the host at most.
        error => Failure::transient(trawl_core::chain(&error)),
    }
}
