//! What an answer depends on beside its target and the view of the chain.

use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, Uri};
use trawl_json::stats::GasPriceForm;

use crate::http::gas_oracle::gas_price_form;

/// The path of the answer that says how long until the next block.
const FIGURES: &str = "/api/v2/stats";

/// Which of the answers to a target under a view it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum AnswerVariant {
    /// There is one.
    #[default]
    Only,
    /// Figures of the chain, which a header gives another form, and which are new each second.
    Figures {
        /// The form of gas prices.
        gas_prices: GasPriceForm,
        /// Seconds since 1970.
        second: u64,
    },
}

impl AnswerVariant {
    /// The variant of the answer to a request that comes now.
    pub fn of(uri: &Uri, headers: &HeaderMap) -> Self {
        if !uri.path().ends_with(FIGURES) {
            return Self::Only;
        }
        let second = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Self::Figures { gas_prices: gas_price_form(headers), second }
    }
}
