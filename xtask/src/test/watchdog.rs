//! Reads the output of a test program and kills the program once it hangs: a run without an end would not name the test.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use xtask::process;

/// How long a test program may print nothing: several times its slowest test on a slow machine, and little enough for a
/// run to end within CI's own limit.
pub const SILENCE: Duration = Duration::from_mins(15);
/// The same in a slow run, in which a test may take a quarter of an hour.
pub const SILENCE_OF_SLOW_RUN: Duration = Duration::from_mins(60);
/// How often the status of the program is polled: another process may hold its output open after its end.
const POLL: Duration = Duration::from_secs(5);
/// How long its last lines may take after its end, and how many are read: what holds the output open may print on.
const LATE: Duration = Duration::from_secs(1);
const LATE_LINES: usize = 10_000;

/// How a test program ended.
pub enum Outcome {
    /// By itself.
    Ended(ExitStatus),
    /// It printed nothing for too long and was killed.
    Hung,
}

/// Hands each line of `output` to `show` until the program has ended, or has printed nothing for `silence`.
///
/// # Errors
/// If the program cannot be waited for.
pub fn watch(
    silence: Duration,
    child: &mut Child,
    output: impl Read + Send + 'static,
    mut show: impl FnMut(String),
) -> anyhow::Result<Outcome> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        // After a hang there is no receiver.
        let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
        lines.map(|line| String::from_utf8_lossy(&line).into_owned()).try_for_each(|line| sender.send(line))
    });
    let (mut running, mut spoke) = (RunningTests::default(), Instant::now());
    loop {
        match lines.recv_timeout(POLL.min(silence)) {
            Ok(line) => {
                spoke = Instant::now();
                running.read(&line);
                show(line);
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(Outcome::Ended(child.wait()?)),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    std::iter::from_fn(|| lines.recv_timeout(LATE).ok()).take(LATE_LINES).for_each(show);
                    return Ok(Outcome::Ended(status));
                }
                if spoke.elapsed() >= silence {
                    eprintln!("xtask: nothing printed for {} s; still running: {running}", silence.as_secs());
                    let tree = ProcessTree::of(child.id());
                    eprint!("{}", tree.text);
                    tree.kill();
                    child.wait()?;
                    return Ok(Outcome::Hung);
                }
            }
        }
    }
}

/// The tests that take more than a minute and have not ended.
#[derive(Default)]
struct RunningTests(BTreeSet<String>);

impl RunningTests {
    /// `test a::b has been running for over 60 seconds`, `test a::b ... ok <61.234s>`
    fn read(&mut self, line: &str) {
        let Some(rest) = line.strip_prefix("test ") else { return };
        if let Some((name, _)) = rest.split_once(" has been running for over ") {
            self.0.insert(name.to_owned());
        } else if let Some((name, _)) = rest.split_once(" ... ") {
            self.0.remove(name);
        }
    }
}

impl std::fmt::Display for RunningTests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0.iter().map(String::as_str).collect::<Vec<_>>().join(" "))
    }
}

/// A process and its descendants, with the kernel function and the system call of each thread (on Linux; elsewhere the
/// process alone).
struct ProcessTree {
    ids: Vec<u32>,
    text: String,
}

impl ProcessTree {
    fn of(id: u32) -> Self {
        let mut tree = Self { ids: Vec::new(), text: String::new() };
        tree.add(id);
        tree
    }

    fn add(&mut self, id: u32) {
        let text = |file: String| fs::read_to_string(file).unwrap_or_default().replace('\0', " ").trim().to_owned();
        self.ids.push(id);
        self.text += &format!("process {id}: {}\n", text(format!("/proc/{id}/cmdline")));
        for task in fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
            let of_task = |file: &str| text(task.path().join(file).display().to_string());
            self.text += &format!("  {}: {} {}\n", of_task("comm"), of_task("wchan"), of_task("syscall"));
            for child in of_task("children").split_whitespace().filter_map(|child| child.parse().ok()) {
                self.add(child);
            }
        }
    }

    /// Kills all of them: a surviving child would hold the output of the run open.
    fn kill(&self) {
        for id in &self.ids {
            // It may have ended meanwhile.
            let _ = process::signal(*id, libc::SIGKILL);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn run(script: &str) -> (Outcome, Vec<String>) {
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).stdout(Stdio::piped()).spawn().expect("a shell");
        let output = child.stdout.take().expect("a pipe");
        let mut lines = Vec::new();
        let outcome = watch(Duration::from_secs(2), &mut child, output, |line| lines.push(line));
        (outcome.expect("a child"), lines)
    }

    #[test]
    fn a_program_that_prints_nothing_any_more_is_killed() {
        let (outcome, lines) = run("echo one; exec sleep 600");
        assert!(matches!(outcome, Outcome::Hung));
        assert_eq!(lines, ["one"]);
    }

    #[test]
    fn what_it_started_is_killed_with_it() {
        let (outcome, lines) = run("sleep 600 & echo $!; wait");
        assert!(matches!(outcome, Outcome::Hung));
        let is_gone =
            || fs::read_to_string(format!("/proc/{}/stat", lines[0])).map_or(true, |stat| stat.contains(" Z "));
        let deadline = Instant::now() + POLL;
        while cfg!(target_os = "linux") && !is_gone() {
            assert!(Instant::now() < deadline, "it lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_program_that_ends_is_not_waited_for_by_its_pipe() {
        let (outcome, lines) = run("sleep 30 & echo $!; exit 3");
        let Outcome::Ended(status) = outcome else { panic!("it ended") };
        assert_eq!(status.code(), Some(3));
        // The pipe is still open: the process that holds it runs on.
        assert!(Command::new("kill").arg(&lines[0]).status().expect("kill").success());
    }

    #[test]
    fn tests_that_hang_are_named() {
        let mut running = RunningTests::default();
        for line in [
            "test a::slow has been running for over 60 seconds",
            "test a::hung has been running for over 60 seconds",
            "test a::slow ... ok <61.000s>",
        ] {
            running.read(line);
        }
        assert_eq!(running.to_string(), "a::hung");
    }
}
