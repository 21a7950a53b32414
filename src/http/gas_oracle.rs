//! The request header `updated-gas-oracle`, by which clients of this API family ask for gas prices with their parts
//! (docs/reference/http-contract.md#figures).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use trawl_json::stats::GasPriceForm;

/// The name of the header.
pub(crate) const UPDATED_GAS_ORACLE: &str = "updated-gas-oracle";

/// The form of gas prices that the headers of a request ask for.
pub(crate) fn gas_price_form(headers: &HeaderMap) -> GasPriceForm {
    match headers.get(UPDATED_GAS_ORACLE) {
        Some(value) if value == "true" => GasPriceForm::Objects,
        _ => GasPriceForm::Numbers,
    }
}

/// The form of gas prices that a request asks for.
pub(crate) struct GasOracle(pub GasPriceForm);

impl<S: Sync> FromRequestParts<S> for GasOracle {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(gas_price_form(&parts.headers)))
    }
}
