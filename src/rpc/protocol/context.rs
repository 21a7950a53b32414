//! The context of one call: the application, the head of its request, and its parameters.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use super::endpoint::{Endpoint, RpcRequester};
use super::params::{invalid, value};
use super::trace_option::TraceOption;
use crate::app::App;
use crate::error::Problem;
use crate::rpc::service::Rpc;
use trawl_core::primitives::BlockRange;
use trawl_core::store::Head;
use trawl_serve::Client;

/// How old the head of a request may be when one of its calls begins. `follow` keeps the rows of blocks that are not
/// settled for two minutes after a head stopped naming them, and a call ends well before the rest of that.
const MAX_HEAD_AGE: Duration = Duration::from_secs(60);

/// The head of a request, taken once for all of its calls, or the reason why there is none.
pub(crate) struct HeadSnapshot {
    head: Result<Arc<Head>, Problem>,
    since: Instant,
}

impl HeadSnapshot {
    /// The head as of now.
    pub fn of(app: &App) -> Self {
        Self { head: app.head(), since: Instant::now() }
    }

    /// Refused once it is too old: the rows that it names may be gone, and a newer head may be of another branch.
    fn get(&self) -> Result<&Arc<Head>, Problem> {
        match &self.head {
            Ok(_) if self.since.elapsed() > MAX_HEAD_AGE => Err(Problem::ViewExpired),
            head => head.as_ref().map_err(Clone::clone),
        }
    }
}

/// What all calls of a request share.
#[derive(Clone, Copy)]
pub(crate) struct RequestContext<'c> {
    /// The state of the endpoints.
    pub rpc: &'c Rpc,
    /// The view of the chain that the request is answered from, taken once.
    pub head: &'c HeadSnapshot,
    /// Who sent it, and to which endpoint.
    pub requester: RpcRequester,
}

/// The context of one call. All calls of a batch have the same head.
#[derive(Clone, Copy)]
pub(crate) struct Context<'c> {
    /// The state of the endpoints.
    pub rpc: &'c Rpc,
    /// The state that all requests share.
    pub app: &'c App,
    /// The endpoint, whose rules hold.
    pub endpoint: Endpoint,
    /// The client, whose limits apply.
    pub client: Client,
    /// The method's name.
    pub method: &'c str,
    /// Parameters by position, each as JSON text.
    pub params: &'c [&'c RawValue],
    head: &'c HeadSnapshot,
}

impl<'c> Context<'c> {
    /// The context of a call of `method`.
    pub fn new(request: RequestContext<'c>, method: &'c str, params: &'c [&'c RawValue]) -> Self {
        let RequestContext { rpc, head, requester: RpcRequester { endpoint, client } } = request;
        Self { rpc, app: rpc.app(), endpoint, client, method, params, head }
    }

    /// The head of the request.
    ///
    /// # Errors
    ///
    /// [`Problem::NotReady`] while no head is known, [`Problem::ViewExpired`] late in a batch that takes too long.
    pub fn head(&self) -> Result<&'c Arc<Head>, Problem> {
        self.head.get()
    }

    /// Checks the range of blocks of a query that names none of its `selectors`.
    ///
    /// # Errors
    ///
    /// When there are more than `--max-unfiltered-blocks`.
    pub fn check_width(&self, range: BlockRange, selectors: &'static str) -> Result<(), Problem> {
        let limit = self.app.options().max_unfiltered_blocks;
        if range.count() <= limit {
            return Ok(());
        }
        Err(match self.endpoint {
            Endpoint::Specification => invalid(&format!("Must supply one of {selectors}")),
            Endpoint::Node => {
                let last = range.first().saturating_add(limit.saturating_sub(1)).min(range.last());
                let fitting = BlockRange::new(range.first(), last).unwrap_or(range);
                Problem::TooManyBlocks { selectors, limit, fitting }
            }
        })
    }

    /// The parameters of a method that takes exactly `N`. A node passes over those of a method that takes none: hevm
    /// names a block with `eth_chainId`.
    ///
    /// # Errors
    ///
    /// When there are more or fewer.
    pub fn exactly<const N: usize>(&self) -> Result<[&'c RawValue; N], Problem> {
        match (self.endpoint, N) {
            (Endpoint::Node, 0) => exactly(&[]),
            _ => exactly(self.params),
        }
    }

    /// The call without what Erigon lets follow the `own` parameters of its `trace_` methods, which has no effect here.
    ///
    /// # Errors
    ///
    /// When more follow, or one of them would change the answer.
    pub fn without_options(self, own: usize, options: &[TraceOption]) -> Result<Self, Problem> {
        let Some(given) = self.params.get(own..) else { return Ok(self) };
        if given.len() > options.len() {
            return Err(wrong_count());
        }
        given.iter().zip(options).try_for_each(|(param, option)| option.check(&value(param)))?;
        Ok(Self { params: &self.params[..own], ..self })
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
        all.iter_mut().zip(self.params).for_each(|(position, param)| *position = Some(*param));
        Ok(all)
    }
}

/// The parameters of a method that takes exactly `N`.
///
/// # Errors
///
/// When there are more or fewer.
pub(crate) fn exactly<'a, const N: usize>(params: &[&'a RawValue]) -> Result<[&'a RawValue; N], Problem> {
    params.try_into().map_err(|_| wrong_count())
}

/// A parameter from [`Context::with_optional`] that is not the optional one.
///
/// # Errors
///
/// When it is missing.
pub(crate) fn required(param: Option<&RawValue>) -> Result<&RawValue, Problem> {
    param.ok_or_else(wrong_count)
}

/// The error for more or fewer parameters than the method takes.
pub(crate) fn wrong_count() -> Problem {
    invalid("Incorrect number of params")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_expires_before_its_rows_do() {
        let taken = |age: Duration| HeadSnapshot { head: Ok(Arc::default()), since: Instant::now() - age };
        assert!(taken(Duration::ZERO).get().is_ok());
        assert_eq!(taken(MAX_HEAD_AGE + Duration::from_secs(1)).get().err(), Some(Problem::ViewExpired));
        let none = HeadSnapshot { head: Err(Problem::NotReady), since: Instant::now() - 2 * MAX_HEAD_AGE };
        assert_eq!(none.get().err(), Some(Problem::NotReady));
    }
}
