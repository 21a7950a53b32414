//! Resident memory of the programs over a run, third by third: memory that leaks is higher in each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::processes::resident;
use crate::tally::quantile;

/// Between two looks.
const INTERVAL: Duration = Duration::from_millis(500);

/// Memory of engine, API and follower, in MiB; a program that does not run has none.
pub type Sizes = [f64; 3];

/// The median and the highest of a third of the run.
#[derive(Debug, Clone, Copy)]
pub struct Third {
    pub median: f64,
    pub peak: f64,
}

/// Looks again and again, until it is stopped.
pub struct MemorySampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sizes>>,
}

impl MemorySampler {
    /// Starts to look at these processes; 0 is none.
    pub fn start(processes: [u32; 3]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                let started = Instant::now();
                samples.push(processes.map(resident));
                std::thread::sleep(INTERVAL.saturating_sub(started.elapsed()));
            }
            samples
        });
        Self { stop, thread }
    }

    /// What it saw, in the order of time.
    pub fn stop(self) -> Vec<Sizes> {
        self.stop.store(true, Ordering::Relaxed);
        // It does not panic.
        self.thread.join().unwrap_or_default()
    }
}

/// The thirds of a run for one of the programs.
pub fn thirds(samples: &[Sizes], of: usize) -> [Third; 3] {
    let bound = |part: usize| samples.len() * part / 3;
    std::array::from_fn(|part| {
        let sizes: Vec<f64> = samples[bound(part)..bound(part + 1)].iter().map(|sizes| sizes[of]).collect();
        Third { median: quantile(&sizes, 0.5), peak: sizes.iter().copied().fold(f64::NAN, f64::max) }
    })
}
