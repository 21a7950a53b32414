//! Who is let in: no web page, nobody without a password from other machines; and where passwords come from.

use std::io::{Read, Write};
use std::process::Command;

use anyhow::ensure;
use xtask::http;
use xtask::process::Server;

use crate::env;

/// The status of a request with these header lines.
fn status(url: &str, body: &str, headers: &[&str]) -> anyhow::Result<String> {
    let mut stream = env::connect(url.trim_start_matches("http://"))?;
    let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
    write!(stream, "POST / HTTP/1.1\r\nConnection: close\r\n{lines}Content-Length: {}\r\n\r\n{body}", body.len())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.split(' ').nth(1).unwrap_or_default().to_owned())
}

/// DNS rebinding brings another `Host`; a form or a script of another origin brings `Origin` or `Sec-Fetch-Site`.
#[test]
fn a_web_page_cannot_send_statements() -> anyhow::Result<()> {
    let data = env::directory()?;
    let flags = ["--allow-host", "engine,db.example", "--allow-origin", "https://sql.example"];
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let drop = "DROP DATABASE precious";
    ensure!(http::post(&http::agent(), &engine.url, b"CREATE DATABASE precious")?.status == 200);
    let address = engine.url.trim_start_matches("http://").to_owned();
    let host = format!("Host: {address}");
    for headers in [
        &["Host: evil.example:8123"][..],
        &["Host: 127.0.0.1.nip.io"],
        &["Host: 10.1.2.3"],
        &[&host, "Origin: https://evil.example", "Content-Type: text/plain"],
        &[&host, "Origin: null"],
        &[&host, "Origin: http://localhost:3000"],
        &[&host, "Sec-Fetch-Site: cross-site"],
    ] {
        ensure!(status(&engine.url, drop, headers)? == "403", "{headers:?}");
    }
    for headers in [
        &[&*host][..],
        &["Host: localhost"],
        &["Host: engine:8123"],
        &["Host: DB.example"],
        &[&host, "Origin: https://sql.example"],
        &[&host, "Sec-Fetch-Site: none"],
    ] {
        ensure!(status(&engine.url, "SELECT 1", headers)? == "200", "{headers:?}");
    }
    ensure!(env::sql_at(&engine.url, "default", "EXISTS DATABASE precious")? == "1");
    let get = |path: &str, line: &str| -> anyhow::Result<bool> {
        let mut stream = env::connect(&address)?;
        write!(stream, "GET {path} HTTP/1.1\r\nConnection: close\r\n{line}\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.starts_with("HTTP/1.1 200"))
    };
    ensure!(get("/ping", &host)? && !get("/?query=SELECT+1", "Host: evil.example")?);
    engine.stop()?;
    Ok(())
}

fn ends(arguments: &[&str]) -> anyhow::Result<String> {
    let data = env::directory()?;
    let mut command = Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(data.path().join("store")).arg("--library").arg(xtask::engine_library::ensure()?);
    command.args(arguments);
    Ok(String::from_utf8_lossy(&env::run(command, 1)?.stderr).into_owned())
}

#[test]
fn beyond_this_machine_a_password_is_required() -> anyhow::Result<()> {
    let without = ends(&["--listen", "0.0.0.0:0"])?;
    ensure!(without.contains("--password-file") && without.contains("127.0.0.1"), "{without}");
    let reader = ["--listen", "[::]:0", "--password", "p", "--reader-user", "ana", "--reader-password", ""];
    let without = ends(&reader)?;
    ensure!(without.contains("the user `ana` has no password"), "{without}");
    let without = ends(&["--listen", "127.0.0.1:0", "--reader-user", "ana"])?;
    ensure!(without.contains("--reader-password-file"), "{without}");
    Ok(())
}

#[test]
fn passwords_are_read_from_files() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let path = |name: &str, text: &str| -> anyhow::Result<String> {
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        Ok(path.display().to_string())
    };
    let (owner, reader, empty) = (path("owner", "p:w\nnot this\n")?, path("reader", "geheim")?, path("empty", "\n")?);
    let flags = ["--password-file", &owner, "--reader-user", "ana", "--reader-password-file", &reader];
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let status = |user: &str, password: &str| {
        let url = format!("{}/?user={user}&password={password}", engine.url);
        anyhow::Ok(http::post(&http::agent(), &url, b"SELECT 1")?.status)
    };
    ensure!(status("default", "p%3Aw")? == 200 && status("ana", "geheim")? == 200);
    ensure!(status("default", "")? == 403 && status("default", "not+this")? == 403 && status("ana", "")? == 403);
    engine.stop()?;
    let text = ends(&["--listen", "127.0.0.1:0", "--password-file", &empty])?;
    ensure!(text.contains("must be the password"), "{text}");
    let text = ends(&["--listen", "127.0.0.1:0", "--password-file", "/nowhere/password"])?;
    ensure!(text.contains("cannot read the password from /nowhere/password"), "{text}");
    Ok(())
}

/// The library reads it, also where a reader has roles of its own.
#[test]
fn a_configuration_file_is_passed_on() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let backups = folder.path().join("backups");
    std::fs::create_dir(&backups)?;
    let file = folder.path().join("engine.xml");
    let path = backups.display();
    std::fs::write(&file, format!("<clickhouse><backups><allowed_path>{path}</allowed_path></backups></clickhouse>"))?;
    let file = file.display().to_string();
    let reader = ["--reader-user", "ana", "--reader-password", "geheim"];
    for (number, more) in [&[][..], &reader].into_iter().enumerate() {
        let data = env::directory()?;
        let engine = env::start_engine(data.path(), 0, &[&["--config", &file], more].concat())?;
        env::sql_at(&engine.url, "default", "CREATE DATABASE saved")?;
        env::sql_at(&engine.url, "default", "CREATE TABLE saved.t (a UInt8) ORDER BY a")?;
        env::sql_at(&engine.url, "default", &format!("BACKUP DATABASE saved TO File('{path}/{number}')"))?;
        ensure!(backups.join(number.to_string()).exists());
        engine.stop()?;
    }
    let text = ends(&["--listen", "127.0.0.1:0", "--config", "/nowhere/engine.xml"])?;
    ensure!(text.contains("cannot configure the engine from /nowhere/engine.xml"), "{text}");
    Ok(())
}

/// Who guesses passwords is named with address and user, and does not fill the disk with it.
#[test]
fn refused_logins_are_one_line_of_the_log() -> anyhow::Result<()> {
    let data = env::directory()?;
    let log = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(data.path().join("store")).arg("--library").arg(xtask::engine_library::ensure()?);
    command.args(["--listen", "127.0.0.1:0"]).stderr(log.reopen()?);
    let engine = Server::start(command)?;
    let agent = http::agent();
    for guess in 0..50 {
        let url = format!("{}/?user=eve&password={guess}&query=SELECT+1", engine.url);
        ensure!(http::get(&agent, &url)?.status == 403);
    }
    engine.stop()?;
    let text = std::fs::read_to_string(log.path())?;
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("a login was refused")).collect();
    ensure!((1..=2).contains(&lines.len()), "{text}");
    ensure!(lines[0].contains("eve") && lines[0].contains("127.0.0.1"), "{text}");
    Ok(())
}
