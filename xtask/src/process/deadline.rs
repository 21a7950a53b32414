//! Waiting for the end of a child no longer than a time: one that hangs is killed, and the error says so.

use std::process::{Child, ExitStatus, Output};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use super::signal;

/// How long a killed process may take to be gone.
const KILL: Duration = Duration::from_secs(10);

/// Waits for the end of a child.
///
/// # Errors
/// If it takes longer than `limit`; then it is killed.
pub fn wait_within(child: &mut Child, limit: Duration) -> anyhow::Result<ExitStatus> {
    // As `Child::wait` does: a child that reads to the end of its input would wait for it.
    drop(child.stdin.take());
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill()?;
    child.wait()?;
    bail!("process {} had not ended after {} s and was killed", child.id(), limit.as_secs())
}

/// Waits for the end of a child and returns what it wrote. Children of its own that hold its output open count as it.
///
/// # Errors
/// If it takes longer than `limit`; then it is killed, and the error has what it wrote.
pub fn output_within(child: Child, limit: Duration) -> anyhow::Result<Output> {
    let (id, (sender, ended)) = (child.id(), mpsc::channel());
    // After the limit there may be no receiver.
    std::thread::spawn(move || drop(sender.send(child.wait_with_output())));
    if let Ok(output) = ended.recv_timeout(limit) {
        return output.context("cannot read the output of a process");
    }
    signal(id, libc::SIGKILL)?;
    let text = match ended.recv_timeout(KILL) {
        Ok(Ok(output)) => String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        _ => "another process holds its output open".into(),
    };
    bail!("process {id} had not ended after {} s and was killed\n{text}", limit.as_secs())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn sleeping(script: &str) -> Child {
        Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().expect("a shell")
    }

    #[test]
    fn a_child_that_hangs_is_killed() {
        let mut child = sleeping("exec sleep 600");
        let error = wait_within(&mut child, Duration::from_millis(50)).expect_err("it hangs");
        assert!(error.to_string().contains("was killed"), "{error}");
        assert!(child.try_wait().expect("a child").is_some());
    }

    #[test]
    fn what_a_child_wrote_before_it_hung_is_shown() {
        let child = sleeping("echo begun; exec sleep 600");
        let error = output_within(child, Duration::from_millis(200)).expect_err("it hangs");
        assert!(error.to_string().contains("begun"), "{error}");
        let output = output_within(sleeping("echo done"), Duration::from_secs(60)).expect("it ends");
        assert_eq!(output.stdout, b"done\n");
    }
}
