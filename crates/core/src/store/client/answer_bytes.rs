//! The bytes of an answer as they arrive, and the error that ends it.
//!
//! An error in the middle of an answer follows the data: `\r\n__exception__\r\n`, a tag, `\r\n`, `Code: N.
//! DB::Exception: …`, its length, the tag, and the marker again (ClickHouse's `WriteBufferFromHTTPServerResponse`). The
//! client crate finds that only if all of it arrives in one piece; otherwise the crate returns the first pieces as data,
//! and drops the last one or reports a lost connection. So a message found here may lack its end, and an error whose
//! code is cut is not found.

use bytes::Bytes;
use clickhouse::query::BytesCursor;

use crate::store::StoreError;

/// What precedes the text of an error.
const MARKER: &str = "\r\n__exception__\r\n";
/// Letters of the tag (`EXCEPTION_TAG_LENGTH`).
const TAG_LENGTH: usize = 16;
/// More than a server sends of an error: its text has at most 16 KiB (`MAX_EXCEPTION_SIZE`).
const TAIL_BYTES: usize = 17 << 10;

/// A source that delivers a stream in pieces of any length.
pub(crate) trait Pieces: Send {
    /// The next piece, which may be empty; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<Bytes>, StoreError>> + Send;
}

impl Pieces for BytesCursor {
    async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        Ok(self.next().await?)
    }
}

/// An answer in pieces, and the last 17 KiB of what arrived.
pub(crate) struct AnswerBytes<P = BytesCursor> {
    pieces: P,
    tail: Vec<u8>,
}

impl<P: Pieces> AnswerBytes<P> {
    pub fn new(pieces: P) -> Self {
        Self { pieces, tail: Vec::new() }
    }

    /// The next piece, which may be empty; `None` at the end.
    ///
    /// # Errors
    ///
    /// If the connection breaks, or the error that the server wrote before it broke the answer off.
    pub async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
        match self.pieces.next().await {
            Ok(Some(piece)) => {
                self.append(&piece);
                Ok(Some(piece))
            }
            Err(error @ (StoreError::Unreachable(_) | StoreError::Undecodable(_))) => {
                Err(exception_in(&self.tail).map_or(error, StoreError::from))
            }
            end => end,
        }
    }

    /// Reads on after pieces that cannot be decoded: the server's error, if they were the beginning of one, or `error`.
    pub async fn explain(&mut self, error: StoreError) -> StoreError {
        let mut rest = 0;
        while rest < TAIL_BYTES {
            match self.next().await {
                Ok(Some(piece)) => rest += piece.len().max(1),
                Err(reason @ (StoreError::Refused { .. } | StoreError::NotAllowed { .. })) => return reason,
                Ok(None) | Err(_) => break,
            }
        }
        error
    }

    fn append(&mut self, piece: &[u8]) {
        let length = piece.len().min(TAIL_BYTES);
        self.tail.drain(..(self.tail.len() + length).saturating_sub(TAIL_BYTES));
        self.tail.extend_from_slice(&piece[piece.len() - length..]);
    }
}

/// The error that begins in the last bytes of an answer which broke off, perhaps without its end.
fn exception_in(tail: &[u8]) -> Option<clickhouse::error::Error> {
    let markers = tail.windows(MARKER.len()).enumerate().filter(|(_, bytes)| *bytes == MARKER.as_bytes());
    let message = markers.map(|(at, _)| &tail[at + MARKER.len()..]).find_map(message_in)?;
    Some(clickhouse::error::Error::BadResponse(message))
}

/// The message after a marker. A tag has to precede it and only text may follow it: rows may contain a marker too, for
/// example in the data of a transaction.
fn message_in(rest: &[u8]) -> Option<String> {
    let text = match std::str::from_utf8(rest) {
        Ok(text) => text,
        // Cut within a character.
        Err(cut) if cut.error_len().is_none() => std::str::from_utf8(&rest[..cut.valid_up_to()]).ok()?,
        Err(_) => return None,
    };
    let (tag, text) = text.split_once("\r\n").filter(|_| !text.contains('\0'))?;
    let is_tag = tag.len() == TAG_LENGTH && tag.bytes().all(|letter| letter.is_ascii_alphanumeric());
    let message = text.lines().next().filter(|_| is_tag)?;
    let (code, _) = message.strip_prefix("Code: ")?.split_once('.')?;
    code.parse::<i32>().ok()?;
    Some(message.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces that arrive before the connection breaks, or before the client crate drops one.
    struct BrokenConnection(Vec<Bytes>, fn() -> StoreError);

    impl Pieces for BrokenConnection {
        async fn next(&mut self) -> Result<Option<Bytes>, StoreError> {
            if self.0.is_empty() { Err((self.1)()) } else { Ok(Some(self.0.remove(0))) }
        }
    }

    const TEXT: &str = "Code: 395. DB::Exception: too far: while executing (FUNCTION_THROW) (version 26.7)\n";

    fn last_bytes() -> Vec<u8> {
        let tag = "abcdefghijklmnop";
        [&[0xff; 40_000], format!("{MARKER}{tag}\r\n{TEXT}{} {tag}{MARKER}", TEXT.len()).as_bytes()].concat()
    }

    /// The error after these pieces.
    async fn error_after(pieces: &[&[u8]]) -> StoreError {
        let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece)).collect();
        let mut answer = AnswerBytes::new(BrokenConnection(pieces, StoreError::silent));
        loop {
            match answer.next().await {
                Ok(piece) => assert!(piece.is_some(), "it breaks off"),
                Err(error) => return error,
            }
        }
    }

    #[tokio::test]
    async fn an_error_in_pieces_of_any_length_is_found() {
        let answer = last_bytes();
        let begin = 40_000 + MARKER.len() + 18 + "Code: 395.".len();
        for cut in begin..answer.len() {
            let error = error_after(&[&answer[..cut]]).await;
            assert!(matches!(error, StoreError::Refused { code: 395, .. }), "{cut}: {error}");
        }
        for length in [1, 7, 100, 30_000] {
            let error = error_after(&answer.chunks(length).collect::<Vec<_>>()).await;
            let StoreError::Refused { code: 395, message } = error else { panic!("{length}: {error}") };
            assert_eq!(message, TEXT.trim_end());
        }
        let dropped = || StoreError::Undecodable(clickhouse::error::Error::Other("message length was invalid".into()));
        let mut pieces =
            AnswerBytes::new(BrokenConnection(vec![Bytes::copy_from_slice(&answer[..begin + 9])], dropped));
        assert!(pieces.next().await.is_ok());
        let error = pieces.next().await.expect_err("it breaks off");
        assert!(matches!(error, StoreError::Refused { code: 395, .. }), "{error}");
        let error = error_after(&[&answer[..begin - 5]]).await;
        assert!(matches!(error, StoreError::Unreachable(_)), "the code is cut: {error}");
    }

    #[tokio::test]
    async fn rows_that_contain_a_marker_are_no_error() {
        let imitated = format!("{MARKER}Code: 497. DB::Exception: no tag\n");
        let error = error_after(&[&[imitated.as_bytes(), &last_bytes()].concat()]).await;
        assert!(matches!(error, StoreError::Refused { code: 395, .. }), "the second marker counts: {error}");
        let error = error_after(&[imitated.as_bytes()]).await;
        assert!(matches!(error, StoreError::Unreachable(_)), "{error}");
        let error = error_after(&[&[&last_bytes()[..], &[0, 1, 2, 3]].concat()]).await;
        assert!(matches!(error, StoreError::Unreachable(_)), "{error}");
    }
}
