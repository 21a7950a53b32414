//! Failures as `ops/faults.sh` injects them, with which operators try a stack of theirs.

use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use xtask::{process, workspace};

use crate::env;

/// A failure that lasts until it is ended, or dropped.
pub struct Injection {
    script: Child,
    output: BufReader<ChildStdout>,
}

impl Injection {
    /// Injects the failure that the script has by this name.
    pub fn begin(fault: &str, subject: impl Display) -> anyhow::Result<Self> {
        Self::begin_with(fault, subject, &[])
    }

    /// The same with variables that the script takes.
    pub fn begin_with(fault: &str, subject: impl Display, variables: &[(&str, &str)]) -> anyhow::Result<Self> {
        let mut command = Command::new("sh");
        command.arg(workspace::root().join("ops/faults.sh")).args([fault, &subject.to_string()]);
        command.envs(variables.iter().copied()).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut script = process::spawn(command)?;
        let mut output = BufReader::new(script.stdout.take().context("a pipe")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let injection = Self { script, output };
        ensure!(line == format!("{fault} of {subject}\n"), "ops/faults.sh {fault} {subject} printed {line:?}");
        Ok(injection)
    }

    /// Ends the failure.
    pub fn end(mut self) -> anyhow::Result<()> {
        if self.script.try_wait()?.is_none() {
            process::signal(self.script.id(), libc::SIGTERM)?;
        }
        let status = process::wait_within(&mut self.script, env::LONGEST)?;
        let mut rest = String::new();
        self.output.read_to_string(&mut rest)?;
        ensure!(status.success(), "ops/faults.sh ended with {status}: {rest}");
        Ok(())
    }
}

impl Drop for Injection {
    fn drop(&mut self) {
        if matches!(self.script.try_wait(), Ok(None)) {
            // The test has failed; a process that does not go on is ended all the same.
            let _ = process::end(&mut self.script);
        }
    }
}
