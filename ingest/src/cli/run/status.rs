//! What is in the database, once or again and again.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::audit::status::{FollowStatus, Status};

use crate::cli::error::Failure;
use crate::cli::flags::StatusFlags;

/// Clears a terminal, and goes to its beginning.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Prints the status; with an interval until the process is ended or its output is closed.
pub async fn status_command(flags: &StatusFlags, reader: &Reader, writer: &Writer) -> Result<(), Failure> {
    writer.require_schema().await?;
    let Some(interval) = flags.watch else {
        print!("{}", text(&read(reader).await?, flags.json));
        return Ok(());
    };
    let clear = if std::io::stdout().is_terminal() && !flags.json { CLEAR } else { "" };
    let mut last_failed = false;
    loop {
        let (shown, pause) = match read(reader).await {
            Ok(status) => (text(&status, flags.json), interval),
            // What watches outlives the database.
            Err(error) if error.is_transient() || error.is_unreachable() => {
                if !last_failed {
                    eprintln!("trawl-ingest: {}", trawl_core::error_chain(&error));
                }
                (String::new(), interval.max(Duration::from_secs(1)))
            }
            Err(error) => return Err(error.into()),
        };
        last_failed = shown.is_empty();
        let mut output = std::io::stdout().lock();
        if !shown.is_empty() && (write!(output, "{clear}{shown}").is_err() || output.flush().is_err()) {
            return Ok(());
        }
        drop(output);
        tokio::time::sleep(pause).await;
    }
}

async fn read(reader: &Reader) -> Result<Status, trawl_core::store::StoreError> {
    let head = Head::load(reader).await?;
    let report = reader.newest_follow_report().await?;
    let following = reader.follow_rate().await?.and_then(|pace| FollowStatus::new(&head, pace, report));
    let tokens = reader.token_progress().await?;
    let (lacking, verdicts) = (reader.lacking().await?, reader.verdicts().await?);
    Ok(Status::new(&head, following, tokens, lacking, verdicts, reader.damage().await?))
}

fn text(status: &Status, json: bool) -> String {
    match json {
        true => format!("{}\n", serde_json::to_string(status).unwrap_or_default()),
        false => status.text(),
    }
}
