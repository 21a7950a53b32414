//! Rows in any number, sorted by block with bounded memory: an external merge sort.
//!
//! In memory are at most [`BUFFER`] bytes of rows while they come, and while runs are merged about 200 KiB and one row
//! of each. [`RUNS`] runs of one level become one of the next, so each row is written once for each level: up to 8 GiB
//! of rows once, up to 1 TiB twice. At the end there are fewer than [`RUNS`] runs of each level. On disk, in the
//! system's temporary folder (`TMPDIR`), lies everything once, compressed, and while runs are merged those twice; the
//! files have no name, so a killed run leaves none.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::sync::Arc;

use lz4_flex::frame::{FrameDecoder, FrameEncoder};

use super::listing::Kind;
use crate::source::columns::TextRow;

/// Bytes of rows that are buffered before they are written out as a sorted run.
const BUFFER: usize = 64 << 20;
/// Runs of one level, which are merged into one of the next.
const RUNS: usize = 128;

/// What rows are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub block: u64,
    pub kind: Kind,
    pub index: u64,
}

/// A sorted row.
#[derive(Debug)]
pub(super) struct Record {
    pub key: Key,
    pub names: Arc<[String]>,
    pub cells: TextRow,
}

/// A row with its names by number.
struct PackedRow {
    key: Key,
    layout: u32,
    cells: Vec<u8>,
}

/// Takes rows in any order, up to a buffer in memory and the rest in files.
pub(super) struct Sorter {
    layouts: Vec<Arc<[String]>>,
    rows: Vec<PackedRow>,
    bytes: usize,
    buffer: usize,
    /// Runs by level, each level in the order its rows came; all of a level came before those of the one below.
    runs: Vec<Vec<File>>,
    /// Runs that make one of the next level.
    width: usize,
    count: u64,
}

impl Sorter {
    pub fn new() -> Self {
        Self::with(BUFFER, RUNS)
    }

    fn with(buffer: usize, width: usize) -> Self {
        Self { layouts: Vec::new(), rows: Vec::new(), bytes: 0, buffer, runs: Vec::new(), width, count: 0 }
    }

    /// How many rows it has taken.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Adds a row.
    pub fn push(&mut self, key: Key, names: &Arc<[String]>, cells: &[Option<Box<str>>]) -> io::Result<()> {
        let cells = pack(cells)?;
        self.bytes += cells.len() + size_of::<PackedRow>();
        self.count += 1;
        let layout = self.layout(names);
        self.rows.push(PackedRow { key, layout, cells });
        if self.bytes >= self.buffer {
            self.write_run()?;
        }
        Ok(())
    }

    /// Puts a run on the lowest level; a level that is full becomes a run of the next.
    fn add(&mut self, run: File) -> io::Result<()> {
        let mut run = run;
        for level in 0.. {
            if level == self.runs.len() {
                self.runs.push(Vec::new());
            }
            self.runs[level].push(run);
            if self.runs[level].len() < self.width {
                break;
            }
            run = write(Merge::new(std::mem::take(&mut self.runs[level]))?)?;
        }
        Ok(())
    }

    fn layout(&mut self, names: &Arc<[String]>) -> u32 {
        let known = self.layouts.iter().rposition(|known| known == names);
        let position = known.unwrap_or_else(|| {
            self.layouts.push(Arc::clone(names));
            self.layouts.len() - 1
        });
        u32::try_from(position).expect("fewer different headings than rows of 4 GiB")
    }

    fn write_run(&mut self) -> io::Result<()> {
        let mut rows = std::mem::take(&mut self.rows);
        // Rows with the same key stay in the order they came.
        rows.sort_by_key(|row| row.key);
        self.bytes = 0;
        self.add(write(rows.into_iter().map(Ok))?)
    }

    /// All rows, sorted.
    pub fn finish(mut self) -> io::Result<impl Iterator<Item = io::Result<Record>>> {
        if !self.rows.is_empty() {
            self.write_run()?;
        }
        let layouts = self.layouts;
        // Rows with the same key stay in the order they came: the higher the level, the earlier.
        Ok(Merge::new(self.runs.into_iter().rev().flatten().collect())?.map(move |row| {
            let PackedRow { key, layout, cells } = row?;
            let names = layouts.get(layout as usize).cloned().ok_or_else(damaged)?;
            Ok(Record { key, names, cells: unpack(&cells)? })
        }))
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a temporary file was changed")
}

/// Cells one after another, each with its length plus one before it; 0 is null.
fn pack(cells: &[Option<Box<str>>]) -> io::Result<Vec<u8>> {
    let length = cells.iter().map(|cell| 4 + cell.as_ref().map_or(0, |text| text.len())).sum();
    let mut bytes = Vec::with_capacity(length);
    for cell in cells {
        let text = cell.as_deref().unwrap_or_default();
        let length = u32::try_from(text.len()).ok().and_then(|length| length.checked_add(1));
        let length = length.ok_or_else(|| io::Error::other("a cell of 4 GiB"))?;
        bytes.extend_from_slice(&cell.as_ref().map_or(0, |_| length).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    Ok(bytes)
}

fn unpack(mut bytes: &[u8]) -> io::Result<TextRow> {
    let mut cells = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let length = u32::from_le_bytes(*length) as usize;
        let (text, rest) = rest.split_at_checked(length.saturating_sub(1)).ok_or_else(damaged)?;
        let text = std::str::from_utf8(text).map_err(|_| damaged())?;
        cells.push((length > 0).then(|| text.into()));
        bytes = rest;
    }
    Ok(cells.into())
}

/// Writes sorted rows to a file without a name, which stands at its beginning afterwards.
fn write(rows: impl Iterator<Item = io::Result<PackedRow>>) -> io::Result<File> {
    let mut packer = FrameEncoder::new(BufWriter::new(tempfile::tempfile()?));
    for row in rows {
        let row = row?;
        let length = u32::try_from(row.cells.len()).map_err(|_| io::Error::other("a row of 4 GiB"))?;
        packer.write_all(&row.key.block.to_le_bytes())?;
        packer.write_all(&[row.key.kind as u8])?;
        packer.write_all(&row.key.index.to_le_bytes())?;
        packer.write_all(&row.layout.to_le_bytes())?;
        packer.write_all(&length.to_le_bytes())?;
        packer.write_all(&row.cells)?;
    }
    let mut file = packer.finish().map_err(io::Error::other)?.into_inner().map_err(io::Error::other)?;
    file.rewind()?;
    Ok(file)
}

type Run = FrameDecoder<BufReader<File>>;

/// The next row of a run; `None` at its end.
fn read(run: &mut Run) -> io::Result<Option<PackedRow>> {
    let mut head = [0; 25];
    let mut filled = 0;
    while filled < head.len() {
        match run.read(&mut head[filled..])? {
            0 if filled == 0 => return Ok(None),
            0 => return Err(damaged()),
            count => filled += count,
        }
    }
    let number = |from: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[from + byte]));
    let short = |from: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[from + byte]));
    let kinds = [Kind::Block, Kind::Transaction, Kind::Receipt, Kind::Log];
    let kind = *kinds.get(usize::from(head[8])).ok_or_else(damaged)?;
    let mut cells = vec![0; short(21) as usize];
    run.read_exact(&mut cells)?;
    Ok(Some(PackedRow { key: Key { block: number(0), kind, index: number(9) }, layout: short(17), cells }))
}

/// Several sorted runs as one.
struct Merge {
    runs: Vec<Run>,
    /// The next row of each run, by number; its key and the run's number are in the heap.
    next: Vec<Option<PackedRow>>,
    heap: BinaryHeap<Reverse<(Key, usize)>>,
}

impl Merge {
    fn new(files: Vec<File>) -> io::Result<Self> {
        let runs: Vec<Run> = files.into_iter().map(|file| FrameDecoder::new(BufReader::new(file))).collect();
        let mut merge = Self { next: runs.iter().map(|_| None).collect(), heap: BinaryHeap::new(), runs };
        for run in 0..merge.runs.len() {
            merge.advance(run)?;
        }
        Ok(merge)
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        self.next[run] = read(&mut self.runs[run])?;
        self.heap.extend(self.next[run].as_ref().map(|row| Reverse((row.key, run))));
        Ok(())
    }
}

impl Iterator for Merge {
    type Item = io::Result<PackedRow>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((_, run)) = self.heap.pop()?;
        let row = self.next[run].take()?;
        Some(self.advance(run).map(|()| row))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_row_is_written_once_for_each_level() {
        let names: Arc<[String]> = ["a".into()].into();
        let mut sorter = Sorter::with(1, 4);
        for block in 0..4 * 4 * 4 + 4 + 1 {
            let key = Key { block: block % 7, kind: Kind::Log, index: block };
            sorter.push(key, &names, &[Some("row".into())]).expect("a temporary file");
        }
        let levels: Vec<usize> = sorter.runs.iter().map(Vec::len).collect();
        assert_eq!(levels, [1, 1, 0, 1], "69 runs in base 4");
        let keys: Vec<Key> =
            sorter.finish().and_then(|rows| rows.map(|row| Ok(row?.key)).collect()).expect("what was written");
        assert_eq!((keys.len(), keys.is_sorted()), (69, true));
    }

    proptest! {
        #[test]
        fn rows_come_back_sorted_and_unchanged(
            rows in proptest::collection::vec((0..20u64, 0..4usize, 0..9u64, proptest::option::of(".{0,9}")), 0..400),
            buffer in 1..4000usize,
            width in 2..6usize,
        ) {
            let kinds = [Kind::Block, Kind::Transaction, Kind::Receipt, Kind::Log];
            let layouts: [Arc<[String]>; 2] = [["a".into()].into(), ["b".into()].into()];
            let mut sorter = Sorter::with(buffer, width);
            let mut expected = Vec::new();
            for (block, kind, index, text) in rows {
                let key = Key { block, kind: kinds[kind], index };
                let cells = [text.map(String::into_boxed_str)];
                sorter.push(key, &layouts[kind % 2], &cells).expect("a temporary file");
                expected.push((key, kind % 2, cells));
            }
            expected.sort_by_key(|(key, ..)| *key);
            let found: Vec<Record> = sorter.finish().and_then(Iterator::collect).expect("what was written");
            prop_assert_eq!(found.len(), expected.len());
            for (found, (key, layout, cells)) in found.iter().zip(expected) {
                prop_assert_eq!(found.key, key);
                prop_assert_eq!(&found.names, &layouts[layout]);
                prop_assert_eq!(&*found.cells, cells.as_slice());
            }
        }
    }
}
