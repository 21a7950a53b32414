//! `/api/v2/advanced-filters/methods`: methods that a filter can name, by selector or name.

use alloy_primitives::Selector;
use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{Parameters, query_parameters};
use crate::http::query::{Kind, fixed_hex};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use trawl_core::primitives::Address;
use trawl_core::store::Head;
use trawl_json::advanced_filters::write_methods;
use trawl_json::vocabulary::signatures::{functions_named, well_known_methods};

query_parameters! {
    pub(crate) MethodsParameters: [&[("q", Kind::Text)]];
}

/// The method with a selector, those with a name that are well known or that packages declare, or all well-known ones.
pub(crate) async fn methods(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<MethodsParameters>,
) -> Result<Response, Problem> {
    let text = query.text("q").unwrap_or_default().trim();
    if let Some(selector) = fixed_hex::<Selector>(text) {
        let name = name(&app, &*head.get()?, selector).await?;
        return Ok(json(write_methods(&[(selector, name)])));
    }
    let name = |signature: &'static str| signature.split('(').next().unwrap_or(signature);
    let found: Vec<([u8; 4], &str)> = if text.is_empty() {
        well_known_methods().map(|(selector, signature)| (selector, name(signature))).collect()
    } else {
        functions_named(text)
    };
    let found: Vec<_> = found.into_iter().map(|(selector, name)| (Selector::from(selector), name)).collect();
    Ok(json(write_methods(&found)))
}

/// The name of a selector by loaded and well-known signatures; empty if there are none, or several.
async fn name(app: &App, head: &Head, selector: Selector) -> Result<String, Problem> {
    let mut label_query = LabelQuery::default();
    // No contract has this address, so that no ABI decides.
    let zero_address = Address::ZERO;
    label_query.call(Some(zero_address), selector.as_slice());
    let (_, _, vocabulary) = app.address_info([], label_query, head).await?;
    let method = vocabulary.method(Some(&zero_address), head.number().unwrap_or_default(), selector.as_slice());
    Ok(method.filter(|method| !method.starts_with("0x")).unwrap_or_default())
}
