//! Requests as drivers send them: those of Go, Java and PHP.

use anyhow::ensure;
use xtask::http::{self, Answer};

use crate::env;

fn ask(path: &str, sql: &str) -> anyhow::Result<Answer> {
    http::post(&http::agent(), &format!("{}/{path}", env::engine()), sql.as_bytes())
}

/// Sessions with `readonly=1`, as drivers of PHP and Python open them, with settings on either side of it.
#[test]
fn a_session_may_be_read_only() -> anyhow::Result<()> {
    for path in
        ["?session_id=only-reads&readonly=1", "?session_id=reads-too&readonly=1&max_threads=2&max_block_size=77"]
    {
        for _ in 0..2 {
            let answer = ask(path, "SELECT getSetting('readonly')")?;
            ensure!(answer.status == 200 && answer.text() == "1\n", "{path}: {}", answer.text());
            let refused = ask(path, "CREATE TEMPORARY TABLE a (b UInt8)")?;
            ensure!(refused.header("x-clickhouse-exception-code") == "164", "{path}: {}", refused.text());
        }
        let session = path.split_once('&').map_or(path, |(session, _)| session);
        ensure!(ask(session, "SELECT getSetting('readonly')")?.text() == "0\n", "readonly is left in the session");
    }
    Ok(())
}

/// The Java client does not decompress the answer to a refused login; that to a failed statement it does.
#[test]
fn a_refused_login_is_never_compressed() -> anyhow::Result<()> {
    let refused = ask("?compress=1&user=nobody&password=wrong", "SELECT 1")?;
    ensure!(refused.status == 403 && refused.text().starts_with("Code: 516. DB::Exception: "), "{}", refused.text());
    let failed = ask("?compress=1", "SELECT no_such_column")?;
    let is_compressed = !failed.text().starts_with("Code");
    ensure!(failed.header("x-clickhouse-exception-code") == "47" && is_compressed, "{}", failed.text());
    Ok(())
}

#[test]
fn names_of_formats_have_any_letter_case() -> anyhow::Result<()> {
    for (name, other) in [("JSON", "json"), ("JSONEachRow", "jsoneachrow"), ("ArrowStream", "arrowstream")] {
        let (one, two) =
            (ask(&format!("?default_format={name}"), "SELECT 1")?, ask("", &format!("SELECT 1 FORMAT {other}"))?);
        ensure!(two.status == 200, "{other}: {}", two.text());
        ensure!(one.header("content-type") == two.header("content-type"), "{other}: {}", two.header("content-type"));
    }
    Ok(())
}

/// clickhouse-go reads `Native` by the version that it sends; without one it is the form of version 0.
#[test]
fn native_of_another_version_is_refused() -> anyhow::Result<()> {
    for (version, status) in [("0", 200), ("54405", 200), ("54453", 200), ("54454", 501), ("54483", 501), ("x", 400)] {
        for (path, sql) in [("&default_format=Native", "SELECT 1"), ("", "SELECT 1 FORMAT native")] {
            let answer = ask(&format!("?client_protocol_version={version}{path}"), sql)?;
            ensure!(answer.status == status, "{version}: {} {}", answer.status, answer.text());
        }
        let other = ask(&format!("?client_protocol_version={version}&default_format=RowBinary"), "SELECT 1")?;
        ensure!(other.status == if status == 400 { 400 } else { 200 }, "{version}: {}", other.text());
    }
    Ok(())
}
