//! Names the commit that a release program was built from (`unknown` without git), turns the description of the API
//! from YAML into the JSON that the program serves, so that the program needs no YAML parser, and lists the files of the
//! web page, which the program holds.

use std::error::Error;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    trawl_commit::set_variable();
    openapi()?;
    web_page()?;
    Ok(())
}

/// Writes `openapi.json` with the version of this package. Keys keep their order, in which `/docs` shows them.
fn openapi() -> Result<(), Box<dyn Error>> {
    const SOURCE: &str = "docs/reference/openapi.yaml";
    println!("cargo:rerun-if-changed={SOURCE}");
    let version = format!("version: '{}'", std::env::var("CARGO_PKG_VERSION")?);
    let yaml = std::fs::read_to_string(SOURCE)?.replacen("version: '0.0.0'", &version, 1);
    let mut json = Vec::new();
    let mut writer = serde_json::Serializer::new(&mut json);
    // The groups of responses are few, and merged into each operation: the reader takes that for an attack by default.
    let budget = serde_saphyr::budget! { enforce_alias_anchor_ratio: false };
    let options = serde_saphyr::options! { budget: budget };
    serde_saphyr::with_deserializer_from_str_with_options(&yaml, options, |yaml| {
        Ok(serde_transcode::transcode(yaml, &mut writer))
    })??;
    let target = Path::new(&std::env::var("OUT_DIR")?).join("openapi.json");
    Ok(std::fs::write(target, json)?)
}

/// Writes `web_page.rs`: an array of the files in `web/dist`, each as it is, with brotli and with gzip. Their names are in
/// order, so that the same files give the same program.
fn web_page() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=web/dist");
    let root = std::path::absolute("web/dist")?;
    let mut files = Vec::new();
    collect(&root, &mut files).map_err(|error| format!("{}: {error}; `cargo xtask web` builds it", root.display()))?;
    files.sort();
    let mut table = String::from("[\n");
    for file in files.iter().filter(|file| !file.extension().is_some_and(|kind| kind == "br" || kind == "gz")) {
        let path = file.strip_prefix(&root)?.display();
        let mut hasher = DefaultHasher::new();
        std::fs::read(file)?.hash(&mut hasher);
        table += &format!("    File {{ path: \"/{path}\", tag: \"W/\\\"{:016x}\\\"\", ", hasher.finish());
        for (name, ending) in [("plain", ""), ("brotli", ".br"), ("gzip", ".gz")] {
            table += &format!("{name}: include_bytes!({:?}), ", format!("{}{ending}", file.display()));
        }
        table += "},\n";
    }
    table += "]\n";
    let target = Path::new(&std::env::var("OUT_DIR")?).join("web_page.rs");
    Ok(std::fs::write(target, table)?)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
