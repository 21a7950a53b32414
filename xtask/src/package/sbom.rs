//! The list of what the programs are made of, in the form of CycloneDX 1.5 (<https://cyclonedx.org/docs/1.5/json/>).

use serde_json::{Value, json};

use super::dependencies::{Dependency, dependencies};

/// The list as JSON text, packages by name and version.
pub(super) fn text() -> anyhow::Result<String> {
    let components: Vec<Value> = dependencies()?.iter().map(component).collect();
    let version = env!("CARGO_PKG_VERSION");
    let list = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": format!("trawl@{version}"), "name": "trawl", "version": version,
        }},
        "components": components,
    });
    Ok(format!("{}\n", serde_json::to_string_pretty(&list)?))
}

fn component(of: &Dependency) -> Value {
    let reference = format!("pkg:cargo/{}@{}", of.name, of.version);
    let mut component = json!({
        "type": "library", "bom-ref": reference, "purl": reference, "name": of.name, "version": of.version,
    });
    if let Some(licence) = &of.licence {
        // `/` is how packages wrote `OR` before SPDX.
        component["licenses"] = json!([{"expression": licence.replace('/', " OR ")}]);
    }
    if let Some(checksum) = &of.checksum {
        component["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    component
}
