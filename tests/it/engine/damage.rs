//! A flipped bit in any file of a part: the engine refuses to start, or the statement fails; no answer is short.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use xtask::engine_library;
use xtask::http;

use crate::env;

const QUESTIONS: [&str; 3] = [
    "SELECT count(), sum(n) FROM kept.t",
    "SELECT sum(k), sum(cityHash64(v)) FROM kept.t",
    "SELECT count() FROM kept.t WHERE k BETWEEN 1500 AND 5500",
];

/// A store with a table of two parts, and its answers.
fn store(folder: &Path, settings: &str) -> anyhow::Result<Vec<String>> {
    let engine = env::start_engine(folder, 0, &[])?;
    let ask = |sql: &str| env::sql_at(&engine.url, "default", sql);
    ask("CREATE DATABASE kept")?;
    ask(&format!(
        "CREATE TABLE kept.t (k UInt64, v String, n UInt8) ORDER BY k SETTINGS index_granularity = 512, {settings}"
    ))?;
    for first in [0, 4000] {
        ask(&format!("INSERT INTO kept.t SELECT number + {first}, toString(number), 1 FROM numbers(4000)"))?;
    }
    let answers = QUESTIONS.iter().map(|question| ask(question)).collect::<anyhow::Result<_>>()?;
    ensure!(engine.stop()?.success());
    Ok(answers)
}

fn files(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    found.sort();
    Ok(found)
}

/// The files of the first part, by their paths in the store.
fn files_of_a_part(store: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let is_of_part = |path: &PathBuf| path.components().any(|name| name.as_os_str() == "all_1_1_0");
    Ok(files(store)?.into_iter().filter(is_of_part).collect())
}

fn flip(file: &Path, bit: usize) -> anyhow::Result<()> {
    let mut bytes = fs::read(file)?;
    let at = bytes.len() * bit / 8;
    bytes[at] ^= 1 << bit;
    Ok(fs::write(file, bytes)?)
}

pub fn start(folder: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(env::program("trawl-engine"));
    command.arg("--data-dir").arg(folder).arg("--library").arg(engine_library::ensure()?);
    command.args(["--listen", "127.0.0.1:0"]).args(arguments);
    Ok(command)
}

/// Whether it started; every answer is then the whole one or an error.
fn is_served(folder: &Path, answers: &[String], file: &Path) -> anyhow::Result<bool> {
    let Ok(engine) = env::start_engine(folder, 0, &[]) else {
        let text = String::from_utf8_lossy(&env::run(start(folder, &[])?, 8)?.stderr).into_owned();
        ensure!(text.contains("kept.t (") && text.contains("all_1_1_0"), "{}: {text}", file.display());
        ensure!(text.contains("--allow-damaged"), "{text}");
        return Ok(false);
    };
    for (question, expected) in QUESTIONS.iter().zip(answers) {
        let answer = http::post(&http::agent(), &engine.url, question.as_bytes())?;
        let is_right = answer.status != 200 || answer.text().trim_end() == expected;
        ensure!(is_right, "{}: {question}: {}", file.display(), answer.text());
    }
    engine.stop()?;
    Ok(true)
}

fn flipped_bits(settings: &str) -> anyhow::Result<()> {
    let folder = env::directory()?;
    let original = folder.path().join("store");
    let answers = store(&original, settings)?;
    let parts = files_of_a_part(&original)?;
    ensure!(parts.len() > 8, "{parts:?}");
    let mut refused = 0;
    for (number, file) in parts.iter().enumerate() {
        let copy = folder.path().join("copy");
        let copied = Command::new("cp").arg("-a").args([&original, &copy]).status()?;
        ensure!(copied.success());
        flip(&copy.join(file.strip_prefix(&original)?), number % 8)?;
        refused += usize::from(!is_served(&copy, &answers, file)?);
        fs::remove_dir_all(&copy)?;
    }
    ensure!(refused >= 4, "only {refused} of {} were noticed at the start", parts.len());
    Ok(())
}

#[test]
fn a_flipped_bit_in_a_wide_part_makes_no_wrong_answer() -> anyhow::Result<()> {
    flipped_bits("min_bytes_for_wide_part = 0")
}

#[test]
fn a_flipped_bit_in_a_compact_part_makes_no_wrong_answer() -> anyhow::Result<()> {
    flipped_bits("min_bytes_for_wide_part = 1000000000")
}

/// The way back: with the flag, then the rows again, then without the broken part and without the flag.
#[test]
fn a_damaged_store_starts_with_the_flag_and_can_be_repaired() -> anyhow::Result<()> {
    let folder = env::directory()?;
    let path = folder.path();
    let answers = store(path, "min_bytes_for_wide_part = 0")?;
    let count = files_of_a_part(path)?.into_iter().find(|file| file.ends_with("count.txt")).context("a file")?;
    // No number any more.
    fs::write(&count, "x")?;
    env::run(start(path, &[])?, 8)?;
    let engine = env::start_engine(path, 0, &["--allow-damaged"])?;
    let ask = |sql: &str| env::sql_at(&engine.url, "default", sql);
    ensure!(ask("SELECT count() FROM kept.t")? == "4000");
    let metrics = http::get(&http::agent(), &format!("{}/metrics", engine.url))?.text();
    ensure!(metrics.lines().any(|line| line == "trawl_engine_broken_parts 1"), "{metrics}");
    ask("INSERT INTO kept.t SELECT number, toString(number), 1 FROM numbers(4000)")?;
    let drop = "ALTER TABLE kept.t DROP DETACHED PART 'broken-on-start_all_1_1_0' SETTINGS allow_drop_detached = 1";
    ask(drop)?;
    ensure!(engine.stop()?.success());
    let engine = env::start_engine(path, 0, &[])?;
    for (question, expected) in QUESTIONS.iter().zip(answers) {
        ensure!(env::sql_at(&engine.url, "default", question)? == expected);
    }
    engine.stop()?;
    Ok(())
}
