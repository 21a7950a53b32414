//! e2store: entries of a type, a length and that many bytes.
//! <https://github.com/eth-clients/e2store-format-specs/blob/main/formats/e2store.md>

use std::io::{self, Read};

/// Types of entries, as their two bytes read little endian.
pub mod kind {
    /// Begins every file.
    pub const VERSION: u16 = 0x3265;
    /// A header, RLP in snappy frames.
    pub const HEADER: u16 = 0x03;
    /// Transactions and uncles.
    pub const BODY: u16 = 0x04;
    /// Receipts of a block, RLP in snappy frames.
    pub const RECEIPTS: u16 = 0x05;
    /// 32 bytes, little endian.
    pub const TOTAL_DIFFICULTY: u16 = 0x06;
    /// Root over block hashes and total difficulties.
    pub const ACCUMULATOR: u16 = 0x07;
    /// Where each block begins.
    pub const INDEX: u16 = 0x3266;
}

/// Most bytes of an entry: far above any block, and a bound of memory.
const MAX_ENTRY: u32 = 256 << 20;

/// An entry of the file, without its head of 8 bytes.
#[derive(Debug)]
pub struct Entry {
    pub kind: u16,
    pub data: Vec<u8>,
}

/// Bytes that are not entries.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    #[error("it ends in the middle of the entry at byte {0}")]
    CutShort(u64),
    #[error("the entry at byte {0} has reserved bytes that are not zero")]
    Reserved(u64),
    #[error("the entry at byte {at} claims {length} bytes")]
    TooLong { at: u64, length: u32 },
    #[error("an entry of type {found:#06x} at byte {at}, where {expected:#06x} belongs")]
    Unexpected { at: u64, expected: u16, found: u16 },
}

/// The entries of a file.
pub struct Entries<R> {
    reader: R,
    position: u64,
}

impl<R: Read> Entries<R> {
    pub fn new(reader: R) -> Self {
        Self { reader, position: 0 }
    }

    /// Where the next entry begins.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The next entry; `None` at the end of the file.
    pub fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        let at = self.position;
        let head = self.bytes(8)?;
        if head.is_empty() {
            return Ok(None);
        }
        let Ok([kind_low, kind_high, length @ .., reserved_low, reserved_high]) = <[u8; 8]>::try_from(head) else {
            return Err(StoreError::CutShort(at));
        };
        if [reserved_low, reserved_high] != [0, 0] {
            return Err(StoreError::Reserved(at));
        }
        let length = u32::from_le_bytes(length);
        if length > MAX_ENTRY {
            return Err(StoreError::TooLong { at, length });
        }
        let data = self.bytes(length)?;
        if data.len() != length as usize {
            return Err(StoreError::CutShort(at));
        }
        self.position += 8 + u64::from(length);
        Ok(Some(Entry { kind: u16::from_le_bytes([kind_low, kind_high]), data }))
    }

    /// The next entry, which must be of a type.
    pub fn expect(&mut self, expected: u16) -> Result<Entry, StoreError> {
        let at = self.position;
        let entry = self.next()?.ok_or(StoreError::CutShort(at))?;
        if entry.kind != expected {
            return Err(StoreError::Unexpected { at, expected, found: entry.kind });
        }
        Ok(entry)
    }

    /// Up to `count` bytes, fewer at the end of the file. Memory is taken as bytes come, not as a length claims.
    fn bytes(&mut self, count: u32) -> Result<Vec<u8>, StoreError> {
        let mut bytes = Vec::new();
        (&mut self.reader).take(count.into()).read_to_end(&mut bytes).map_err(StoreError::Read)?;
        Ok(bytes)
    }
}
