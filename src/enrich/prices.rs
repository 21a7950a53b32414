//! Prices of tokens from a file or an address that the operator names: read in the background, all of it or nothing.
//!
//! What is too old is not shown. A document that cannot be read leaves the one before in place, which ages.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use trawl_core::primitives::Address;
use trawl_json::token_prices::TokenPrice;

mod document;

pub use document::{DocumentError, Prices};

/// Bytes of a document, at most; a hundred thousand tokens take about 20 MB.
const LARGEST: u64 = 64 << 20;
/// How long an address may take to give it.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Where prices come from, and how they age.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceSettings {
    /// A file, or an `http://` or `https://` address.
    pub source: String,
    /// Between two looks.
    pub interval: Duration,
    /// How old a price may be.
    pub max_age: Duration,
}

/// The prices there are now; none unless somebody named a source.
#[derive(Debug, Clone, Default)]
pub struct PriceWatch(Option<Watched>);

#[derive(Debug, Clone)]
struct Watched {
    prices: watch::Receiver<Arc<Prices>>,
    max_age: Duration,
    /// How often they were read.
    reads: Arc<AtomicU64>,
}

/// Why there are no new prices.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// The file cannot be read.
    #[error("cannot read the token prices in {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The address does not answer.
    #[error("cannot fetch the token prices")]
    Address(#[source] reqwest::Error),
    /// It is more than anybody would say about prices.
    #[error("the token prices are longer than {} MiB", LARGEST >> 20)]
    TooLong,
    /// It says something else than prices.
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
        tokio::spawn(async move {
            // The same words are said once.
            let mut said = None;
            while !sender.is_closed() {
                match read(&settings.source).await {
                    Ok(prices) => {
                        if said.take().is_some() {
                            tracing::info!(tokens = prices.len(), "token prices are read again");
                        }
                        sender.send_replace(Arc::new(prices));
                        count.fetch_add(1, Ordering::Relaxed);
                    }
                    Err(error) => {
                        let words = trawl_core::chain(&error);
                        if said.as_ref() != Some(&words) {
                            tracing::warn!(error = words, "no new token prices");
                        }
                        said = Some(words);
                    }
                }
                tokio::time::sleep(settings.interval).await;
            }
        });
        Self(Some(Watched { prices, max_age, reads }))
    }

    /// While this stays the same what is said of prices does: until they are read again, and a short time at most,
    /// as they grow old. 0 where there are none.
    #[must_use]
    pub fn moment(&self) -> u64 {
        self.0.as_ref().map_or(0, |watched| {
            let step = (watched.max_age.as_secs() / 4).clamp(1, 60);
            (watched.reads.load(Ordering::Relaxed) << 32) | (seconds(SystemTime::now()) / step) & u64::from(u32::MAX)
        })
    }

    /// What is known of a token's price and not too old.
    #[must_use]
    pub fn of(&self, token: &Address) -> Option<TokenPrice> {
        let watched = self.0.as_ref()?;
        let now = seconds(SystemTime::now());
        watched.prices.borrow().of(token, now.saturating_sub(watched.max_age.as_secs()))
    }
}

/// Unix time.
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

/// A file, and when it was written.
async fn of_file(path: PathBuf) -> Result<(Vec<u8>, SystemTime), PricesError> {
    let failed = |source| PricesError::File { path: path.clone(), source };
    let about = tokio::fs::metadata(&path).await.map_err(failed)?;
    if about.len() > LARGEST {
        return Err(PricesError::TooLong);
    }
    let text = tokio::fs::read(&path).await.map_err(failed)?;
    Ok((text, about.modified().unwrap_or_else(|_| SystemTime::now())))
}

async fn fetched(address: &str) -> Result<Vec<u8>, PricesError> {
    // Somebody else may have installed one already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    // An address may hold what is secret.
    let refused = |error: reqwest::Error| PricesError::Address(error.without_url());
    let client = reqwest::Client::builder().timeout(TIMEOUT).build().map_err(refused)?;
    let answer = client.get(address).send().await.and_then(reqwest::Response::error_for_status);
    let mut answer = answer.map_err(refused)?;
    let mut text = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(refused)? {
        if (text.len() + piece.len()) as u64 > LARGEST {
            return Err(PricesError::TooLong);
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}
