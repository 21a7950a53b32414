//! Routes to handlers.

use std::pin::Pin;

use axum::extract::{FromRequest, FromRequestParts};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};

use crate::app::App;

/// An answer that is being made.
type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler behind one type: the compiler looks through the future of a handler, which is as deep as its calls, at each
/// layer that axum puts around it. That was half of the time in which this crate is compiled.
pub(crate) trait GetHandler<Arguments> {
    /// The route that answers GET by it.
    fn get(self) -> MethodRouter<App>;
}

/// Answers GET by `handler`.
pub(crate) fn get<Arguments>(handler: impl GetHandler<Arguments>) -> MethodRouter<App> {
    handler.get()
}

macro_rules! get_handler {
    ($($argument:ident: $value:ident),*) => {
        impl<F, Answer, $($argument,)* Last, Via> GetHandler<(Via, $($argument,)* Last)> for F
        where
            F: Fn($($argument,)* Last) -> Answer + Clone + Send + Sync + 'static,
            Answer: Future<Output: IntoResponse> + Send + 'static,
            $($argument: FromRequestParts<App> + Send + 'static,)*
            Last: FromRequest<App, Via> + Send + 'static,
            Via: 'static,
        {
            fn get(self) -> MethodRouter<App> {
                routing::get(move |$($value: $argument,)* last: Last| -> ResponseFuture {
                    let answer = self($($value,)* last);
                    Box::pin(async move { answer.await.into_response() })
                })
            }
        }
    };
}

get_handler!();
get_handler!(A: a);
get_handler!(A: a, B: b);
get_handler!(A: a, B: b, C: c);
get_handler!(A: a, B: b, C: c, D: d);
