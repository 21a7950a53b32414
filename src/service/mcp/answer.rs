//! What a route answers, as the text that a model reads: cut where it is too long for one.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::http::request::Parts;
use futures_util::StreamExt as _;
use tower::ServiceExt as _;

/// Longest answer, in bytes: some 20,000 tokens of a model.
const MAX_ANSWER: usize = 60_000;

/// The text that a route answers; of an error its text too, as `Err`. `outer` is the request that the tool was called
/// by: who sent it counts for the limits.
pub(super) async fn of_route(
    routes: Router,
    mut request: Request<Body>,
    outer: Option<&Parts>,
) -> Result<String, String> {
    if let Some(outer) = outer {
        *request.extensions_mut() = outer.extensions.clone();
        *request.headers_mut() = outer.headers.clone();
        for name in OF_THE_MESSAGE {
            request.headers_mut().remove(name);
        }
    }
    let Ok(response) = routes.oneshot(request).await;
    let is_success = response.status().is_success();
    let text = cut(response.into_body()).await?;
    if is_success { Ok(text) } else { Err(text) }
}

/// Headers that say something of the message around the call alone.
const OF_THE_MESSAGE: [&str; 8] = [
    "accept",
    "accept-encoding",
    "content-length",
    "content-type",
    "if-none-match",
    "range",
    "transfer-encoding",
    "upgrade",
];

/// At most [`MAX_ANSWER`] bytes of a body, and a sentence where there are more; the rest is not made. A body that
/// breaks off is an error: its beginning would look like all of it.
async fn cut(body: Body) -> Result<String, String> {
    let (mut bytes, mut body) = (Vec::new(), body.into_data_stream());
    while let Some(part) = body.next().await {
        let part = part.map_err(|_| "The answer is incomplete: the database failed while it was read. Try again.")?;
        bytes.extend_from_slice(&part);
        if bytes.len() > MAX_ANSWER {
            bytes.truncate(MAX_ANSWER);
            let text = String::from_utf8_lossy(&bytes);
            return Ok(format!(
                "{}\n[Cut here: the answer is longer than {MAX_ANSWER} bytes. Ask for fewer items with `limit` (in SQL \
                 `LIMIT`), or for a part of it.]",
                text.trim_end_matches('\u{fffd}')
            ));
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use futures_util::stream;

    use super::*;

    #[tokio::test]
    async fn an_endless_answer_is_cut_at_a_character() {
        let endless = stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from("€".repeat(1_000))));
        let text = cut(Body::from_stream(endless)).await.expect("its beginning");
        let (head, sentence) = text.split_once("\n[Cut here").expect("a sentence");
        assert!(head.len() > MAX_ANSWER - 4 && head.len() <= MAX_ANSWER && head.chars().all(|one| one == '€'));
        assert!(sentence.contains("`limit`"));
        assert_eq!(cut(Body::from("short")).await.as_deref(), Ok("short"));
    }

    #[tokio::test]
    async fn an_answer_that_breaks_off_is_no_answer() {
        let parts = [Ok(Bytes::from("[1,")), Err(std::io::Error::other("the store is gone"))];
        let error = cut(Body::from_stream(stream::iter(parts))).await.expect_err("half of it");
        assert!(error.contains("is incomplete"), "{error}");
    }
}
