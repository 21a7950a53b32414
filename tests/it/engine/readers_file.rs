//! `--readers`: several readers with names and passwords from a file.

use std::process::Command;
use std::time::Duration;

use anyhow::ensure;
use xtask::http::{self, Answer};

use super::{ENDLESS, running_at};
use crate::env;

const HASHED: &str = "sha256:5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";

fn as_user(engine: &str, user: &str, password: &str, sql: &str) -> anyhow::Result<Answer> {
    let fields = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("user", user), ("password", password)])
        .finish();
    http::post(&http::agent(), &format!("{engine}/?{fields}"), sql.as_bytes())
}

#[test]
fn each_has_a_password_and_a_share_of_the_places() -> anyhow::Result<()> {
    let data = env::directory()?;
    let file = data.path().join("readers");
    std::fs::write(&file, format!("# analysts\n\nana  two words\nbob@example.org {HASHED}\r\n"))?;
    let file = file.display().to_string();
    let flags = ["--readers", &file, "--reader-databases", "default", "--reader-statements", "2"];
    let flags = [&flags[..], &["--reader-user", "eve", "--reader-password", "e", "--queue-timeout", "300ms"]].concat();
    let engine = env::start_engine(&data.path().join("store"), 0, &flags)?;
    for (user, password) in [("ana", "two words"), ("bob@example.org", "password"), ("eve", "e")] {
        ensure!(
            as_user(&engine.url, user, password, "SELECT currentRoles()")?.text() == "['trawl_reader']\n",
            "{user}"
        );
        let refused = as_user(&engine.url, user, password, "CREATE TABLE t (a UInt8) ORDER BY a")?;
        ensure!(refused.header("x-clickhouse-exception-code") == "164", "{}", refused.text());
    }
    for (user, password) in
        [("ana", "two"), ("ana", ""), ("bob@example.org", HASHED), ("bob@example.org", ""), ("# analysts", "")]
    {
        let refused = as_user(&engine.url, user, password, "SELECT 1")?;
        ensure!(refused.header("x-clickhouse-exception-code") == "516", "{user}: {}", refused.text());
    }
    // One reader has half of the two slots: the other is for the others.
    let url = format!("{}/?user=ana&password=two%20words&query_id=hers", engine.url);
    let text = format!("/* of-ana */ {ENDLESS}");
    let endless = std::thread::spawn(move || http::post(&http::agent(), &url, text.as_bytes()));
    env::eventually(Duration::from_secs(10), || Ok(running_at(&engine.url, "of-ana")? == "1\n"))?;
    let refused = as_user(&engine.url, "ana", "two words", "SELECT 1")?;
    ensure!(refused.status == 503 && refused.text().contains("the user `ana`"), "{}", refused.text());
    ensure!(as_user(&engine.url, "eve", "e", "SELECT 1")?.text() == "1\n");
    // Who has no slot left can still end the statement that has it, and nobody else can.
    let kill = "KILL QUERY WHERE query_id = 'hers'";
    let others = as_user(&engine.url, "eve", "e", kill)?;
    ensure!(others.status == 403 && others.header("x-clickhouse-exception-code") == "497", "{}", others.text());
    ensure!(running_at(&engine.url, "of-ana")? == "1\n", "another reader ended it");
    let killed = as_user(&engine.url, "ana", "two words", kill)?;
    ensure!(killed.text().starts_with("waiting\thers\tana\t/* of-ana */ SELECT "), "{}", killed.text());
    let ended = endless.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(ended.header("x-clickhouse-exception-code") == "394", "{}", ended.text());
    engine.stop()?;
    Ok(())
}

#[test]
fn a_file_that_is_not_understood_ends_the_start_with_its_line() -> anyhow::Result<()> {
    let data = env::directory()?;
    let file = data.path().join("readers");
    for (text, expected) in [
        ("ana secret\n\nbob\n", "line 3 of"),
        ("ana sha256:abc\n", "line 1 of"),
        ("ana a\nana b\n", "line 2 of"),
        ("a:b c\n", "line 1 of"),
        ("# nobody\n", "has no reader"),
        ("default x\n", "two users called `default`"),
    ] {
        std::fs::write(&file, text)?;
        let error = refusal(&data.path().join("store"), &file)?;
        ensure!(error.contains(expected) && !error.contains("secret"), "{text:?}: {error}");
    }
    std::fs::write(&file, b"ana \xff\n")?;
    ensure!(refusal(&data.path().join("store"), &file)?.contains("cannot read the readers from"));
    let missing = refusal(&data.path().join("store"), &data.path().join("missing"))?;
    ensure!(missing.contains("cannot read the readers from") && missing.contains("No such file"), "{missing}");
    Ok(())
}

/// What an engine that does not start says.
fn refusal(store: &std::path::Path, readers: &std::path::Path) -> anyhow::Result<String> {
    let mut command = Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(store).args(["--listen", "127.0.0.1:0", "--library"]);
    let output = command.arg(xtask::engine_library::ensure()?).arg("--readers").arg(readers).output()?;
    ensure!(output.status.code() == Some(1), "it started: {:?}", output.status);
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}
