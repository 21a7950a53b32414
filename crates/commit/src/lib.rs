//! Names the commit that a release program is built from, for build scripts; without git it is `unknown`.
//!
//! A development build is of no commit: what is compiled is what lies in the folder, and a commit made in between must
//! not compile whole packages again.

use std::process::Command;

/// Sets the variable `TRAWL_COMMIT` of the package whose build script this is.
pub fn set_variable() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("PROFILE").is_ok_and(|profile| profile == "debug") {
        println!("cargo:rustc-env=TRAWL_COMMIT=development");
        return;
    }
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".into());
    println!("cargo:rustc-env=TRAWL_COMMIT={commit}");
    // A worktree keeps its log elsewhere; a file that is not there would compile everything anew each time.
    if let Some(log) = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
