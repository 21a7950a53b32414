//! The checksums that ClickHouse keeps beside a part's files (`checksums.txt`, version 4), of which it compares sizes
//! only when it loads a part.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::codec::blocks::{self, CHECKSUM};

const HEAD: &[u8] = b"checksums format version: 4\n";
/// Larger files are data, whose blocks have checksums of their own that are compared when they are read.
const SMALL: u64 = 64 << 10;
/// ClickHouse's `HashingWriteBuffer` hashes so much at a time.
const PIECE: usize = 2048;

/// The first of the small files of the part in `folder` that is not as it was written. `None` also for a part in
/// another form, or one that is being removed.
///
/// # Errors
///
/// If a file is there and cannot be read.
pub fn altered_file(folder: &Path) -> io::Result<Option<String>> {
    let Some(listed) = there(fs::read(folder.join("checksums.txt")))? else { return Ok(None) };
    let Some(packed) = listed.strip_prefix(HEAD) else { return Ok(None) };
    let Ok(plain) = blocks::unpacked(packed) else { return Ok(Some("checksums.txt".into())) };
    let mut rest = &plain[..];
    let Some(count) = number(&mut rest) else { return Ok(Some("checksums.txt".into())) };
    for _ in 0..count {
        let Some(file) = File::read(&mut rest) else { return Ok(Some("checksums.txt".into())) };
        let path = folder.join(&file.name);
        if path.is_dir() {
            // A projection is a part of its own.
            if let Some(altered) = altered_file(&path)? {
                return Ok(Some(format!("{}/{altered}", file.name)));
            }
        } else if !file.is_compressed
            && file.size <= SMALL
            && let Some(bytes) = there(fs::read(&path))?
            && (bytes.len() as u64 != file.size || hash(&bytes) != file.hash)
        {
            return Ok(Some(file.name));
        }
    }
    Ok(None)
}

fn there<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

struct File {
    name: String,
    size: u64,
    hash: [u8; CHECKSUM],
    is_compressed: bool,
}

impl File {
    fn read(rest: &mut &[u8]) -> Option<Self> {
        let length = usize::try_from(number(rest)?).ok()?;
        let name = String::from_utf8(rest.split_off(..length)?.to_vec()).ok()?;
        let size = number(rest)?;
        let hash = rest.split_off(..CHECKSUM)?.try_into().ok()?;
        let is_compressed = *rest.split_off_first()? != 0;
        if is_compressed {
            number(rest)?;
            rest.split_off(..CHECKSUM)?;
        }
        Some(Self { name, size, hash, is_compressed })
    }
}

/// A number of variable length: seven bits a byte, the lowest first.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let mut byte = [0];
        rest.read_exact(&mut byte).ok()?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] < 0x80 {
            return Some(value);
        }
    }
    None
}

fn hash(bytes: &[u8]) -> [u8; CHECKSUM] {
    bytes.chunks(PIECE).fold([0; CHECKSUM], blocks::checksum_after)
}
