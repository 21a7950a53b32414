//! The file of nginx as it is, but for addresses, names and paths: nginx takes it, and clients reach the explorer
//! alone.

use std::fs;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};
use xtask::process::{self, Server};
use xtask::{http, workspace};

use super::tls::Authority;
use crate::chains::chain;
use crate::env;

/// The file with ports and paths of this run instead of those of a machine.
fn site(api: &Server, [plain, encrypted]: [u16; 2], [certificate, key]: [&str; 2]) -> anyhow::Result<String> {
    let text = fs::read_to_string(workspace::root().join("ops/nginx/trawl.conf"))?;
    let mut site = text.lines().filter(|line| !line.contains("listen [::]")).collect::<Vec<_>>().join("\n");
    let live = "/etc/letsencrypt/live/explorer.example.org";
    for (from, to) in [
        ("server 127.0.0.1:4000", format!("server {}", api.url.trim_start_matches("http://"))),
        ("listen 80;", format!("listen 127.0.0.1:{plain};")),
        ("listen 443 ", format!("listen 127.0.0.1:{encrypted} ")),
        (&format!("{live}/fullchain.pem"), certificate.into()),
        (&format!("{live}/privkey.pem"), key.into()),
        ("server_name explorer.example.org", "server_name localhost".into()),
    ] {
        ensure!(site.contains(from), "{from} is not in ops/nginx/trawl.conf");
        site = site.replace(from, &to);
    }
    Ok(site)
}

#[test]
fn nginx_serves_the_explorer_alone() -> anyhow::Result<()> {
    if !env::is_slow_run() {
        return Ok(());
    }
    let program = std::env::var_os("TRAWL_TEST_NGINX").unwrap_or_else(|| "nginx".into());
    if Command::new(&program).arg("-v").stderr(Stdio::null()).status().is_err() {
        eprintln!("skipped: there is no nginx (Debian: nginx-light; or TRAWL_TEST_NGINX)");
        return Ok(());
    }
    let (folder, authority) = (env::directory()?, Authority::new()?);
    let [certificate, key] = authority.install(folder.path())?;
    let flags = ["--client-header", "X-Real-IP", "--rate-limit", "1000/1m"];
    let api = env::start_api_at(env::store(), chain("devchain").name, &flags)?;
    let ports = [env::free_port()?, env::free_port()?];
    let run_folder = folder.path().display();
    let user = if is_root() { "user root;" } else { "" };
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {run_folder}/{kind};\n"))
        .concat();
    let whole = format!(
        "{user}\ndaemon off;\nmaster_process off;\npid {run_folder}/nginx.pid;\nerror_log {run_folder}/error.log;\n\
         events {{}}\nhttp {{\naccess_log off;\n{temporary}{}\n}}\n",
        site(&api, ports, [&certificate, &key])?
    );
    let file = folder.path().join("nginx.conf");
    fs::write(&file, whole)?;
    let run = |more: &[&str]| {
        let mut command = Command::new(&program);
        command.arg("-c").arg(&file).arg("-p").arg(folder.path()).args(more).stdin(Stdio::null());
        command
    };
    env::run(run(&["-t"]), 0)?;
    let mut nginx = run(&[]).spawn()?;
    let outcome = check(&authority, ports);
    // It ended by itself if that fails, which the outcome says.
    let _ = nginx.kill();
    process::wait_within(&mut nginx, env::LONGEST)?;
    outcome.with_context(|| fs::read_to_string(folder.path().join("error.log")).unwrap_or_default())?;
    api.stop()?;
    Ok(())
}

fn is_root() -> bool {
    // SAFETY: no memory is involved, and it cannot fail.
    unsafe { libc::geteuid() == 0 }
}

fn check(authority: &Authority, [plain, encrypted]: [u16; 2]) -> anyhow::Result<()> {
    env::eventually(env::SOON, || Ok(TcpStream::connect(("127.0.0.1", encrypted)).is_ok()))?;
    let url = format!("https://127.0.0.1:{encrypted}");
    let ask = |request: &str| authority.ask(&url, &format!("{request}\r\nhost: localhost\r\nconnection: close\r\n"));
    let blocks = ask("GET /api/v2/blocks?items_count=1 HTTP/1.1")?.to_ascii_lowercase();
    ensure!(blocks.starts_with("http/1.1 200") && blocks.contains("\"items\""), "{blocks}");
    ensure!(blocks.contains("strict-transport-security: max-age=31536000"), "{blocks}");
    ensure!(blocks.contains("x-ratelimit-limit: 1000"), "{blocks}");
    let page = ask("GET / HTTP/1.1\r\naccept: text/html")?;
    ensure!(page.to_ascii_lowercase().contains("<!doctype html>"), "{page}");
    let named = ask("GET /api/v2/config/json-rpc-url HTTP/1.1")?;
    ensure!(named.contains("https://localhost/rpc"), "{named}");
    // nginx itself answers, also below the name of a chain, however the path is written.
    for path in ["/metrics", "/health/ready", "/health/live", "/op-1/metrics", "/op-1/health/ready", "/op-1/%6detrics"]
    {
        let answer = ask(&format!("GET {path} HTTP/1.1"))?;
        ensure!(answer.starts_with("HTTP/1.1 404") && answer.contains("<center>nginx"), "{path}: {answer}");
    }
    let health = ask("GET /api/health HTTP/1.1")?;
    ensure!(health.starts_with("HTTP/1.1 200"), "{health}");
    let upgrade = "upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
    let socket = authority
        .ask_head(&url, &format!("GET /rpc HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n{upgrade}\r\n"))?;
    ensure!(socket.starts_with("HTTP/1.1 101"), "{socket}");
    let agent: ureq::Agent = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().into();
    let moved = http::get(&agent, &format!("http://127.0.0.1:{plain}/blocks?x=1"))?;
    ensure!(moved.status == 301 && moved.header("location") == "https://127.0.0.1/blocks?x=1", "{moved:?}");
    for request in 0.. {
        ensure!(request < 2_000, "a flood is not refused");
        if ask("GET /api/v2/blocks?items_count=1 HTTP/1.1")?.starts_with("HTTP/1.1 429") {
            break;
        }
    }
    Ok(())
}
