//! The order to stop.

use std::io;

use tokio::signal::unix::{SignalKind, signal};

/// Resolves at the first SIGINT or SIGTERM after this call, even if nothing awaits it at that moment. From this call on
/// neither signal ends the process by itself.
///
/// # Errors
///
/// If the system refuses a handler.
///
/// # Panics
///
/// Outside a Tokio runtime with I/O.
pub fn stop_signal() -> io::Result<impl Future<Output = ()> + Send + 'static> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} }
    })
}
