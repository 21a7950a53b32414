//! This machine: open files, and who may read the file of the password.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::Finding;

/// Fewer open files, and a load with many connections fails.
const MIN_OPEN_FILES: u64 = 4096;
/// Whoever is not the owner may do these things to a file.
const OF_OTHERS: u32 = 0o077;

/// Looks at this machine, and at the file of a password if there is one.
#[must_use]
pub fn examine_machine(password_file: Option<&Path>) -> Vec<Finding> {
    let mut findings = vec![open_files()];
    findings.extend(password_file.map(password));
    findings
}

fn open_files() -> Finding {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match limit {
        Some(limit) if limit < MIN_OPEN_FILES => Finding::warning(
            "open files",
            format!("limit of this process: {limit}"),
            format!("raise the limit to {MIN_OPEN_FILES} or more: `ulimit -n`, LimitNOFILE of the unit"),
        ),
        Some(limit) => Finding::fine("open files", format!("limit of this process: {limit}")),
        None => Finding::fine("open files", "no limit"),
    }
}

fn password(file: &Path) -> Finding {
    let path = file.display();
    match fs::metadata(file) {
        Err(error) => Finding::wrong(
            "password file",
            format!("{path} cannot be read: {error}"),
            "name a file that this user may read (--clickhouse-password-file)",
        ),
        Ok(found) if found.permissions().mode() & OF_OTHERS != 0 => Finding::warning(
            "password file",
            format!("{path} is open to others (mode {:o})", found.permissions().mode() & 0o777),
            format!("chmod 600 {path}"),
        ),
        Ok(_) => Finding::fine("password file", format!("only the owner can read {path}")),
    }
}
