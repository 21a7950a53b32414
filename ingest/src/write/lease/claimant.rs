//! Identifies this process, so that another one on the same machine can check whether it has ended.
//!
//! <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>,
//! <https://man7.org/linux/man-pages/man2/kill.2.html>,
//! <https://man7.org/linux/man-pages/man7/pid_namespaces.7.html>

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use trawl_core::store::Claimant;

/// The state of a process, by id and start time in this boot and process namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    /// It runs, or may run.
    Alive,
    /// It is stopped, and goes on when it gets a signal.
    Stopped,
    /// It has ended.
    Ended,
}

/// This process. Without `/proc` the namespace is like no other, and leases end by silence alone.
pub(super) fn here() -> Claimant {
    let host = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string());
    let process = std::process::id();
    let started = stat(process).ok().as_deref().and_then(started);
    let process_namespace = match (&boot, &namespace, started) {
        (Some(boot), Ok(namespace), Some(_)) => format!("{boot} {namespace}"),
        _ => format!("unknown {:x}", fastrand::u128(..)),
    };
    Claimant {
        host: host.unwrap_or_else(|| "unknown".into()),
        process_namespace,
        process: format!("{process}:{}", started.unwrap_or_default()),
    }
}

/// Whether the process that [`here`] described as `described` under this boot still runs.
pub(super) fn process(described: &str) -> Process {
    let parts = described.split_once(':').and_then(|(id, start)| Some((id.parse().ok()?, start.parse().ok()?)));
    parts.map_or(Process::Alive, |(id, start)| judged(id, start, stat(id)))
}

/// What a look at `/proc` proves of a process that began at `start`. That it cannot be seen proves nothing: the
/// processes of others may be hidden (`hidepid`, `ProtectProc`), or this process may have too many files open.
fn judged(id: u32, start: u64, seen: Result<String, Error>) -> Process {
    match seen {
        Ok(stat) if has_ended(&stat) || started(&stat).is_some_and(|found| found != start) => Process::Ended,
        Ok(stat) if matches!(state(&stat), Some("T" | "t")) => Process::Stopped,
        Err(error) if error.kind() == ErrorKind::NotFound && is_free(id) => Process::Ended,
        _ => Process::Alive,
    }
}

/// The line that describes a process. Its second field, the name of the program, stands in brackets and may contain
/// anything.
fn stat(process: u32) -> Result<String, Error> {
    fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat"))
}

/// The fields from the third on.
fn fields(stat: &str) -> impl Iterator<Item = &str> {
    stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace()
}

/// Whether it is a zombie.
fn has_ended(stat: &str) -> bool {
    matches!(state(stat), Some("Z" | "X"))
}

/// The letter of its state: field 3.
fn state(stat: &str) -> Option<&str> {
    fields(stat).next()
}

/// When it started, in clock ticks since the machine did: field 22.
fn started(stat: &str) -> Option<u64> {
    fields(stat).nth(19)?.parse().ok()
}

/// Whether there is no process with this id, hidden or not.
fn is_free(id: u32) -> bool {
    let id = i32::try_from(id).ok().filter(|id| *id > 0).and_then(Pid::from_raw);
    id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH))
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_runs_and_an_earlier_one_does_not() {
        let us = here();
        assert_eq!(process(&us.process), Process::Alive);
        let (id, start) = us.process.split_once(':').expect("two parts");
        let earlier = start.parse::<u64>().expect("a number") - 1;
        assert_eq!(process(&format!("{id}:{earlier}")), Process::Ended);
        assert_eq!(process("garbled"), Process::Alive);
    }

    #[test]
    fn a_process_that_cannot_be_seen_may_run() {
        let (us, free) = (std::process::id(), 0x7fff_fff0);
        for kind in [ErrorKind::NotFound, ErrorKind::PermissionDenied, ErrorKind::Other] {
            assert_eq!(judged(us, 1, Err(kind.into())), Process::Alive, "{kind}");
        }
        assert_eq!(judged(1, 1, Err(ErrorKind::NotFound.into())), Process::Alive, "of another user");
        assert_eq!(judged(us, 1, Ok("77 (a name) R and no more".into())), Process::Alive);
        assert_eq!(judged(us, 1, Ok("77 (a) T) T and no more".into())), Process::Stopped);
        assert_eq!(judged(free, 1, Err(ErrorKind::NotFound.into())), Process::Ended);
        assert_eq!(judged(free, 1, Err(ErrorKind::PermissionDenied.into())), Process::Alive);
    }

    #[test]
    fn a_zombie_has_ended() {
        let mut child = std::process::Command::new("true").spawn().expect("true");
        let start = started(&stat(child.id()).expect("not waited for")).expect("a start");
        while !has_ended(&stat(child.id()).expect("not waited for")) {
            std::thread::yield_now();
        }
        assert_eq!(process(&format!("{}:{start}", child.id())), Process::Ended);
        child.wait().expect("it ended");
    }
}
