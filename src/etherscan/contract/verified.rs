//! `listcontracts`: the contracts whose ABIs were loaded.

use axum::response::Response;

use super::source::abi;
use crate::error::Problem;
use crate::etherscan::answer::{NO_RECORDS, Refusal, empty_list, result};
use crate::etherscan::request::Request;
use crate::etherscan::window::PageBounds;
use crate::read::sources::compilers;
use trawl_core::primitives::Address;
use trawl_json::etherscan::write_listed_contract;
use trawl_query::contracts::list::list as verified;

/// Pages of contracts, each with its ABI.
const PAGES: PageBounds = PageBounds { usual: 10, most: 100, reach: 10_000, further: "" };

/// A page of them, in the order of their addresses.
pub(crate) async fn list(request: Request) -> Result<Response, Refusal> {
    let Request { app, head, params, .. } = &request;
    let (skip, take) = PAGES.read(params)?;
    if !params.has("filter") {
        let text = "Query parameter 'filter' must be 'verified': only contracts with an ABI are listed here";
        return Err(Refusal::Sentence(text.into()));
    }
    let found = app.reader().rows(&verified(None, None, skip + take)).await.map_err(Problem::from)?;
    let page: Vec<Address> =
        found.iter().skip(usize::try_from(skip).unwrap_or(usize::MAX)).map(|row| row.address).collect();
    let addresses = app.addresses(page.iter().copied(), head).await?;
    let sources = compilers(app, &addresses, &page).await?;
    let mut contracts = Vec::new();
    for contract in page {
        // ABIs that were taken back are read too.
        if addresses.source(&contract).is_some_and(|(source, _)| source == contract) {
            let abi = abi(app, &addresses, &contract).await?;
            contracts.extend(abi.map(|abi| (contract, abi)));
        }
    }
    if contracts.is_empty() {
        return Ok(empty_list(NO_RECORDS));
    }
    Ok(result(|writer| {
        writer.array(|list| {
            for (contract, abi) in &contracts {
                write_listed_contract(list.item(), contract, &addresses, abi, sources.get(contract));
            }
        });
    }))
}
