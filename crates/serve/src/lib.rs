//! The HTTP server that `trawl-api` and `trawl-engine` share: TCP set-up, the accept loop with its limits, signals and
//! graceful shutdown. Each request carries the [`Client`] that it came from; a [`Quota`] limits what clients may have.
//!
//! It knows nothing of chains, statements or routes: a program hands its service to a [`Listener`].
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use trawl_serve::{Listener, stop_signal};
//!
//! let listener = Listener::bind("127.0.0.1:4000".parse()?).await?;
//! let stop = stop_signal()?;
//! println!("listening on {}", listener.url());
//! listener.serve(axum::Router::new(), stop).await;
//! # Ok(())
//! # }
//! ```

mod accept;
mod access_log;
mod client;
mod connection;
mod files;
mod limits;
mod listener;
mod log_limiter;
mod probes;
mod quota;
mod refusal;
mod signals;
mod tcp;
mod tls;

pub use accept::Shutdown;
pub use access_log::AccessLogEntry;
pub use client::{Client, Scheme};
pub use limits::Limits;
pub use listener::{BindError, Listener};
pub use log_limiter::LogLimiter;
pub use probes::{ProgramHealth, probes};
pub use quota::{Full, Quota, QuotaShare};
pub use signals::stop_signal;
pub use tls::{Tls, TlsError, TlsFiles};
