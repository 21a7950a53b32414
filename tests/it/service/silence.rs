//! A proxy before a server that can fall silent: it goes on accepting and reading, and passes nothing on.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// A running proxy. It ends with the test process.
pub struct SilentProxy {
    /// Where it listens.
    pub url: String,
    silent: Arc<AtomicBool>,
}

impl SilentProxy {
    /// Passes everything on to `server`, which is `http://host:port`.
    pub fn start(server: &str) -> anyhow::Result<Self> {
        let server = server.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let silent = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&silent);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(&server) else { continue };
                let (Ok(from), Ok(to)) = (client.try_clone(), server.try_clone()) else { continue };
                let (there, back) = (Arc::clone(&shared), Arc::clone(&shared));
                thread::spawn(move || pass(from, to, &there));
                thread::spawn(move || pass(server, client, &back));
            }
        });
        Ok(Self { url, silent })
    }

    /// From now on nothing is passed on, in neither direction.
    pub fn fall_silent(&self) {
        self.silent.store(true, Ordering::SeqCst);
    }

    /// Passes on again what comes from now on.
    pub fn speak(&self) {
        self.silent.store(false, Ordering::SeqCst);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, silent: &AtomicBool) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count) = from.read(&mut buffer) {
        if count == 0 {
            break;
        }
        // What is swallowed is lost; a connection that lost something is of no use afterwards, as in a real outage.
        if !silent.load(Ordering::SeqCst) && to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other side may have closed already.
    let _ = to.shutdown(std::net::Shutdown::Write);
}
