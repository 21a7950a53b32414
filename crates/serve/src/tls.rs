//! TLS of a listener: the certificate and its key are read again when their files change, and handshakes have limits.

mod certificate;
mod encrypted;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustls::ServerConfig;
use tokio::time::{interval, timeout};
use tokio_rustls::TlsAcceptor;

pub use certificate::{TlsError, TlsFiles};

use crate::client::Client;
use crate::quota::Quota;
use certificate::TlsFileContents;
pub(crate) use encrypted::{EncryptedConnection, Transport};

/// How long a handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Most handshakes at the same time, and of one client.
const HANDSHAKES: u64 = 1_024;
const HANDSHAKES_OF_CLIENT: u64 = 128;
/// Time between two looks at the files.
const LOOK_INTERVAL: Duration = Duration::from_secs(2);

/// TLS with the certificate that its files have now.
#[derive(Debug)]
pub struct Tls {
    files: TlsFiles,
    opened: TlsFileContents,
    in_use: Mutex<Arc<ServerConfig>>,
    handshakes: Arc<Quota>,
    handshake_timeout: Duration,
}

impl Tls {
    /// TLS with the certificate and key of two files.
    ///
    /// # Errors
    ///
    /// If they cannot be read, or do not belong together.
    pub fn open(files: TlsFiles) -> Result<Self, TlsError> {
        let opened = files.open()?;
        let in_use = Mutex::new(opened.config(&files)?);
        let handshakes = Quota::new(HANDSHAKES, HANDSHAKES_OF_CLIENT);
        Ok(Self { files, opened, in_use, handshakes, handshake_timeout: HANDSHAKE_TIMEOUT })
    }

    fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.in_use.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The encrypted connection of a client; `None` if there is none, whose reason is counted.
    pub(crate) async fn greet<C: Transport>(&self, connection: C, client: Client) -> Option<EncryptedConnection<C>> {
        let count =
            |outcome: &'static str| metrics::counter!("trawl_tls_handshakes_total", "outcome" => outcome).increment(1);
        let Ok(_share) = self.handshakes.take(client, 1) else {
            count("refused");
            return None;
        };
        match timeout(self.handshake_timeout, TlsAcceptor::from(self.config()).accept(connection)).await {
            Ok(Ok(encrypted)) => {
                count("done");
                return Some(EncryptedConnection::new(encrypted));
            }
            Ok(Err(error)) => {
                count("failed");
                tracing::debug!(%client, %error, "a TLS handshake failed");
            }
            Err(_) => {
                count("timeout");
                tracing::debug!(%client, "a TLS handshake took too long");
            }
        }
        None
    }

    /// Uses what the files have from now on, whenever that changes. What cannot be used is logged once, and the
    /// certificate before it stays.
    pub(crate) async fn watch(&self) {
        let mut looks = interval(LOOK_INTERVAL);
        let mut seen = Ok(self.opened.clone());
        loop {
            looks.tick().await;
            let read = self.files.read().await.map_err(|error| chain(&error));
            if read == seen {
                continue;
            }
            match read
                .as_ref()
                .map_err(Clone::clone)
                .and_then(|new| new.config(&self.files).map_err(|error| chain(&error)))
            {
                Ok(config) => {
                    *self.in_use.lock().unwrap_or_else(PoisonError::into_inner) = config;
                    tracing::info!(certificate = %self.files.certificate.display(), "reloaded the certificate");
                }
                Err(problem) => {
                    tracing::warn!(problem, "the new certificate files cannot be used: keeping the old certificate");
                }
            }
            seen = read;
        }
    }
}

/// An error with its causes.
fn chain(error: &TlsError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

#[cfg(test)]
mod tests {
    use rustls::pki_types::{CertificateDer, ServerName};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::time::Instant;

    use super::*;

    /// TLS of a certificate that signs itself, and the certificate.
    fn tls(handshake_timeout: Duration) -> (Tls, CertificateDer<'static>) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
        let folder = tempfile::tempdir().expect("a folder");
        let [certificate, key] = ["certificate", "key"].map(|name| folder.path().join(name));
        std::fs::write(&certificate, made.cert.pem()).expect("a file");
        std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
        let opened = Tls::open(TlsFiles { certificate, key }).expect("they belong together");
        (Tls { handshake_timeout, handshakes: Quota::new(3, 2), ..opened }, made.cert.der().clone())
    }

    /// What rustls has taken and the socket has not is sent after the connection was dropped.
    #[tokio::test]
    async fn a_connection_that_is_dropped_sends_what_it_has_taken() {
        let (tls, certificate) = tls(Duration::from_secs(20));
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate).expect("a root");
        let config = rustls::ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("protocols")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let (ours, theirs) = tokio::io::duplex(1_024);
        let name = ServerName::try_from("localhost").expect("a name");
        let client = Client::of(std::net::Ipv4Addr::LOCALHOST.into());
        let (server, connected) = tokio::join!(tls.greet(ours, client), connector.connect(name, theirs));
        let (mut server, mut connected) = (server.expect("a handshake"), connected.expect("a handshake"));
        server.write_all(&[b'x'; 40_000]).await.expect("rustls takes it");
        drop(server);
        let mut received = Vec::new();
        // It ends without a close_notify, as a transfer does that breaks off.
        let _ = connected.read_to_end(&mut received).await;
        assert_eq!(received.len(), 40_000);
    }

    /// Clients that say nothing hold a bounded number of connections for a bounded time.
    #[tokio::test]
    async fn handshakes_have_a_time_and_a_number() {
        const LIMIT: Duration = Duration::from_millis(200);
        let (tls, _) = tls(LIMIT);
        let client = |last| Client::of(std::net::Ipv4Addr::new(10, 0, 0, last).into());
        let silent = || tokio::io::duplex(64);
        let started = Instant::now();
        let (ours, _theirs): (Vec<_>, Vec<_>) = (0..5).map(|_| silent()).unzip();
        let [first, second, third, fourth, fifth]: [_; 5] = ours.try_into().map_err(drop).expect("five");
        let took = async |connection, last| {
            assert!(tls.greet(connection, client(last)).await.is_none());
            started.elapsed() < LIMIT
        };
        let at_once = tokio::join!(took(first, 1), took(second, 1), took(third, 1), took(fourth, 2), took(fifth, 3));
        assert_eq!(at_once, (false, false, true, false, true), "a client has two, all have three");
        assert_eq!(tls.handshakes.taken(), 0);
    }
}
