//! WebSocket clients with subscriptions: when a head arrives, and whether logs add up over reorganisations.

use std::collections::{HashMap, HashSet};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use alloy_primitives::B256;
use anyhow::Context as _;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::chain::{BlockIndex, Chain};

/// The messages of a client.
#[derive(Debug, Default)]
pub struct ReceivedMessages {
    /// When each head came.
    pub heads: HashMap<B256, SystemTime>,
    /// Logs that came and were not removed again.
    logs: HashSet<(B256, u64)>,
    /// Logs that came twice, or were removed without having come.
    odd: Vec<(B256, u64)>,
    /// Why it was disconnected.
    pub ended: Option<String>,
    /// When its subscriptions stood.
    subscribed: Option<Instant>,
}

/// A running client.
pub struct Subscriber {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<ReceivedMessages>,
    token: u8,
}

impl Subscriber {
    /// Subscribes to heads and to the logs of a token.
    pub fn start(url: &str, chain: &Chain, token: u8) -> anyhow::Result<Self> {
        let address = url.trim_start_matches("http://").to_owned();
        let contract = format!("{:#x}", chain.world.tokens[usize::from(token)]);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let mut socket = connect(&address)?;
        let thread = std::thread::spawn(move || {
            let mut received = ReceivedMessages::default();
            if let Err(error) = listen(&mut socket, &contract, &stopped, &mut received) {
                received.ended = Some(format!("{error:#}"));
            }
            received
        });
        Ok(Self { stop, thread, token })
    }

    /// Disconnects it; what it got, and how many logs were wrong or lacking on the branch that the chain has now.
    pub fn stop(self, chain: &Chain) -> (ReceivedMessages, usize) {
        self.stop.store(true, Ordering::Relaxed);
        let received = self.thread.join().unwrap_or_default();
        let wrong = received.wrong(chain, self.token);
        (received, wrong)
    }
}

/// Opens a WebSocket that gives up reading after a fifth of a second.
pub fn connect(address: &str) -> anyhow::Result<WebSocket<TcpStream>> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let (socket, _) = tungstenite::client(format!("ws://{address}/api/eth-rpc"), stream)
        .map_err(|error| anyhow::anyhow!("no WebSocket: {error}"))?;
    Ok(socket)
}

fn listen(
    socket: &mut WebSocket<TcpStream>,
    contract: &str,
    stop: &AtomicBool,
    received: &mut ReceivedMessages,
) -> anyhow::Result<()> {
    for (id, parameters) in [(1, json!(["newHeads"])), (2, json!(["logs", {"address": contract}]))] {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "eth_subscribe", "params": parameters});
        socket.send(Message::text(call.to_string()))?;
    }
    while !stop.load(Ordering::Relaxed) {
        match socket.read() {
            Ok(Message::Text(text)) => note(&serde_json::from_str(text.as_str())?, received)?,
            Ok(Message::Close(frame)) => anyhow::bail!("closed: {frame:?}"),
            Ok(_) => {}
            Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn note(message: &Value, received: &mut ReceivedMessages) -> anyhow::Result<()> {
    if message["id"] == 2 {
        received.subscribed = Some(Instant::now());
    }
    let item = &message["params"]["result"];
    let hash = |name: &str| item[name].as_str().and_then(|hash| hash.parse::<B256>().ok());
    if let Some(hash) = hash("hash") {
        received.heads.entry(hash).or_insert_with(SystemTime::now);
    } else if let Some(block) = hash("blockHash") {
        let index = item["logIndex"].as_str().and_then(|text| text.strip_prefix("0x")).context("logIndex")?;
        let log = (block, u64::from_str_radix(index, 16)?);
        let is_odd = if item["removed"] == true { !received.logs.remove(&log) } else { !received.logs.insert(log) };
        if is_odd {
            received.odd.push(log);
        }
    }
    Ok(())
}

impl ReceivedMessages {
    /// Logs that should be there and are not, or the other way round, of blocks younger than the subscription.
    fn wrong(&self, chain: &Chain, token: u8) -> usize {
        let model = chain.model();
        // What was on its way when the subscription began may have come or not.
        let since = self.subscribed.map_or_else(Instant::now, |time| time + Duration::from_secs(5));
        let is_young = |block_index: BlockIndex| model.at(block_index).shown > since;
        let mut expected = HashSet::new();
        for (_, block) in model.down(model.tip()).take_while(|(block_index, _)| is_young(*block_index)) {
            expected.extend(block.logs_of[usize::from(token)].iter().map(|index| (block.hash, u64::from(*index))));
        }
        let of_young = |(hash, _): &&(B256, u64)| model.by_hash(hash).is_none_or(is_young);
        let found: HashSet<(B256, u64)> = self.logs.iter().filter(of_young).copied().collect();
        expected.symmetric_difference(&found).count() + self.odd.iter().filter(of_young).count()
    }
}
