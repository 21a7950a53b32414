//! The engine as a process: memory, kills, its directory, its library.

use super::*;

/// The most memory that a process had at once, in MiB.
pub fn peak_memory(id: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse::<u64>()? / 1024)
}

/// A slow client and a large answer: the engine waits, and its memory does not grow with the answer.
#[test]
fn wide_answers_keep_memory_flat() -> anyhow::Result<()> {
    let data = env::directory()?;
    let engine = env::start_engine(data.path(), 0, &[])?;
    let ask = |sql: &str| http::post(&http::agent(), &engine.url, sql.as_bytes());
    // A smaller answer of the same shape fills the buffers that an answer of any size needs.
    ask("SELECT number, repeat('x', 200) FROM numbers(1500000) FORMAT JSON")?;
    let before = peak_memory(engine.id())?;
    let address = engine.url.trim_start_matches("http://");
    let mut stream = env::connect(address)?;
    let sql = "SELECT number, repeat('x', 200) FROM numbers(10000000) FORMAT JSON";
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{sql}",
        sql.len()
    )?;
    let (mut total, mut buffer) = (0, vec![0; 1 << 20]);
    let started = Instant::now();
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        total += count;
        if started.elapsed() < Duration::from_secs(1) {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let after = peak_memory(engine.id())?;
    ensure!(total > 2_000_000_000, "only {total} bytes came");
    // On a busy machine more threads than at first have buffers; a buffered answer would be all of it.
    let quarter = u64::try_from(total)? >> 22;
    ensure!(after < before + quarter, "memory grew from {before} to {after} MiB, a quarter of the answer is {quarter}");
    engine.stop()?;
    Ok(())
}

#[test]
fn acknowledged_rows_survive_kill_and_restart() -> anyhow::Result<()> {
    let data = env::directory()?;
    let mut total = 0;
    for round in 0..4 {
        let engine = env::start_engine(data.path(), 0, &[])?;
        let ask = |sql: &str| http::post(&http::agent(), &engine.url, sql.as_bytes());
        ask("CREATE TABLE IF NOT EXISTS kept (round UInt8, number UInt64) ORDER BY number")?;
        let found = ask("SELECT count() FROM kept")?.text();
        ensure!(found == format!("{total}\n"), "after round {round}: {found} instead of {total}");
        for _ in 0..5 {
            let inserted = ask(&format!("INSERT INTO kept SELECT {round}, number FROM numbers(1000)"))?;
            ensure!(inserted.status == 200, "{}", inserted.text());
            total += 1000;
        }
        if round % 2 == 0 { engine.kill()? } else { ensure!(engine.stop()?.success()) }
    }
    Ok(())
}

#[test]
fn two_engines_on_one_directory() -> anyhow::Result<()> {
    let data = env::directory()?;
    let first = env::start_engine(data.path(), 0, &[])?;
    let mut second = Command::new(env::program("trawl-engine"));
    second.arg("--data-dir").arg(data.path()).args(["--listen", "127.0.0.1:0"]);
    second.arg("--library").arg(xtask::engine_library::ensure()?);
    let output = env::run(second, 1)?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(text.contains("is in use by another trawl-engine") && text.lines().count() == 1, "{text}");
    ensure!(http::post(&http::agent(), &first.url, b"SELECT 1")?.text() == "1\n");
    first.stop()?;
    Ok(())
}

#[test]
fn a_missing_or_wrong_library_is_one_sentence() -> anyhow::Result<()> {
    let data = env::directory()?;
    let text_file = data.path().join("libchdb.so");
    std::fs::write(&text_file, "not a library")?;
    for (library, message) in
        [("/nowhere/libchdb.so", "was not found"), (&text_file.display().to_string(), "cannot be loaded")]
    {
        let mut command = Command::new(env::program("trawl-engine"));
        command.arg("--data-dir").arg(data.path().join("store")).args([
            "--listen",
            "127.0.0.1:0",
            "--library",
            library,
        ]);
        let output = env::run(command, 1)?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            text.contains(message) && text.contains("cargo xtask engine") && text.trim().lines().count() == 1,
            "{text}"
        );
    }
    Ok(())
}
