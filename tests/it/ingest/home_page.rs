//! The home page in Chromium while blocks come in and are taken back, and while the API is gone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::json;
use xtask::process;

use super::follow::{hashes, reaches, started, tip};
use crate::env;
use crate::web_page::sources;

/// A browser with the home page open: `web/tests/browser/live.mjs`.
struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Browser {
    fn open(url: &str) -> anyhow::Result<Self> {
        let mut command = Command::new("node");
        command.arg("tests/browser/live.mjs").arg(url).current_dir(sources());
        let mut child = process::spawn({
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command
        })?;
        let commands = child.stdin.take().context("its standard input")?;
        let answers = BufReader::new(child.stdout.take().context("its standard output")?);
        Ok(Self { child, commands, answers })
    }

    /// Sends a command and waits until what it names is shown.
    fn sees(&mut self, command: &str) -> anyhow::Result<()> {
        writeln!(self.commands, "{command}")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(answer.trim() == "ok", "{command}: {answer}");
        Ok(())
    }

    /// Closes the browser and waits for it.
    fn close(mut self) -> anyhow::Result<()> {
        drop(self.commands);
        let status = process::wait_within(&mut self.child, env::LONGEST)?;
        ensure!(status.success(), "the browser ended with {status}");
        Ok(())
    }
}

#[test]
fn follows_the_chain_through_reorganisations_and_outages() -> anyhow::Result<()> {
    let (_database, node, follower, api) = started("home_page", &["--head", "50", "--finality", "30"])?;
    let main = hashes("main")?;
    reaches(&api.url, &main[&50])?;
    let mut browser = Browser::open(&api.url)?;
    browser.sees(&format!("shows {}", main[&50]))?;
    browser.sees(&format!("rest {}", main[&50]))?;
    node.control(&json!({"head": 54}))?;
    browser.sees(&format!("stands {}", main[&50]))?;
    browser.sees(&format!("shows {}", main[&54]))?;
    browser.sees("behind 0 blocks as of ")?;
    browser.sees("opens 54")?;
    node.control(&json!({"branch": "depth6"}))?;
    reaches(&api.url, tip(&hashes("depth6")?))?;
    browser.sees(&format!("replaced {}", main[&54]))?;
    for branch in ["main", "depth17"] {
        node.control(&json!({"branch": branch}))?;
        browser.sees(&format!("shows {}", tip(&hashes(branch)?)))?;
    }
    let listen = api.url.trim_start_matches("http://").to_owned();
    api.stop()?;
    browser.sees("lost")?;
    // Meanwhile the chain goes on.
    node.control(&json!({"branch": "main"}))?;
    let api = env::start_api("home_page", &["--listen", &listen])?;
    reaches(&api.url, tip(&main))?;
    browser.sees("back")?;
    browser.sees(&format!("shows {}", tip(&main)))?;
    follower.stop()?;
    browser.sees("alarm trawl-ingest follow was stopped")?;
    browser.close()
}
