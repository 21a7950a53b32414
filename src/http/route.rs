//! Routes to handlers.

use std::pin::Pin;

use axum::extract::{FromRequest, FromRequestParts};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodRouter};

/// An answer that is being made.
type ResponseFuture = Pin<Box<dyn Future<Output = Response> + Send>>;

/// A handler behind one type: the compiler looks through the future of a handler, which is as deep as its calls, at
/// each layer that axum puts around it. That was half of the time in which this crate is compiled.
pub(crate) trait GetHandler<State, Arguments> {
    /// The route that answers GET by it.
    fn get(self) -> MethodRouter<State>;
}

/// Answers GET by `handler`.
pub(crate) fn get<State, Arguments>(handler: impl GetHandler<State, Arguments>) -> MethodRouter<State> {
    handler.get()
}

macro_rules! get_handler {
    ($($argument:ident: $value:ident),*) => {
        impl<F, Answer, State, $($argument,)* Last, Via> GetHandler<State, (Via, $($argument,)* Last)> for F
        where
            F: Fn($($argument,)* Last) -> Answer + Clone + Send + Sync + 'static,
            State: Clone + Send + Sync + 'static,
            Answer: Future<Output: IntoResponse> + Send + 'static,
            $($argument: FromRequestParts<State> + Send + 'static,)*
            Last: FromRequest<State, Via> + Send + 'static,
            Via: 'static,
        {
            fn get(self) -> MethodRouter<State> {
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
