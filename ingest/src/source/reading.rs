//! Files are read on a thread of their own, ahead of the later stages.

use futures_util::{Stream, StreamExt, stream};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::SourceError;

/// Where a reader puts what it read; closed once its receiver is gone.
pub(super) type Sender<T> = mpsc::Sender<Result<T, SourceError>>;

/// What `read` sends, `ahead` items of it at most before they are taken; then why it ended, if not at its end. A reader
/// that panics ends with an error too: half of a file is not all of it.
pub(super) fn reading<T: Send + 'static>(
    ahead: usize,
    read: impl FnOnce(&Sender<T>) -> Result<(), SourceError> + Send + 'static,
) -> impl Stream<Item = Result<T, SourceError>> + Send {
    let (sender, receiver) = mpsc::channel(ahead);
    let reader = tokio::task::spawn_blocking(move || read(&sender));
    let ended = stream::once(reader).filter_map(async |ended| match ended {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(Err(error)),
        Err(panic) => Some(Err(SourceError::Reader { cause: panic.to_string() })),
    });
    ReceiverStream::new(receiver).chain(ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_reader_that_panics_or_fails_does_not_end_like_one_that_is_through() {
        async fn read(end: fn() -> Result<(), SourceError>) -> Vec<Result<u8, String>> {
            let items = reading(1, move |sender| {
                sender.blocking_send(Ok(7)).expect("the receiver is there");
                end()
            });
            items.map(|item| item.map_err(|error| error.to_string())).collect().await
        }
        assert_eq!(read(|| Ok(())).await, [Ok(7)]);
        let failed = read(|| Err(SourceError::Reader { cause: "the disk is gone".into() })).await;
        assert_eq!(failed[1..], [Err("reading ended: the disk is gone".into())]);
        let panicked = read(|| panic!("a fault of ours")).await;
        assert!(panicked[1].as_ref().is_err_and(|error| error.contains("panicked")), "{panicked:?}");
    }
}
