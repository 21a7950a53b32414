//! Which process this is, so that another one on the same machine can tell whether it has ended.
//!
//! <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>,
//! <https://man7.org/linux/man-pages/man7/pid_namespaces.7.html>

use std::fs;
use std::path::Path;

use trawl::store::Claimant;

/// What is known of a process id and start time of this place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    /// It runs, or may: nothing can be said.
    Alive,
    /// No such process any more.
    Ended,
}

/// This process. Without `/proc` the place is like no other, and leases end by silence alone.
pub(super) fn here() -> Claimant {
    let host = read("/proc/sys/kernel/hostname");
    let boot = read("/proc/sys/kernel/random/boot_id");
    let namespace = fs::read_link("/proc/self/ns/pid").map(|link| link.display().to_string());
    let process = std::process::id();
    let started = started(process);
    let place = match (&boot, &namespace, started) {
        (Some(boot), Ok(namespace), Some(_)) => format!("{boot} {namespace}"),
        _ => format!("unknown {:x}", fastrand::u128(..)),
    };
    Claimant {
        host: host.unwrap_or_else(|| "unknown".into()),
        place,
        process: format!("{process}:{}", started.unwrap_or_default()),
    }
}

/// Whether the process that [`here`] described as `described` in this place still runs.
pub(super) fn process(described: &str) -> Process {
    let parts = described.split_once(':').and_then(|(id, start)| Some((id.parse().ok()?, start.parse().ok()?)));
    match parts {
        Some((id, start)) if started(id) != Some(start) => Process::Ended,
        _ => Process::Alive,
    }
}

/// When a process started, in clock ticks since the machine did; `None` if it has ended, waited for or not.
fn started(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    // The name of the program stands in brackets and may contain anything; the state follows it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    // The start is field 22 of the line, and the state is field 3.
    fields.nth(18)?.parse().ok().filter(|_| !matches!(state, "Z" | "X"))
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
    fn a_child_that_nobody_waited_for_has_ended() {
        let mut child = std::process::Command::new("true").spawn().expect("true");
        let described = format!("{}:{}", child.id(), started(child.id()).unwrap_or(1));
        while started(child.id()).is_some() {
            std::thread::yield_now();
        }
        assert_eq!(process(&described), Process::Ended);
        child.wait().expect("it ended");
    }
}
