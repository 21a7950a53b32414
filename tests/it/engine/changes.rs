//! `GET /changes`: every statement that changes rows of a table ends the waits for the table, and waits take no slots
//! of statements.

use std::thread::JoinHandle;

use super::*;

fn changes_at(url: &str, table: &str, more: &str) -> anyhow::Result<Answer> {
    http::get(&http::agent(), &format!("{url}/changes?database=default&table={table}{more}"))
}

fn number_at(url: &str, table: &str) -> anyhow::Result<u64> {
    let answer = changes_at(url, table, "")?;
    ensure!(answer.status == 200, "{}", answer.text());
    answer.json()?["changes"].as_u64().context("a number")
}

/// Asks for what follows `after` on a thread.
fn waiting(url: &str, table: &str, after: u64) -> JoinHandle<anyhow::Result<(u64, Duration)>> {
    let (url, table) = (url.to_owned(), table.to_owned());
    std::thread::spawn(move || {
        let started = Instant::now();
        let answer = changes_at(&url, &table, &format!("&after={after}"))?;
        ensure!(answer.status == 200, "{}", answer.text());
        Ok((answer.json()?["changes"].as_u64().context("a number")?, started.elapsed()))
    })
}

#[test]
fn every_change_wakes_who_waits_for_its_table() -> anyhow::Result<()> {
    for table in ["awaited", "other_than_awaited"] {
        ask("", &format!("CREATE TABLE {table} (a UInt64) ORDER BY a"))?;
    }
    let url = env::engine();
    let mut number = number_at(url, "awaited")?;
    for insert in [
        "INSERT INTO awaited VALUES (1)",
        "INSERT INTO default.`awaited` SELECT 2",
        "WITH 3 AS x INSERT INTO awaited SELECT x",
        "INSERT INTO {t:Identifier} VALUES (4)",
        "DELETE FROM awaited WHERE a = 4",
        "ALTER TABLE default.awaited DELETE WHERE a = 3 SETTINGS mutations_sync = 1",
        "TRUNCATE TABLE IF EXISTS awaited",
    ] {
        let waiter = waiting(url, "awaited", number);
        std::thread::sleep(Duration::from_millis(300));
        let answer = ask("?param_t=awaited", insert)?;
        ensure!(answer.status == 200, "{insert}: {}", answer.text());
        let (next, took) = waiter.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        ensure!(next == number + 1, "{insert}: {number}, then {next}");
        ensure!(took < Duration::from_secs(10), "{insert}: woken after {took:?}");
        // The statement's own client finds it counted.
        ensure!(number_at(url, "awaited")? == next);
        number = next;
    }
    ensure!(ask("", "INSERT INTO awaited VALUES ('no number')")?.status >= 400);
    ask("", "INSERT INTO other_than_awaited VALUES (1)")?;
    ask("", "DELETE FROM other_than_awaited WHERE 1")?;
    ask("", "OPTIMIZE TABLE awaited FINAL")?;
    ask("", "SELECT * FROM awaited")?;
    ask("?session_id=changes", "SELECT 1")?;
    ensure!(number_at(url, "awaited")? == number, "neither a failure nor another table counts");
    // From another number, and from none, the answer comes at once.
    let (now, took) = waiting(url, "awaited", 0).join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(now == number && took < Duration::from_secs(5), "{took:?}");
    Ok(())
}

/// One number stands for several tables, and is another one after a change of any.
#[test]
fn several_tables_are_waited_for_together() -> anyhow::Result<()> {
    for table in ["together_1", "together_2"] {
        ask("", &format!("CREATE TABLE {table} (a UInt64) ORDER BY a"))?;
    }
    let url = env::engine();
    let together = |after: &str| {
        http::get(&http::agent(), &format!("{url}/changes?tables=together_1,together_2,never_there{after}"))
    };
    let mut number = together("")?.json()?["changes"].as_u64().context("a number")?;
    for table in ["together_2", "together_1"] {
        let after = format!("&after={number}");
        let waiter = {
            let url = url.to_owned();
            std::thread::spawn(move || {
                http::get(&http::agent(), &format!("{url}/changes?tables=together_1,together_2,never_there{after}"))
            })
        };
        std::thread::sleep(Duration::from_millis(300));
        ask("", &format!("INSERT INTO {table} VALUES (1)"))?;
        let started = Instant::now();
        let answer = waiter.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
        let next = answer.json()?["changes"].as_u64().context("a number")?;
        ensure!(next != number && started.elapsed() < Duration::from_secs(10), "{table}: {number}, then {next}");
        number = next;
    }
    let many: Vec<String> = (0..17).map(|number| format!("t{number}")).collect();
    for wrong in ["tables=", "tables=a,,b", "tables=a,", "table=", &format!("tables={}", many.join(","))] {
        let answer = http::get(&http::agent(), &format!("{url}/changes?{wrong}"))?;
        ensure!(answer.status == 400, "{wrong}: {}", answer.text());
    }
    Ok(())
}

#[test]
fn a_wait_without_a_change_ends_with_the_same_number() -> anyhow::Result<()> {
    let number = number_at(env::engine(), "never_written")?;
    let waiter = waiting(env::engine(), "never_written", number);
    let (same, took) = waiter.join().map_err(|_| anyhow::anyhow!("the thread panicked"))??;
    ensure!(same == number && (Duration::from_secs(29)..Duration::from_secs(45)).contains(&took), "{same} {took:?}");
    Ok(())
}

/// Readers wait for 64 tables, and no more, so that every table of the owner's is counted.
#[test]
fn readers_take_no_place_of_a_table_that_the_owner_waits_for() -> anyhow::Result<()> {
    let data = env::directory()?;
    let flags = ["--user", "boss", "--password", "pw", "--reader-user", "ana", "--reader-password", "secret"];
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let path = |user: &str, password: &str, from: usize| {
        let tables: Vec<String> = (from..from + 16).map(|number| format!("t{number}")).collect();
        format!("/changes?user={user}&password={password}&tables={}", tables.join(","))
    };
    let at = |path: &str| http::get(&http::agent(), &format!("{}{path}", engine.url));
    let number = |path: &str| -> anyhow::Result<u64> { at(path)?.json()?["changes"].as_u64().context("a number") };
    let address = engine.url.trim_start_matches("http://");
    let mut waiting = Vec::new();
    for from in (0..64).step_by(16) {
        let path = path("ana", "secret", from);
        let after = number(&path)?;
        let mut socket = env::connect(address)?;
        write!(socket, "GET {path}&after={after} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        waiting.push(socket);
    }
    env::eventually(Duration::from_secs(20), || Ok(at(&path("ana", "secret", 64))?.status == 503))?;
    for from in (100..1000).step_by(16) {
        number(&path("boss", "pw", from))?;
    }
    ensure!(engine.stop()?.success());
    Ok(())
}

/// 64 of a reader wait, and no more; the owner's are others, statements are not delayed, and the end does not wait.
#[test]
fn those_who_wait_are_bounded_and_hold_nothing_up() -> anyhow::Result<()> {
    let data = env::directory()?;
    let flags = ["--user", "boss", "--password", "pw", "--reader-user", "ana", "--reader-password", "secret"];
    let engine = env::start_engine(data.path(), 0, &flags)?;
    let at = |user: &str, password: &str, more: &str| {
        http::get(&http::agent(), &format!("{}/changes?table=t&user={user}&password={password}{more}", engine.url))
    };
    ensure!(at("ana", "wrong", "")?.status == 403);
    ensure!(at("boss", "pw", "&max_threads=1")?.status == 400);
    ensure!(at("boss", "pw", "&after=x")?.status == 400);
    let number = at("ana", "secret", "")?.json()?["changes"].as_u64().context("a number")?;
    let address = engine.url.trim_start_matches("http://");
    let mut sockets = Vec::new();
    for _ in 0..65 {
        let mut socket = env::connect(address)?;
        let path = format!("/changes?table=t&after={number}&user=ana&password=secret");
        write!(socket, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        socket.set_read_timeout(Some(Duration::from_millis(20)))?;
        sockets.push(socket);
    }
    // Whichever came last is refused, and the other 64 wait.
    let mut refused = Vec::new();
    env::eventually(Duration::from_secs(20), || {
        sockets.retain_mut(|socket| {
            let mut answer = String::new();
            let waits = socket.read_to_string(&mut answer).is_err();
            refused.extend((!waits).then_some(answer));
            waits
        });
        Ok(!refused.is_empty())
    })?;
    let refused = refused.join("\n");
    ensure!(sockets.len() == 64 && refused.starts_with("HTTP/1.1 503"), "{refused}");
    ensure!(refused.contains("retry-after: 1\r\n"), "{refused}");
    ensure!(refused.contains("x-clickhouse-exception-code: 202\r\n"), "{refused}");
    let owner = http::post(&http::agent(), &format!("{}/?user=boss&password=pw", engine.url), b"SELECT 1")?;
    ensure!(owner.text() == "1\n" && at("boss", "pw", "")?.status == 200);
    let started = Instant::now();
    ensure!(engine.stop()?.success());
    ensure!(started.elapsed() < Duration::from_secs(20), "the end took {:?}", started.elapsed());
    Ok(())
}
