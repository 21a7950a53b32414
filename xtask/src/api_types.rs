//! `cargo xtask types`: the page's types of the API's answers, from `docs/reference/openapi.yaml`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{process, tools, workspace};

/// The module that the page imports them by.
#[must_use]
pub fn module() -> PathBuf {
    workspace::root().join("web/src/api/schemas.ts")
}

/// Writes the module, for what `web/src/api/types.ts` names.
///
/// # Errors
///
/// If npm or Node.js fail, or a type is named that the description has not.
pub fn write(module: &Path) -> anyhow::Result<()> {
    let clients = workspace::root().join("tests/clients");
    tools::npm_ci(&clients)?;
    let [description, uses] =
        ["docs/reference/openapi.yaml", "web/src/api/types.ts"].map(|of| workspace::root().join(of));
    process::run(
        Command::new("node").arg("openapi_types.mjs").args([&description, &uses]).arg(module).current_dir(&clients),
    )
}
