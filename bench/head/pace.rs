//! Lets the chain grow by the clock, with reorganisations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::chain::{Chain, Size};

/// How the chain grows.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Blocks a second.
    pub rate: f64,
    /// What is in a block.
    pub size: Size,
    /// Seconds between reorganisations; none if there is no time.
    pub reorganise_every: Option<f64>,
}

/// The deepest reorganisation.
const DEEPEST: usize = 12;

/// A chain that grows until this is dropped.
pub struct GrowingChain {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

impl GrowingChain {
    /// Starts to grow. Each block is made before its time, so that only showing it is left.
    pub fn start(chain: &Arc<Chain>, pace: Pace) -> Self {
        let (chain, stop) = (Arc::clone(chain), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut due = Instant::now() + Duration::from_secs_f64(1. / pace.rate);
            let mut reorganised = Instant::now();
            let mut depth = 0;
            while !stopped.load(Ordering::Relaxed) {
                let is_time = pace.reorganise_every.is_some_and(|every| reorganised.elapsed().as_secs_f64() >= every);
                if is_time {
                    // 1 to 12, each as often, in an order without pattern.
                    depth = (depth + 4) % DEEPEST + 1;
                    reorganised = Instant::now();
                }
                let step = chain.prepare(if is_time { depth } else { 0 }, pace.size)?;
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                chain.show(step);
                due = Instant::now().max(due + Duration::from_secs_f64(1. / pace.rate));
            }
            Ok(())
        });
        Self { stop, thread: Some(thread) }
    }

    /// Ends the growth and waits for the last block.
    pub fn stop(mut self) -> anyhow::Result<()> {
        self.end()
    }

    fn end(&mut self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(ended)) => ended,
            _ => Ok(()),
        }
    }
}

impl Drop for GrowingChain {
    fn drop(&mut self) {
        // What failed shows as a chain that grows no more.
        let _ = self.end();
    }
}
