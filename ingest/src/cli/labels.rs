//! `trawl-ingest labels`.

use trawl_core::store::{Head, Reader, Writer};
use trawl_ingest::labels::export::{Export, ExportError};
use trawl_ingest::labels::write::{LabelLoad, Outcome, Purpose};
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
    let (found, exports) = blocking(move || read(&files, chain_id)).await?;
    let (purpose, changed) = if flags.remove { (Purpose::Remove, "taken back") } else { (Purpose::Add, "new") };
    let mut load = LabelLoad::begin(reader, writer, purpose).await?;
    load.add(found).await?;
    for export in exports {
        add_export(&mut load, export).await?;
    }
    let outcome = load.end(names).await?;
    if outcome.is_empty() {
        return Err(Failure::NothingFound);
    }
    println!("{}", summary(&outcome, changed));
    Ok(())
}

/// Runs what takes a while beside the runtime, which has the connection to keep.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let result = tokio::task::spawn_blocking(work).await;
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
}

/// What the files have, and the exports among them, which are not read yet.
fn read(files: &[Source], chain_id: Option<u64>) -> Result<(LabelRecords, Vec<Export>), LabelsError> {
    let mut exports = Vec::new();
    for source in files.iter().filter(|source| source.path.is_dir()) {
        exports.extend(Export::find(&source.path, chain_id)?);
    }
    Ok((LabelRecords::read(files, chain_id)?, exports))
}

/// Adds an export part by part: one is written while the next one is read. The thread that reads is the program's own,
/// so that a load that fails need not wait for it.
async fn add_export(load: &mut LabelLoad<'_>, export: Export) -> Result<(), LabelsError> {
    let (sender, mut parts) = tokio::sync::mpsc::channel(1);
    let reading =
        std::thread::spawn(move || export.read(|part| sender.blocking_send(part).map_err(|_| ExportError::Abandoned)));
    while let Some(part) = parts.recv().await {
        load.add(part).await?;
    }
    Ok(reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?)
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
