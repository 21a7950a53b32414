//! The context of one call: the application, the head of its request, and its parameters.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::params::invalid;
use crate::app::App;
use crate::error::Problem;
use trawl_core::store::Head;

/// The head of a request, taken once, or the reason why there is none.
pub(super) type TakenHead = Result<Arc<Head>, Problem>;

/// The context of one call. All calls of a batch have the same head.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    /// The state that all requests share.
    pub app: &'c App,
    /// The method's name.
    pub method: &'c str,
    /// Its parameters.
    pub params: &'c [&'c RawValue],
    head: &'c TakenHead,
}

impl<'c> Context<'c> {
    /// The context of a call of `method`.
    pub fn new(app: &'c App, head: &'c TakenHead, method: &'c str, params: &'c [&'c RawValue]) -> Self {
        Self { app, method, params, head }
    }

    /// The head of the request.
    ///
    /// # Errors
    ///
    /// [`Problem::NotReady`] while no head is known.
    pub fn head(&self) -> Result<&'c Arc<Head>, Problem> {
        self.head.as_ref().map_err(Clone::clone)
    }

    /// The parameters of a method that takes exactly `N`.
    ///
    /// # Errors
    ///
    /// When there are more or fewer.
    pub fn exactly<const N: usize>(&self) -> Result<[&'c RawValue; N], Problem> {
        exactly(self.params)
    }

    /// The parameters of a method that takes `N`, the last of which is optional.
    ///
    /// # Errors
    ///
    /// When there are more or fewer.
    pub fn with_optional<const N: usize>(&self) -> Result<[Option<&'c RawValue>; N], Problem> {
        if self.params.len() > N || self.params.len() + 1 < N {
            return Err(wrong_count());
        }
        let mut all = [None; N];
        all.iter_mut().zip(self.params).for_each(|(place, param)| *place = Some(*param));
        Ok(all)
    }
}

/// The parameters of a method that takes exactly `N`.
///
/// # Errors
///
/// When there are more or fewer.
pub(super) fn exactly<'a, const N: usize>(params: &[&'a RawValue]) -> Result<[&'a RawValue; N], Problem> {
    params.try_into().map_err(|_| wrong_count())
}

/// A parameter from [`Context::with_optional`] that is not the optional one.
///
/// # Errors
///
/// When it is missing.
pub(super) fn required(param: Option<&RawValue>) -> Result<&RawValue, Problem> {
    param.ok_or_else(wrong_count)
}

/// The error for more or fewer parameters than the method takes.
pub(super) fn wrong_count() -> Problem {
    invalid("Incorrect number of params")
}
