//! The API in the words of OpenAPI 3.1, for programs at `/api/v2/openapi` and for people at `/docs`.
//!
//! Answers are written straight from columns, so no type has their shape; it is told here, and a run of schemathesis
//! holds thousands of answers against it (`tests/it/clients.rs`). Parameters come from what the handlers declare.

use std::sync::LazyLock;

use axum::body::Bytes;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName};
use axum::response::IntoResponse;
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder, ServerBuilder};

mod calls;
mod listed;
mod objects;
mod routes;
mod scan;
mod shape;

/// The description of every route.
#[must_use]
pub fn document() -> OpenApi {
    let info = InfoBuilder::new()
        .title("Trawl")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("A read-only explorer of an EVM chain. Lists are paged: send what `next_page_params` holds along with the same parameters."));
    let schemas = objects::all().into_iter().chain(calls::all());
    let components = schemas.fold(ComponentsBuilder::new(), |components, (name, shape)| components.schema(name, shape));
    OpenApiBuilder::new()
        .info(info.build())
        .servers(Some([ServerBuilder::new().url("/").build()]))
        .paths(routes::all())
        .components(Some(components.build()))
        .build()
}

static TEXT: LazyLock<Bytes> = LazyLock::new(|| document().to_json().expect("names and texts are JSON").into());

/// The description, as JSON.
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(CONTENT_TYPE, "application/json")], TEXT.clone())
}

/// Nothing on the page comes from elsewhere, and the browser holds it to that.
const POLICY: [(HeaderName, &str); 2] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
];

/// The page that shows the description and tries it.
pub(crate) async fn docs() -> impl IntoResponse {
    (POLICY, include_str!("describe/page.html"))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Visits every object in a value.
    fn visit(value: &Value, act: &mut dyn FnMut(&serde_json::Map<String, Value>)) {
        match value {
            Value::Object(object) => {
                act(object);
                object.values().for_each(|value| visit(value, act));
            }
            Value::Array(values) => values.iter().for_each(|value| visit(value, act)),
            _ => {}
        }
    }

    #[test]
    fn every_name_is_told_and_every_told_name_is_used() {
        let document = serde_json::to_value(document()).expect("JSON");
        let mut used = std::collections::BTreeSet::new();
        visit(&document, &mut |object| {
            if let Some(Value::String(name)) = object.get("$ref") {
                used.insert(name.trim_start_matches("#/components/schemas/").to_owned());
            }
        });
        let told: std::collections::BTreeSet<String> =
            document["components"]["schemas"].as_object().expect("schemas").keys().cloned().collect();
        assert_eq!(used, told);
    }

    #[test]
    fn what_must_be_there_is_a_member() {
        let mut records = 0;
        visit(&serde_json::to_value(document()).expect("JSON"), &mut |object| {
            let (Some(Value::Array(required)), Some(Value::Object(members))) =
                (object.get("required"), object.get("properties"))
            else {
                return;
            };
            records += 1;
            for name in required {
                assert!(members.contains_key(name.as_str().unwrap_or_default()), "{name} of {object:?}");
            }
        });
        assert!(records > 40, "only {records}");
    }
}
