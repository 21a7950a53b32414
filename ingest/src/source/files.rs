//! Reading files that may be gzipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;

/// The bytes of a file; gzip is recognised by its first bytes.
pub(crate) fn reader(file: &Path) -> io::Result<Box<dyn Read + Send>> {
    let mut reader = BufReader::with_capacity(1 << 18, File::open(file)?);
    let is_gzip = reader.fill_buf()?.starts_with(&[0x1f, 0x8b]);
    Ok(if is_gzip { Box::new(MultiGzDecoder::new(reader)) } else { Box::new(reader) })
}
