//! Statements of Trawl's plans as requests to the engine, as the API sends them.

use trawl_core::statement::{Parameter, Statement};
use url::form_urlencoded::Serializer;

use crate::client::Request;
use crate::store::{DATABASE, Store};

/// The format settings that the API uses, so that both legs move the same bytes.
const SETTINGS: [(&str, &str); 3] = [
    ("output_format_arrow_string_as_string", "0"),
    ("output_format_arrow_compression_method", "none"),
    ("output_format_arrow_low_cardinality_as_dictionary", "0"),
];

/// A statement of a plan, with its own settings and those of its workload and no cap but its own, as an uncompressed
/// Arrow stream.
pub fn planned<R>(store: &Store, statement: &Statement<R>) -> Request {
    let parameters: Vec<(&str, String)> =
        statement.parameters.iter().map(|(name, value)| (name.as_ref(), text(value))).collect();
    let settings: Vec<_> = statement.workload.settings().iter().chain(statement.settings).copied().collect();
    raw(store, &statement.sql, &parameters, "ArrowStream", &settings)
}

/// Any statement, in any format.
pub fn raw(
    store: &Store,
    sql: &str,
    parameters: &[(&str, String)],
    format: &str,
    settings: &[(&str, &str)],
) -> Request {
    let mut query = Serializer::new(String::new());
    query.append_pair("database", DATABASE).append_pair("default_format", format);
    for (name, value) in settings.iter().chain(&SETTINGS) {
        query.append_pair(name, value);
    }
    for (name, value) in parameters {
        query.append_pair(&format!("param_{name}"), value);
    }
    Request::post(&store.url, &format!("/?{}", query.finish()), sql.to_owned())
}

/// A value as ClickHouse reads it behind `param_`.
fn text(value: &Parameter) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(","));
    match value {
        Parameter::Number(number) => number.to_string(),
        Parameter::Addresses(_) | Parameter::Hashes(_) | Parameter::Selectors(_) | Parameter::Amounts(_) => {
            value.escaped().unwrap_or_default()
        }
        Parameter::Text(text) => text.clone(),
        Parameter::Numbers(numbers) => list(numbers.iter().map(ToString::to_string).collect()),
        Parameter::Texts(texts) => list(texts.iter().map(|text| format!("'{text}'")).collect()),
        Parameter::Ranges(ranges) => list(ranges.iter().map(|range| format!("({},{})", range.0, range.1)).collect()),
        Parameter::Generations(generations) => {
            list(generations.iter().map(|of| format!("({},{},{})", of.0, of.1, of.2)).collect())
        }
    }
}
