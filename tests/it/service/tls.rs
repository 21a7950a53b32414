//! TLS of both programs: certificates that are replaced while they run, handshakes that do not end, and files that
//! cannot be used.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;
use tempfile::TempDir;
use xtask::engine_library;
use xtask::process::Server;

use crate::chains::chain;
use crate::env;

/// An authority, which a client believes, and whose certificate a server has.
pub struct Authority {
    client: Arc<ClientConfig>,
    certificate: String,
    key: String,
}

impl Authority {
    pub fn new() -> anyhow::Result<Self> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()])?;
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(made.cert.der().to_vec()))?;
        let client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self { client: Arc::new(client), certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }

    /// Replaces the files of a server, as those who renew certificates do: one after the other.
    pub fn install(&self, folder: &Path) -> anyhow::Result<[String; 2]> {
        let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
        fs::write(&certificate, &self.certificate)?;
        fs::write(&key, &self.key)?;
        Ok([certificate, key].map(|path| path.display().to_string()))
    }

    /// The answer to a request as it is written, without its last lines.
    pub fn ask(&self, url: &str, request: &str) -> anyhow::Result<String> {
        let mut stream = self.sent(url, request)?;
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            Err(error) if answer.is_empty() => Err(error.into()),
            // A server may end the connection without the end of TLS.
            _ => Ok(String::from_utf8_lossy(&answer).into_owned()),
        }
    }

    /// The first bytes of an answer that does not end.
    pub fn ask_head(&self, url: &str, request: &str) -> anyhow::Result<String> {
        let mut head = vec![0; 1024];
        let length = self.sent(url, request)?.read(&mut head)?;
        Ok(String::from_utf8_lossy(&head[..length]).into_owned())
    }

    fn sent(&self, url: &str, request: &str) -> anyhow::Result<StreamOwned<ClientConnection, TcpStream>> {
        let address = url.strip_prefix("https://").with_context(|| format!("{url} is no HTTPS"))?;
        let socket = env::connect(address)?;
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        let connection = ClientConnection::new(Arc::clone(&self.client), "localhost".try_into()?)?;
        let mut stream = StreamOwned::new(connection, socket);
        stream.write_all(format!("{request}\r\n").as_bytes())?;
        Ok(stream)
    }

    fn get(&self, url: &str, path: &str) -> anyhow::Result<String> {
        self.ask(url, &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"))
    }
}

fn encrypted_api(folder: &TempDir, authority: &Authority) -> anyhow::Result<Server> {
    let [certificate, key] = authority.install(folder.path())?;
    let flags = ["--tls-cert", &certificate, "--tls-key", &key];
    Server::start(env::api_at(env::store(), chain("devchain").name, &flags))
}

#[test]
fn the_api_speaks_tls_with_the_newest_certificate() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let (first, second) = (Authority::new()?, Authority::new()?);
    let api = encrypted_api(&folder, &first)?;
    env::eventually(env::SOON, || Ok(first.get(&api.url, "/health/ready")?.starts_with("HTTP/1.1 200")))?;
    let blocks = first.get(&api.url, "/api/v2/blocks?items_count=1")?;
    ensure!(blocks.starts_with("HTTP/1.1 200") && blocks.contains("\"items\""), "{blocks}");
    let named = first.get(&api.url, "/api/v2/config/json-rpc-url")?;
    ensure!(named.contains(&json!({"json_rpc_url": "https://localhost/rpc"}).to_string()), "{named}");
    ensure!(second.get(&api.url, "/health/live").is_err(), "another certificate is not believed");
    let plain = http_without_tls(&api.url)?;
    ensure!(!plain.contains("HTTP/1.1 200"), "{plain}");
    // Garbage changes nothing; a certificate without its key neither.
    fs::write(folder.path().join("key.pem"), "garbage")?;
    fs::write(folder.path().join("cert.pem"), &second.certificate)?;
    std::thread::sleep(Duration::from_secs(3));
    ensure!(first.get(&api.url, "/health/live")?.starts_with("HTTP/1.1 200"), "the certificate before stays");
    second.install(folder.path())?;
    env::eventually(Duration::from_secs(20), || Ok(second.get(&api.url, "/health/live").is_ok()))?;
    ensure!(first.get(&api.url, "/health/live").is_err(), "the old one is gone");
    let counted = second.get(&api.url, "/metrics")?;
    ensure!(counted.contains("trawl_tls_handshakes_total{outcome=\"failed\"}"), "{counted}");
    api.stop()?;
    Ok(())
}

/// What a client gets that does not know that it speaks to TLS.
fn http_without_tls(url: &str) -> anyhow::Result<String> {
    let mut socket = env::connect(url.trim_start_matches("https://"))?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    socket.write_all(b"GET /health/live HTTP/1.1\r\nhost: localhost\r\n\r\n")?;
    let mut answer = Vec::new();
    // It may be closed at once.
    let _ = socket.read_to_end(&mut answer);
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[test]
fn the_engine_speaks_tls() -> anyhow::Result<()> {
    let (folder, authority) = (env::directory()?, Authority::new()?);
    let [certificate, key] = authority.install(folder.path())?;
    let flags = ["--tls-cert", &certificate, "--tls-key", &key, "--password", "secret"];
    let engine = env::start_engine(&folder.path().join("data"), 0, &flags)?;
    let statement = "SELECT%20version()%20!=%20%27%27";
    let answer = authority.get(&engine.url, &format!("/?query={statement}&user=default&password=secret"))?;
    ensure!(answer.starts_with("HTTP/1.1 200") && answer.trim_end().ends_with('1'), "{answer}");
    let refused = authority.get(&engine.url, &format!("/?query={statement}"))?;
    ensure!(refused.starts_with("HTTP/1.1 403") || refused.starts_with("HTTP/1.1 401"), "{refused}");
    engine.stop()?;
    Ok(())
}

#[test]
fn files_that_cannot_be_used_end_the_start() -> anyhow::Result<()> {
    let (folder, authority, other) = (env::directory()?, Authority::new()?, Authority::new()?);
    let [certificate, key] = authority.install(folder.path())?;
    let wrong_key = folder.path().join("other.pem");
    fs::write(&wrong_key, &other.key)?;
    let wrong_key = wrong_key.display().to_string();
    let data = folder.path().join("data").display().to_string();
    let library = engine_library::ensure()?.display().to_string();
    for (program, own) in [
        ("trawl-api", &["--listen", "127.0.0.1:0", "--clickhouse-url", "http://127.0.0.1:1"][..]),
        ("trawl-engine", &["--listen", "127.0.0.1:0", "--data-dir", &data, "--library", &library]),
    ] {
        for (files, message) in [
            (["--tls-cert", &certificate, "--tls-key", "/nothing/there"], "cannot read /nothing/there"),
            (["--tls-cert", &key, "--tls-key", &key], "no certificate in PEM"),
            (["--tls-cert", &certificate, "--tls-key", &certificate], "no private key in PEM"),
            (["--tls-cert", &certificate, "--tls-key", &wrong_key], "cannot be used together"),
        ] {
            let mut command = Command::new(env::program(program));
            command.args(own).args(files);
            let text = String::from_utf8(env::run(command, 2)?.stderr)?;
            ensure!(text.contains(message), "{program} {files:?}: {text}");
        }
        let mut command = Command::new(env::program(program));
        command.args(own).args(["--tls-cert", &certificate]);
        ensure!(String::from_utf8(env::run(command, 2)?.stderr)?.contains("--tls-key"), "{program}");
    }
    Ok(())
}
