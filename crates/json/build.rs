//! Compresses the lists of functions, events and errors in the ABIs of packages, of which the programs hold all.

use std::error::Error;
use std::path::Path;

/// The strongest that needs no more memory to read.
const LEVEL: i32 = 19;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let target = std::env::var("OUT_DIR")?;
    for kind in ["functions", "events", "errors"] {
        let list = format!("../../sql/signatures/package_{kind}.txt");
        println!("cargo:rerun-if-changed={list}");
        let packed = zstd::encode_all(std::fs::read(list)?.as_slice(), LEVEL)?;
        std::fs::write(Path::new(&target).join(format!("{kind}.zst")), packed)?;
    }
    Ok(())
}
