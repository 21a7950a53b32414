//! Tells the program which commit it was built from (`unknown` without git), and turns the description of the API from
//! YAML into the JSON that the program serves, so that the program needs no YAML parser.

use std::error::Error;
use std::process::Command;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    commit();
    openapi()?;
    Ok(())
}

fn commit() {
    let commit = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .map_or_else(|| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    println!("cargo:rustc-env=TRAWL_COMMIT={commit}");
    println!("cargo:rerun-if-changed=.git/logs/HEAD");
}

/// Writes `openapi.json` with the version of this package. Keys keep their order, in which `/docs` shows them.
fn openapi() -> Result<(), Box<dyn Error>> {
    const SOURCE: &str = "docs/reference/openapi.yaml";
    println!("cargo:rerun-if-changed={SOURCE}");
    let version = format!("version: '{}'", std::env::var("CARGO_PKG_VERSION")?);
    let yaml = std::fs::read_to_string(SOURCE)?.replacen("version: '0.0.0'", &version, 1);
    let mut json = Vec::new();
    let mut writer = serde_json::Serializer::new(&mut json);
    serde_saphyr::with_deserializer_from_str(&yaml, |yaml| Ok(serde_transcode::transcode(yaml, &mut writer)))??;
    let target = std::path::Path::new(&std::env::var("OUT_DIR")?).join("openapi.json");
    Ok(std::fs::write(target, json)?)
}
