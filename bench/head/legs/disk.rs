//! What small blocks cost on the disk beside `follow`, which writes a few rows at a time, for as long as it runs.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::Flags;
use crate::bed::TestBed;
use crate::chain::Size;
use crate::pace::{GrowingChain, Pace};
use crate::processes::{processor, written_bytes};
use crate::report::{Bound, Report, figure};

/// Between two looks at the disk.
const LOOK: Duration = Duration::from_secs(5);
const MB: f64 = 1e6;
/// The time that the goals are for.
const MINUTES: f64 = 100.;

/// What the engine counted since it was started.
struct Counts {
    bytes: u64,
    processor: f64,
    merges: u64,
    merged_rows: u64,
}

impl Counts {
    fn read(bed: &TestBed) -> anyhow::Result<Self> {
        let event = |name: &str| -> anyhow::Result<u64> {
            Ok(bed.sql(&format!("SELECT sum(value) FROM system.events WHERE event = '{name}'"))?.parse()?)
        };
        Ok(Self {
            bytes: written_bytes(bed.engine.id())?,
            processor: processor(bed.engine.id())?,
            merges: event("Merge")?,
            merged_rows: event("MergeWrittenRows")?,
        })
    }
}

/// Follows small blocks at one pace, and says what was written and what lay on the disk.
pub fn measure(bed: &mut TestBed, flags: &Flags, size: Size, report: &mut Report) -> anyhow::Result<()> {
    bed.follow(Duration::from_secs(1))?;
    bed.wait_until_followed()?;
    let before = Counts::read(bed)?;
    let (first, started) = (bed.sql("SELECT max(head_block) FROM ingest_heads")?.parse::<u64>()?, Instant::now());
    let pace = Pace { rate: flags.disk_rate, size, reorganise_every: Some(60.) };
    let growing = GrowingChain::start(&bed.chain, pace);
    let (mut most_bytes, mut most_parts) = (0, (0, String::new()));
    while started.elapsed().as_secs_f64() < flags.disk_seconds {
        std::thread::sleep(LOOK);
        most_bytes = most_bytes.max(size_of(&bed.launch.folder.join("engine")));
        let found =
            bed.sql("SELECT count() AS parts, table FROM system.parts GROUP BY table ORDER BY parts DESC LIMIT 1")?;
        if let Some((parts, table)) = found.split_once('\t') {
            most_parts = most_parts.max((parts.parse::<u64>()?, table.to_owned()));
        }
    }
    growing.stop()?;
    bed.wait_until_followed()?;
    let (after, minutes) = (Counts::read(bed)?, started.elapsed().as_secs_f64() / 60.);
    let blocks = bed.sql("SELECT max(head_block) FROM ingest_heads")?.parse::<u64>()? - first;
    let live = bed.sql("SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'trawl'")?;
    let written = (after.bytes - before.bytes) as f64 / MB / minutes;
    let rows = [
        ("blocks a second", flags.disk_rate),
        ("minutes", minutes),
        ("blocks", blocks as f64),
        ("bytes of parts that count at the end, MB", live.parse::<f64>()? / MB),
        ("most on the disk, MB", most_bytes as f64 / MB),
        ("written, MB a minute", written),
        ("merges a minute", (after.merges - before.merges) as f64 / minutes),
        ("rows written by merges, a block", (after.merged_rows - before.merged_rows) as f64 / blocks as f64),
        ("engine CPU, share of a core, %", (after.processor - before.processor) / minutes / 60. * 100.),
    ];
    let mut rows = rows.map(|(name, value)| vec![name.to_owned(), figure(value)]).to_vec();
    rows.push(vec![format!("most parts of a table, `{}`", most_parts.1), most_parts.0.to_string()]);
    report.table("The disk beside `follow`", &["", ""], &rows);
    report.goal("most on the disk beside `follow`", " MB", most_bytes as f64 / MB, Bound::AtMost(60.));
    report.goal("written in 100 minutes", " MB", written * MINUTES, Bound::AtMost(500.));
    Ok(())
}

/// Bytes of the blocks that the files under `folder` take; what is removed meanwhile counts as nothing.
fn size_of(folder: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => metadata.blocks() * 512 + size_of(&entry.path()),
            Ok(metadata) => metadata.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}
