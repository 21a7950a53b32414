//! Prices of tokens from a file or URL that the operator names: read in the background, a whole document at a time.
//!
//! Prices that are too old are not shown. If a document cannot be read, the one before stays and ages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use trawl_core::primitives::Address;
use trawl_core::served_chain::for_same_chain;
use trawl_json::tokens::prices::TokenPrice;

mod document;

pub use document::{DocumentError, Prices};

/// Most bytes of a document; a hundred thousand tokens take about 20 MB.
const MAX_DOCUMENT_BYTES: u64 = 64 << 20;
/// The longest a request for the document may take.
const FETCH_TIMEOUT: Duration = Duration::from_secs(30);

/// Where prices come from, and how they age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceSettings {
    /// A file, or an `http://` or `https://` address.
    pub source: String,
    /// Time between two reads.
    pub interval: Duration,
    /// The greatest age of a price that is shown.
    pub max_age: Duration,
}

/// The current prices; none without a source.
#[derive(Debug, Clone, Default)]
pub struct PriceWatch(Option<PriceFeed>);

#[derive(Debug, Clone)]
struct PriceFeed {
    prices: watch::Receiver<Arc<Prices>>,
    max_age: Duration,
    /// The number of successful reads, from 1.
    reads: Arc<AtomicU64>,
}

/// Why a read of the prices failed.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// The file cannot be read.
    #[error("cannot read the token prices in {}", path.display())]
    File {
        /// Path, as the operator gave it.
        path: PathBuf,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The request failed.
    #[error("cannot fetch the token prices")]
    Address(#[source] reqwest::Error),
    /// The document is longer than the limit.
    #[error("the token prices are longer than {} MiB", MAX_DOCUMENT_BYTES >> 20)]
    TooLong,
    /// The document is not one of prices.
    #[error(transparent)]
    Document(#[from] DocumentError),
}

impl PriceWatch {
    /// Follows a source from now on, in a task of its own.
    #[must_use]
    pub fn follow(settings: PriceSettings) -> Self {
        let (sender, prices) = watch::channel(Arc::default());
        let max_age = settings.max_age;
        let reads = Arc::new(AtomicU64::new(1));
        let count = Arc::clone(&reads);
        tokio::spawn(for_same_chain(async move {
            // A repeated error is logged once.
            let mut logged = None;
            while !sender.is_closed() {
                match read(&settings.source).await {
                    Ok(prices) => {
                        if logged.take().is_some() {
                            tracing::info!(tokens = prices.len(), "token prices can be read again");
                        }
                        sender.send_replace(Arc::new(prices));
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => {
                        let text = trawl_core::error_chain(&error);
                        if logged.as_ref() != Some(&text) {
                            tracing::warn!(error = text, "cannot update token prices");
                        }
                        logged = Some(text);
                    }
                }
                tokio::time::sleep(settings.interval).await;
            }
        }));
        Self(Some(PriceFeed { prices, max_age, reads }))
    }

    /// A version of the prices: it changes with every read, and every minute at most, as prices age. 0 without prices.
    #[must_use]
    pub fn moment(&self) -> u64 {
        self.0.as_ref().map_or(0, |watched| {
            let step = (watched.max_age.as_secs() / 4).clamp(1, 60);
            (watched.reads.load(Ordering::Relaxed) << 32) | (seconds(SystemTime::now()) / step) & u64::from(u32::MAX)
        })
    }

    /// The price of a token, if there is one that is not too old.
    #[must_use]
    pub fn of(&self, token: &Address) -> Option<TokenPrice> {
        let watched = self.0.as_ref()?;
        let now = seconds(SystemTime::now());
        watched.prices.borrow().of(token, now.saturating_sub(watched.max_age.as_secs()))
    }
}

/// Unix time, in seconds.
fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

async fn read(source: &str) -> Result<Prices, PricesError> {
    let (text, written_at) = if source.starts_with("http://") || source.starts_with("https://") {
        (fetched(source).await?, SystemTime::now())
    } else {
        of_file(source.into()).await?
    };
    Ok(Prices::parse(&text, seconds(written_at))?)
}

/// The contents of a file, and the time of its last change.
async fn of_file(path: PathBuf) -> Result<(Vec<u8>, SystemTime), PricesError> {
    let failed = |source| PricesError::File { path: path.clone(), source };
    let about = tokio::fs::metadata(&path).await.map_err(failed)?;
    if about.len() > MAX_DOCUMENT_BYTES {
        return Err(PricesError::TooLong);
    }
    let text = tokio::fs::read(&path).await.map_err(failed)?;
    Ok((text, about.modified().unwrap_or_else(|_| SystemTime::now())))
}

async fn fetched(address: &str) -> Result<Vec<u8>, PricesError> {
    // It fails only if another provider is installed already, which works as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // A URL may contain a secret.
    let refused = |error: reqwest::Error| PricesError::Address(error.without_url());
    let client = reqwest::Client::builder().timeout(FETCH_TIMEOUT).build().map_err(refused)?;
    let answer = client.get(address).send().await.and_then(reqwest::Response::error_for_status);
    let mut answer = answer.map_err(refused)?;
    let mut text = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(refused)? {
        if (text.len() + piece.len()) as u64 > MAX_DOCUMENT_BYTES {
            return Err(PricesError::TooLong);
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}
