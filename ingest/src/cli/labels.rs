//! `trawl-ingest labels`.

use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::labels::write::{Outcome, Purpose, write};
use trawl_ingest::labels::{LabelRecords, LabelsError, Source};

use super::error::Failure;
use super::flags::LabelsFlags;

/// Loads labels, ABIs, sources and signatures. It needs no lease: what it writes is in tables of its own.
pub async fn labels_command(flags: LabelsFlags, reader: &Reader, writer: &Writer) -> Result<(), Failure> {
    writer.require_schema().await?;
    let stored = Head::load(reader).await?.chain_id;
    if let (Some(expected), Some(found)) = (stored, flags.chain_id)
        && expected != found
    {
        return Err(Failure::OtherChain { expected, found });
    }
    let chain_id = stored.or(flags.chain_id);
    let names = flags.files.iter().map(|source: &Source| source.path.display().to_string()).collect();
    let files = flags.files;
    // Reading may take a while, and the runtime has the connection to keep.
    let found = tokio::task::spawn_blocking(move || LabelRecords::read(&files, chain_id)).await;
    let found = found.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
    for (reason, count) in &found.passed_over {
        tracing::warn!(count, "passed over: {reason}");
    }
    if found.is_empty() {
        return Err(Failure::NothingFound);
    }
    let (purpose, changed) = if flags.remove { (Purpose::Remove, "taken back") } else { (Purpose::Add, "new") };
    let outcome = write(reader, writer, found, purpose, names).await.map_err(LabelsError::from)?;
    println!("{}", summary(&outcome, changed));
    Ok(())
}

/// What was found, and how much of it was new or taken back. Sources are named where there are some.
fn summary(outcome: &Outcome, changed: &str) -> String {
    let kinds = [
        ("labels", outcome.labels),
        ("ABIs", outcome.abis),
        ("sources", outcome.sources),
        ("signatures", outcome.signatures),
    ];
    let kinds = kinds.into_iter().filter(|(name, counts)| *name != "sources" || counts.found > 0);
    let texts = kinds.map(|(name, counts)| format!("{} {name}, {} {changed}", counts.found, counts.written));
    texts.collect::<Vec<_>>().join("; ")
}
