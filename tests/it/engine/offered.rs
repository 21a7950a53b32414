//! The statements that the fuzz target `reader` starts from, and pieces of them joined by chance, offered to a real
//! engine as its reader: none brings the content of a file or of another database, or changes anything.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use url::form_urlencoded;
use xtask::http;
use xtask::process::Server;
use xtask::{engine_library, workspace};

use crate::dice::Dice;
use crate::env;

const SECRET: &str = "not-for-readers";
const JOINED: usize = 600;

struct Installation {
    engine: Server,
    folder: tempfile::TempDir,
}

impl Installation {
    fn start() -> anyhow::Result<Self> {
        let folder = env::directory()?;
        fs::create_dir(folder.path().join("outside"))?;
        fs::write(folder.path().join("outside/secret.txt"), format!("{SECRET}\n"))?;
        let mut command = Command::new(env::program("trawl-engine"));
        command.args(["--data-dir", "store", "--listen", "127.0.0.1:0", "--library"]).arg(engine_library::ensure()?);
        command.args(["--reader-user", "ana", "--reader-password", "geheim", "--reader-databases", "default"]);
        let engine = Server::start({
            command.current_dir(folder.path());
            command
        })?;
        for sql in [
            "CREATE DATABASE hidden",
            &format!("CREATE TABLE hidden.t ORDER BY a AS SELECT '{SECRET}' AS a"),
            "CREATE TABLE theirs ORDER BY a AS SELECT 7 AS a",
        ] {
            env::sql_at(&engine.url, "default", sql)?;
        }
        Ok(Self { engine, folder })
    }

    fn secret(&self) -> String {
        self.folder.path().join("outside/secret.txt").display().to_string()
    }

    fn offer(&self, statement: &str) -> anyhow::Result<()> {
        let statement = statement.replace("PATH", &self.secret());
        let fields: String = form_urlencoded::Serializer::new(String::new())
            .extend_pairs([
                ("user", "ana"),
                ("password", "geheim"),
                ("param_t", &self.secret()),
                ("max_execution_time", "2"),
            ])
            .finish();
        let Ok(answer) = http::post(&http::agent(), &format!("{}/?{fields}", self.engine.url), statement.as_bytes())
        else {
            // In mid-stream the transfer breaks.
            return Ok(());
        };
        ensure!(!answer.text().contains(SECRET), "{statement}: {}", answer.text());
        Ok(())
    }

    /// What no reader may change: tables, rows, functions, files.
    fn state(&self) -> anyhow::Result<String> {
        let ask = |sql: &str| env::sql_at(&self.engine.url, "default", sql);
        let tables =
            ask("SELECT database, name, uuid FROM system.tables WHERE database IN ('default', 'hidden') ORDER BY ALL")?;
        let rows = ask("SELECT (SELECT groupArray(a) FROM theirs), (SELECT groupArray(a) FROM hidden.t)")?;
        let functions = ask("SELECT count() FROM system.functions")?;
        let files = entries(&self.folder.path().join("outside"))?;
        Ok([tables, rows, functions, files, fs::read_to_string(self.secret())?].join("\n"))
    }
}

fn entries(folder: &Path) -> anyhow::Result<String> {
    let names: anyhow::Result<Vec<_>> =
        fs::read_dir(folder)?.map(|entry| Ok(format!("{:?}", entry?.file_name()))).collect();
    Ok(names?.join(", "))
}

fn statements() -> anyhow::Result<Vec<String>> {
    let file = workspace::fixture("reader/statements.txt");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    Ok(text.lines().map(str::to_owned).collect())
}

#[test]
fn no_statement_of_a_reader_reaches_out_or_changes_anything() -> anyhow::Result<()> {
    let installation = Installation::start()?;
    let (statements, before) = (statements()?, installation.state()?);
    ensure!(statements.len() > 100, "{}", statements.len());
    statements.iter().try_for_each(|statement| installation.offer(statement))?;
    ensure!(installation.state()? == before, "{}\n{before}", installation.state()?);
    let mut dice = Dice(26);
    for _ in 0..JOINED {
        installation.offer(&joined(&mut dice, &statements))?;
    }
    ensure!(installation.state()? == before, "{}\n{before}", installation.state()?);
    installation.engine.stop()?;
    Ok(())
}

/// The beginning of a statement and the end of another, or one statement instead of a word of another.
fn joined(dice: &mut Dice, statements: &[String]) -> String {
    let (one, other) = (dice.pick(statements).clone(), dice.pick(statements).clone());
    let words: Vec<&str> = one.split(' ').collect();
    let at = dice.roll(words.len());
    let (begin, end) = (words[..at].join(" "), words[at..].join(" "));
    match dice.roll(5) {
        0 => format!("{begin} {}", other.split(' ').skip(dice.roll(4)).collect::<Vec<_>>().join(" ")),
        1 => format!("{begin} ({other}) {end}"),
        2 => format!("SELECT * FROM ({one}) AS a, ({other}) AS b"),
        3 => format!("{one} UNION ALL {other}"),
        _ => format!(
            "{begin} {} {end}",
            dice.pick(&["'", "`", "\"", "/*", "*/", "--", "$a$", "\\", "(", ")", "file('PATH')", ";"])
        ),
    }
}
