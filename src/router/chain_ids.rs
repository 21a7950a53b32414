//! The endpoint of Etherscan's version 2, where the parameter `chainid` selects one of several chains.

use axum::body::Body;
use axum::extract::{FromRequestParts, Request};
use axum::http::Method;
use axum::response::{IntoResponse, Response};

use super::chains::{ChainService, Chains};
use crate::error::Problem;
use crate::etherscan;
use crate::http::request_body;
use crate::limits::MemoryReservation;
use crate::middleware::requester::Requester;

/// Why a request selects no chain.
#[derive(Debug, Clone)]
pub(super) enum NoChain {
    /// It names none, or one that is not here: the sentence says which are.
    Unnamed(String),
    /// The service cannot tell.
    Problem(Problem),
}

impl NoChain {
    /// The answer that a client gets.
    pub fn respond(self) -> Response {
        match self {
            Self::Unnamed(sentence) => etherscan::refuse(sentence),
            Self::Problem(problem) => problem.into_response(),
        }
    }
}

/// Whether requests to a path name their chain by its id.
pub(super) fn names_chain(path: &str) -> bool {
    matches!(path, "/api" | "/v2/api")
}

/// The chain that a request names in its query, else in its form, which is in memory then as long as what is returned.
pub(super) async fn read<'chains>(
    chains: &'chains Chains,
    request: &mut Request,
) -> Result<(&'chains ChainService, Option<MemoryReservation>), NoChain> {
    let of_query = etherscan::chain_id(request.uri().query().unwrap_or_default().as_bytes());
    if of_query.is_some() || request.method() != Method::POST {
        return Ok((find(chains, of_query)?, None));
    }
    // Until its chain is known it counts for the first one.
    let Some(first) = chains.services.first() else { return Err(NoChain::Problem(Problem::Internal)) };
    let (mut parts, unread) = std::mem::take(request).into_parts();
    let Ok(Requester(client)) = Requester::from_request_parts(&mut parts, first.rpc()).await;
    let (limits, most) = (first.app().limits(), first.app().options().max_body);
    let received = request_body::read(&limits.bodies, client, &parts.headers, unread, most).await;
    let received = match received {
        Ok(received) => received,
        Err(problem) => {
            *request = Request::from_parts(parts, Body::empty());
            return Err(NoChain::Problem(problem));
        }
    };
    let found = find(chains, etherscan::chain_id(&received.text));
    *request = Request::from_parts(parts, Body::from(received.text));
    Ok((found?, Some(received.held)))
}

/// The chain of an id; of several the first.
fn find(chains: &Chains, id: Option<String>) -> Result<&ChainService, NoChain> {
    let number = id.as_deref().and_then(|id| id.parse::<u64>().ok());
    let found = number.and_then(|number| chains.services.iter().find(|service| service.id() == Some(number)));
    let is_known = chains.services.iter().all(|service| service.id().is_some());
    match found {
        Some(service) => Ok(service),
        // It may be that of a chain whose database has not answered.
        None if number.is_some() && !is_known => Err(NoChain::Problem(Problem::NotReady)),
        None => Err(NoChain::Unnamed(sentence(chains))),
    }
}

fn sentence(chains: &Chains) -> String {
    let one = |service: &ChainService| match service.id() {
        Some(id) => format!("{id} ({})", service.name()),
        None => format!("{} (its id is not known yet)", service.name()),
    };
    let ids: Vec<String> = chains.services.iter().map(one).collect();
    format!("Missing or unsupported chainid parameter: this server has {}", ids.join(", "))
}
