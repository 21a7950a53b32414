//! Figures of this process, as `/proc` gives them; none where there is no `/proc`.

use std::fs;

/// The names of client libraries of Prometheus, and their values now.
pub(crate) fn figures() -> Vec<(&'static str, f64)> {
    [of_stat(), of_files()].into_iter().flatten().flatten().collect()
}

/// CPU time, memory, threads and start. <https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html>
fn of_stat() -> Option<Vec<(&'static str, f64)>> {
    let stat = fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in parentheses and may hold anything; what follows are fields from the third on.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let booted = fs::read_to_string("/proc/stat").ok()?;
    let booted: f64 = booted.lines().find_map(|line| line.strip_prefix("btime "))?.parse().ok()?;
    Some(vec![
        ("process_cpu_seconds_total", (field(14)? + field(15)?) / ticks),
        ("process_threads", field(20)?),
        ("process_start_time_seconds", booted + field(22)? / ticks),
        ("process_virtual_memory_bytes", field(23)?),
        ("process_resident_memory_bytes", field(24)? * rustix::param::page_size() as f64),
    ])
}

fn of_files() -> Option<Vec<(&'static str, f64)>> {
    // The folder itself is open while it is read.
    let open = fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1) as f64;
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let most = line.split_ascii_whitespace().next()?.parse().unwrap_or(f64::INFINITY);
    Some(vec![("process_open_fds", open), ("process_max_fds", most)])
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_has_figures() {
        let figures = figures();
        assert_eq!(figures.len(), 7);
        assert!(figures.iter().all(|(_, value)| *value >= 0.0), "{figures:?}");
        let resident = figures.iter().find(|(name, _)| *name == "process_resident_memory_bytes");
        assert!(resident.is_some_and(|(_, bytes)| (1e5..1e12).contains(bytes)), "{figures:?}");
    }
}
