//! `trawl-ingest doctor`: whether everything is fit, and what to do where it is not.

use std::path::Path;

use trawl_core::store::{Reader, Writer};
use trawl_ingest::doctor::{Finding, Severity, examine_database, examine_machine, examine_node};

use super::error::Failure;
use super::flags::DoctorFlags;

/// Looks at this machine, the database and the nodes, and prints what it finds.
pub async fn doctor_command(
    flags: &DoctorFlags,
    password_file: Option<&Path>,
    reader: &Reader,
    writer: &Writer,
) -> Result<(), Failure> {
    let mut wrong = print("this machine", &examine_machine(password_file));
    let (findings, stored) = examine_database(reader, writer).await;
    wrong += print("database", &findings);
    let nodes = flags.nodes();
    if nodes.is_empty() {
        println!("\nno node was given (--rpc-url), so none was checked");
    }
    for (url, position) in nodes.iter().zip(1..) {
        // An address may hold a key.
        let title = format!("node {position} of {}", nodes.len());
        wrong += print(&title, &examine_node(url, stored).await?);
    }
    if wrong == 0 { Ok(()) } else { Err(Failure::Unfit(wrong)) }
}

/// Prints findings; how many are wrong.
fn print(title: &str, findings: &[Finding]) -> usize {
    println!("\n{title}");
    findings.iter().for_each(|finding| println!("{finding}"));
    findings.iter().filter(|finding| finding.severity == Severity::Wrong).count()
}
