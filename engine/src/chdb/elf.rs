//! How long a shared library has to be, by its own header (ELF of 64 bits, little-endian): the loader maps a file that
//! was cut off, and the process is killed by SIGBUS when it touches what is not there.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

const MAGIC: &[u8] = b"\x7fELF\x02\x01";
const HEADER: usize = 64;
/// The type of program headers of what is mapped into memory.
const LOADED: u32 = 1;

/// The length that the library at `path` should have at least. `None` if it has another form, whose reason the loader
/// gives.
pub(super) fn needed_length(path: &Path) -> io::Result<Option<u64>> {
    let file = File::open(path)?;
    let mut header = [0; HEADER];
    match file.read_exact_at(&mut header, 0) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if !header.starts_with(MAGIC) {
        return Ok(None);
    }
    let (segments, sections) = (wide(&header, 0x20), wide(&header, 0x28));
    let [segment_size, segment_count, section_size, section_count] =
        [0x36, 0x38, 0x3a, 0x3c].map(|at| u64::from(short(&header, at)));
    let table = |start: u64, size: u64, count: u64| start.saturating_add(size * count);
    let mut needed = table(segments, segment_size, segment_count).max(table(sections, section_size, section_count));
    for number in 0..segment_count {
        let mut segment = [0; 56];
        match file.read_exact_at(&mut segment, table(segments, segment_size, number)) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(needed)),
            read => read?,
        }
        if u32::from_le_bytes(segment[..4].try_into().unwrap_or_default()) == LOADED {
            needed = needed.max(wide(&segment, 8).saturating_add(wide(&segment, 32)));
        }
    }
    Ok(Some(needed))
}

fn wide(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap_or_default())
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap_or_default())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_cut_off_is_shorter_than_its_header_says() {
        let program = std::env::current_exe().expect("this program");
        let whole = std::fs::read(&program).expect("a file");
        let needed = needed_length(&program).expect("a header").expect("an ELF file");
        assert!(needed <= whole.len() as u64 && needed > whole.len() as u64 / 2, "{needed} of {}", whole.len());
        let cut = tempfile::NamedTempFile::new().expect("a file");
        for length in [whole.len() / 2, 5_000, 100] {
            std::fs::write(cut.path(), &whole[..length]).expect("a file");
            assert!(needed_length(cut.path()).expect("a header").expect("an ELF file") > length as u64);
        }
        std::fs::write(cut.path(), "text").expect("a file");
        assert_eq!(needed_length(cut.path()).expect("a file"), None);
    }
}
