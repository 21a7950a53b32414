//! Compression of bodies: HTTP content encodings and ClickHouse's own block framing, in both directions.

use std::io::{self, Read, Write};

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
use bytes::Bytes;

use crate::exception::Exception;

mod blocks;
pub mod part_checksums;
pub mod part_columns;

/// How an answer is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As it is.
    Identity,
    /// ClickHouse's framing (`compress=1`): no header announces it.
    Blocks,
    /// `Content-Encoding: lz4`, one LZ4 frame.
    Lz4,
    /// `Content-Encoding: zstd`, Zstandard (RFC 8878).
    Zstd,
    /// `Content-Encoding: gzip` (RFC 1952).
    Gzip,
}

impl Encoding {
    /// The `Content-Encoding` to announce.
    #[must_use]
    pub fn header(self) -> Option<&'static str> {
        match self {
            Self::Identity | Self::Blocks => None,
            Self::Lz4 => Some("lz4"),
            Self::Zstd => Some("zstd"),
            Self::Gzip => Some("gzip"),
        }
    }

    /// The cheapest encoding that the client accepts.
    #[must_use]
    pub fn negotiate(headers: &HeaderMap) -> Self {
        let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
        let accepts = |name: &str| {
            accepted.split(',').any(|offer| {
                let mut parts = offer.split(';');
                let named = parts.next().is_some_and(|offered| offered.trim().eq_ignore_ascii_case(name));
                named && !parts.any(|weight| matches!(weight.trim(), "q=0" | "q=0.0"))
            })
        };
        [Self::Lz4, Self::Zstd, Self::Gzip]
            .into_iter()
            .find(|encoding| encoding.header().is_some_and(accepts))
            .unwrap_or(Self::Identity)
    }
}

/// Compresses an answer piece by piece; every piece can be decompressed when it arrives.
pub enum Encoder {
    /// As it is.
    Identity,
    /// ClickHouse's framing, a block for each piece.
    Blocks,
    /// One LZ4 frame, flushed after each piece.
    Lz4(Box<lz4_flex::frame::FrameEncoder<Vec<u8>>>),
    /// One Zstandard frame, flushed after each piece.
    Zstd(zstd::stream::write::Encoder<'static, Vec<u8>>),
    /// One gzip member, flushed after each piece.
    Gzip(flate2::write::GzEncoder<Vec<u8>>),
}

impl Encoder {
    /// Starts an answer.
    ///
    /// # Errors
    ///
    /// If the encoder cannot be set up.
    pub fn new(encoding: Encoding) -> io::Result<Self> {
        Ok(match encoding {
            Encoding::Identity => Self::Identity,
            Encoding::Blocks => Self::Blocks,
            Encoding::Lz4 => Self::Lz4(Box::new(lz4_flex::frame::FrameEncoder::new(Vec::new()))),
            Encoding::Zstd => Self::Zstd(zstd::stream::write::Encoder::new(Vec::new(), 1)?),
            Encoding::Gzip => Self::Gzip(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(3))),
        })
    }

    /// The bytes to send for `piece`.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn push(&mut self, piece: Bytes) -> io::Result<Bytes> {
        match self {
            Self::Identity => Ok(piece),
            Self::Blocks => Ok(blocks::compress(&piece).into()),
            Self::Lz4(writer) => flushed(&mut **writer, &piece, |writer| writer.get_mut()),
            Self::Zstd(writer) => flushed(writer, &piece, |writer| writer.get_mut()),
            Self::Gzip(writer) => flushed(writer, &piece, |writer| writer.get_mut()),
        }
    }

    /// The bytes that end the answer.
    ///
    /// # Errors
    ///
    /// If the encoder fails.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Identity | Self::Blocks => Ok(Vec::new()),
            Self::Lz4(writer) => writer.finish().map_err(io::Error::other),
            Self::Zstd(writer) => writer.finish(),
            Self::Gzip(writer) => writer.finish(),
        }
    }
}

fn flushed<W: Write>(writer: &mut W, piece: &[u8], out: impl Fn(&mut W) -> &mut Vec<u8>) -> io::Result<Bytes> {
    writer.write_all(piece)?;
    writer.flush()?;
    Ok(std::mem::take(out(writer)).into())
}

/// A request's body as it came, with the headers that describe its compression.
pub struct EncodedBody {
    /// The bytes, still compressed.
    pub bytes: Box<dyn Read + Send>,
    /// The request's headers, of which `Content-Encoding` counts.
    pub headers: HeaderMap,
    /// Whether ClickHouse's framing lies inside the content encoding.
    pub has_blocks: bool,
}

impl EncodedBody {
    /// The body without its encodings. Blocks until the first bytes are there.
    ///
    /// # Errors
    ///
    /// If the content encoding is unknown.
    pub fn decode(self) -> Result<Box<dyn Read + Send>, Exception> {
        let body = undo(self.bytes, &self.headers)?;
        Ok(if self.has_blocks { Box::new(blocks::Decoder::new(body)) } else { body })
    }
}

fn undo(body: Box<dyn Read + Send>, headers: &HeaderMap) -> Result<Box<dyn Read + Send>, Exception> {
    let encoding = headers.get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("").trim();
    Ok(match encoding {
        "" | "identity" => body,
        "gzip" => Box::new(flate2::read::MultiGzDecoder::new(body)),
        "deflate" => Box::new(flate2::read::ZlibDecoder::new(body)),
        "zstd" => Box::new(
            zstd::stream::read::Decoder::new(body)
                .map_err(|error| Exception::new(561, "ZSTD_DECODER_FAILED", error))?,
        ),
        "lz4" => Box::new(lz4_flex::frame::FrameDecoder::new(body)),
        other => {
            return Err(Exception::new(
                89,
                "UNKNOWN_COMPRESSION_METHOD",
                format!("Content-Encoding {other} is not supported: send gzip, deflate, zstd, lz4 or none"),
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Vec<Vec<u8>> {
        vec![b"abc".repeat(1000), b"x".to_vec(), (0..=255).cycle().take(300_000).collect()]
    }

    #[test]
    fn every_piece_comes_out_when_it_arrives() {
        for encoding in [Encoding::Blocks, Encoding::Lz4, Encoding::Zstd, Encoding::Gzip] {
            let mut encoder = Encoder::new(encoding).expect("starts");
            let mut sent = Vec::new();
            for piece in pieces() {
                let bytes = encoder.push(piece.into()).expect("compresses");
                assert!(!bytes.is_empty(), "{encoding:?} kept a piece back");
                sent.extend(bytes);
            }
            sent.extend(encoder.finish().expect("ends"));
            let mut headers = HeaderMap::new();
            if let Some(name) = encoding.header() {
                headers.insert(CONTENT_ENCODING, name.parse().expect("header"));
            }
            let mut back = Vec::new();
            let has_blocks = encoding == Encoding::Blocks;
            EncodedBody { bytes: Box::new(io::Cursor::new(sent)), headers, has_blocks }
                .decode()
                .expect("known")
                .read_to_end(&mut back)
                .expect("decompresses");
            assert_eq!(back, pieces().concat(), "{encoding:?}");
        }
    }

    #[test]
    fn refused_encodings_are_not_chosen() {
        let negotiate = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_ENCODING, text.parse().expect("header"));
            Encoding::negotiate(&headers)
        };
        assert_eq!(negotiate("br, gzip;q=0.5"), Encoding::Gzip);
        assert_eq!(negotiate("lz4;q=0, zstd"), Encoding::Zstd);
        assert_eq!(negotiate("identity"), Encoding::Identity);
    }
}
