//! What the system says of processes: their processor time and memory.

use anyhow::Context as _;

/// Seconds of processor time that processes took so far, in user and kernel together.
pub fn cpu_seconds(processes: &[u32]) -> anyhow::Result<f64> {
    // SAFETY: no memory is involved.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) } as f64;
    let mut sum = 0.;
    for id in processes {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"))?;
        // The name in parentheses may hold anything; fields 14 and 15 are the times.
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        for field in [11, 12] {
            sum += fields.get(field).and_then(|ticks| ticks.parse::<f64>().ok()).context("times in /proc")?;
        }
    }
    Ok(sum / ticks)
}

/// Resident memory of a process in MiB: now, and the most there was.
#[derive(Debug, Clone, Copy)]
pub struct Resident {
    /// `VmRSS`, in MiB.
    pub now: f64,
    /// The most since it started, or since [`forget_peak`].
    pub peak: f64,
}

/// Reads the memory of a process.
pub fn resident(id: u32) -> anyhow::Result<Resident> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
    let value = |name: &str| -> Option<f64> {
        status.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()
    };
    let mebibytes = |name: &'static str| value(name).map(|kibibytes| kibibytes / 1024.).context(name);
    Ok(Resident { now: mebibytes("VmRSS:")?, peak: mebibytes("VmHWM:")? })
}

/// Lets the peak start anew at what is resident now (proc(5), `clear_refs`).
pub fn forget_peak(id: u32) -> anyhow::Result<()> {
    std::fs::write(format!("/proc/{id}/clear_refs"), "5").context("cannot reset the peak of a process's memory")
}
