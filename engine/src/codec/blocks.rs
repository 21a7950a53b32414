//! ClickHouse's compressed blocks: checksum, method, two lengths, payload.
//!
//! <https://clickhouse.com/docs/native-protocol/compression>: 16 bytes `CityHash128` (version 1.0.2) of all that follows,
//! 1 byte method, 4 bytes length of header and payload, 4 bytes length of the data; integers little-endian.

use std::io::{self, Read};

pub(super) const CHECKSUM: usize = 16;
/// The constant `k3` of `CityHash` 1.0.2.
const K3: u64 = 0xc949_d7c7_509e_6557;
const HEADER: usize = 9;
const LZ4: u8 = 0x82;
const ZSTD: u8 = 0x90;
const NONE: u8 = 0x02;
/// Largest block sent; a server takes blocks of up to 1 GiB and sends 1 MiB.
const BLOCK: usize = 1 << 20;
/// Largest block accepted. A server takes 1 GiB, because 25 bytes announce it; clients send 1 MiB, seldom more.
const LARGEST: usize = 128 << 20;
/// LZ4 cannot make data longer than this.
const MAX_RATIO: usize = 255;

/// `data` as one or more LZ4 blocks.
pub(super) fn compress(data: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(data.len() / 2 + CHECKSUM + HEADER);
    for piece in data.chunks(BLOCK) {
        let payload = lz4_flex::block::compress(piece);
        let start = out.len();
        out.extend([0; CHECKSUM]);
        out.push(LZ4);
        out.extend(length(payload.len() + HEADER).to_le_bytes());
        out.extend(length(piece.len()).to_le_bytes());
        out.extend(&payload);
        let sum = checksum(&out[start + CHECKSUM..]);
        out[start..start + CHECKSUM].copy_from_slice(&sum);
    }
    out
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a block is at most 1 MiB")
}

fn checksum(bytes: &[u8]) -> [u8; CHECKSUM] {
    cityhash_rs::cityhash_102_128(bytes).rotate_right(64).to_le_bytes()
}

/// The checksum of what follows bytes whose checksum is `before`. The hash of a text takes its seed from the first 16
/// bytes.
pub(super) fn checksum_after(before: [u8; CHECKSUM], bytes: &[u8]) -> [u8; CHECKSUM] {
    let mut text = before.to_vec();
    text[..8].iter_mut().zip(K3.to_le_bytes()).for_each(|(byte, constant)| *byte ^= constant);
    text.extend(bytes);
    checksum(&text)
}

/// What all of `packed` holds.
pub(super) fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    Decoder::new(packed).read_to_end(&mut plain)?;
    Ok(plain)
}

/// Reads blocks; a wrong checksum or an unknown method is an error.
pub(super) struct Decoder<R> {
    inner: R,
    block: Vec<u8>,
    at: usize,
}

impl<R: Read> Decoder<R> {
    pub(super) fn new(inner: R) -> Self {
        Self { inner, block: Vec::new(), at: 0 }
    }

    /// Reads the next block; false at the end of the body.
    fn advance(&mut self) -> io::Result<bool> {
        let mut head = [0; CHECKSUM + HEADER];
        if self.inner.read(&mut head[..1])? == 0 {
            return Ok(false);
        }
        self.inner.read_exact(&mut head[1..])?;
        let number = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("4 bytes")) as usize;
        let (compressed, plain) = (number(CHECKSUM + 1), number(CHECKSUM + 5));
        if !(HEADER..=LARGEST).contains(&compressed) || plain > LARGEST {
            return Err(io::Error::other("not a compressed block: its lengths are out of range"));
        }
        // Grows with what arrives, not with what is announced.
        let mut sealed = head[CHECKSUM..].to_vec();
        let payload = (compressed - HEADER) as u64;
        if (&mut self.inner).take(payload).read_to_end(&mut sealed)? as u64 != payload {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if checksum(&sealed) != head[..CHECKSUM] {
            return Err(io::Error::other("a compressed block has a wrong checksum"));
        }
        let payload = &sealed[HEADER..];
        if sealed[0] == LZ4 && plain / MAX_RATIO > payload.len() {
            return Err(io::Error::other("a compressed block announces more data than it can hold"));
        }
        self.block = match sealed[0] {
            LZ4 => lz4_flex::block::decompress(payload, plain).map_err(io::Error::other)?,
            ZSTD => zstd::bulk::decompress(payload, plain)?,
            NONE => payload.to_vec(),
            other => return Err(io::Error::other(format!("compression method {other:#04x} is unknown"))),
        };
        self.at = 0;
        Ok(true)
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.block.len() {
            if !self.advance()? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.block.len() - self.at);
        buffer[..count].copy_from_slice(&self.block[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flipped_bit_is_an_error() {
        let good = compress(b"some data, some data");
        for position in 0..good.len() {
            let mut bad = good.clone();
            bad[position] ^= 1;
            let mut out = Vec::new();
            assert!(Decoder::new(&bad[..]).read_to_end(&mut out).is_err(), "byte {position}");
        }
    }

    #[test]
    fn a_sealed_block_that_announces_too_much_is_an_error() {
        for plain in [LARGEST, LARGEST + 1, 1 << 20] {
            let mut block = compress(b"some data, some data");
            block[CHECKSUM + 5..CHECKSUM + HEADER].copy_from_slice(&length(plain).to_le_bytes());
            let sum = checksum(&block[CHECKSUM..]);
            block[..CHECKSUM].copy_from_slice(&sum);
            let mut decoder = Decoder::new(&block[..]);
            assert!(decoder.read(&mut [0; 10]).is_err(), "{plain}");
            assert!(decoder.block.capacity() == 0, "{plain}");
        }
    }
}
