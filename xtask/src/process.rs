//! Programs as child processes: started until they are ready, ended by their process id or with this process.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{LazyLock, mpsc};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};

mod deadline;

pub use deadline::{output_within, wait_within};

/// How long a program may take until it is ready.
const READY: Duration = Duration::from_secs(120);
/// How long a program may take to end after the signal.
const END: Duration = Duration::from_secs(40);

/// A command for the thread that starts programs, and where the child goes.
type Start = (Command, mpsc::Sender<io::Result<Child>>);

/// Linux ends a child when the thread that started it ends, so that thread has to live as long as the process.
static STARTER: LazyLock<mpsc::Sender<Start>> = LazyLock::new(|| {
    let (sender, starts) = mpsc::channel::<Start>();
    std::thread::spawn(move || {
        for (mut command, child) in starts {
            // The receiver waits for it.
            let _ = child.send(command.spawn());
        }
    });
    sender
});

/// Starts a program that gets SIGTERM when this process ends, however it ends (Linux).
///
/// # Errors
/// Those of [`Command::spawn`].
pub fn spawn(mut command: Command) -> io::Result<Child> {
    end_with_parent(&mut command);
    let (sender, child) = mpsc::channel();
    STARTER.send((command, sender)).map_err(io::Error::other)?;
    child.recv().map_err(io::Error::other)?
}

#[cfg(target_os = "linux")]
fn end_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: between fork and exec only this system call is made.
    unsafe {
        command.pre_exec(|| match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        });
    }
}

#[cfg(not(target_os = "linux"))]
fn end_with_parent(_: &mut Command) {}

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Where it listens, for example `http://127.0.0.1:4000`.
    pub url: String,
}

impl Server {
    /// Starts a program that prints `listening on URL` once it is ready. Its log goes where `command` sends it.
    pub fn start(mut command: Command) -> anyhow::Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = spawn(command).with_context(|| format!("cannot start {name}"))?;
        let stdout = child.stdout.take().ok_or_else(|| anyhow!("{name} has no standard output"))?;
        let (sender, lines) = mpsc::channel();
        // Keeps reading, so that a program that says more does not get stuck.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if let Some(url) = line.strip_prefix("listening on ") {
                    // After the timeout there is no receiver.
                    let _ = sender.send(url.to_owned());
                }
            }
        });
        match lines.recv_timeout(READY) {
            Ok(url) => Ok(Self { child, url }),
            Err(_) => {
                let status = child.try_wait()?;
                // It may have ended by itself.
                let _ = child.kill();
                match status {
                    Some(status) => bail!("{name} ended before it was ready: {status}"),
                    None => bail!("{name} was not ready after {READY:?}"),
                }
            }
        }
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Terminates it (SIGTERM) and waits; kills it if it does not end.
    pub fn stop(mut self) -> anyhow::Result<ExitStatus> {
        end(&mut self.child)
    }

    /// Terminates it and waits, unless it has ended; its address remains known.
    pub fn end(&mut self) -> anyhow::Result<()> {
        if self.child.try_wait()?.is_none() {
            end(&mut self.child)?;
        }
        Ok(())
    }

    /// Ends it at once (SIGKILL), as a crash would.
    pub fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Nothing can be done about a process that does not end.
            let _ = end(&mut self.child);
        }
    }
}

/// Ends a child: SIGTERM first, SIGKILL if that does not help.
pub fn end(child: &mut Child) -> anyhow::Result<ExitStatus> {
    signal(child.id(), libc::SIGTERM)?;
    // It has been killed otherwise, and this is how it ended.
    wait_within(child, END).or_else(|_| Ok(child.wait()?))
}

/// Sends a signal to a process.
pub fn signal(id: u32, signal: i32) -> anyhow::Result<()> {
    let id = libc::pid_t::try_from(id).context("a process id fits")?;
    // SAFETY: no memory is involved.
    match unsafe { libc::kill(id, signal) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()).context("cannot signal a process"),
    }
}

/// Runs a command to its end; an error if it fails.
pub fn run(command: &mut Command) -> anyhow::Result<()> {
    let name = format!("{command:?}");
    let status = command.status().with_context(|| format!("cannot start {name}"))?;
    if status.success() { Ok(()) } else { bail!("{name} failed: {status}") }
}
