//! The signatures of methods.

use std::collections::HashMap;

use alloy_primitives::Selector;

use crate::app::App;
use crate::error::Problem;
use trawl_core::store::Head;
use trawl_json::vocabulary::signatures::well_known_signature;
use trawl_query::labels;

/// Those of some methods, as far as they are known: from files that were loaded, else from the dictionary.
///
/// # Errors
///
/// When the store fails.
pub(super) async fn names(
    app: &App,
    head: &Head,
    selectors: Vec<Selector>,
) -> Result<HashMap<[u8; 4], String>, Problem> {
    let mut names = HashMap::new();
    if head.labels > 0 && !selectors.is_empty() {
        for known in app.reader().rows(&labels::functions(&selectors)).await? {
            names.entry(known.selector.0).or_insert(known.signature);
        }
    }
    for selector in selectors {
        if let Some(known) = well_known_signature(selector.0) {
            names.entry(selector.0).or_insert(known);
        }
    }
    Ok(names)
}
