//! `/api/v2/smart-contracts`: contracts that an ABI was loaded for, and how many they are.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{NoParameters, Parameters, query_parameters};
use crate::http::query::{Kind, PAGE_SIZE, ParameterGroup, Query};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::sources::compilers;
use crate::rest::cursor::Cursor;
use crate::rest::page::Page;
use crate::rest::search::typed;
use trawl_core::primitives::Address;
use trawl_core::schema::Column;
use trawl_core::store::Batch;
use trawl_json::addresses::address::Addresses;
use trawl_json::contracts::contract::{write_counters, write_listed};
use trawl_json::list::write_page;
use trawl_json::{Array, Object};
use trawl_query::contracts::list::{VerifiedContract, count, list};
use trawl_query::search::terms;

query_parameters! {
    pub(crate) ContractListParameters:
        [&[("q", Kind::Text), ("filter", ALL_LANGUAGES)], ContractCursor::PARAMETERS, PAGE_SIZE];
}

/// The languages of contracts, as clients of Blockscout's first pages of documentation write them all. Which contract
/// is of which one is not known.
const ALL_LANGUAGES: Kind = Kind::Name(&["vyper | solidity | yul", "vyper|solidity|yul"]);

/// The cursor of contracts in the order of their addresses.
struct ContractCursor(Address);

impl Cursor for ContractCursor {
    const PARAMETERS: ParameterGroup = &[("hash", Kind::Address)];

    fn read(query: &Query) -> Result<Option<Self>, Problem> {
        Ok(query.address("hash").map(Self))
    }

    fn write(&self, next: &mut Object<'_>, count: u64) {
        next.key("hash").string(&self.0.to_checksum(None));
        next.key("items_count").number(count);
    }
}

/// The contracts with an ABI, in the order of their addresses (docs/reference/http-contract.md#contracts).
pub(in crate::rest) async fn contracts(
    State(app): State<App>,
    head: RequestHead,
    query: Parameters<ContractListParameters>,
) -> Result<Response, Problem> {
    let beyond = ContractCursor::read(&query)?.map(|cursor| cursor.0);
    let (head, size) = (head.get()?, query.page_size());
    let text = Some(typed(&query)).filter(|text| !text.is_empty());
    let batches = app.reader().all(&list(text.as_deref(), beyond.as_ref(), size + 1)).await?;
    let page = Page::cut(&batches, size);
    let address = |batch: &Batch<VerifiedContract>, row: usize| Address::get(&batch.view().address, row);
    let found: Vec<Address> = page.items().into_iter().map(|(batch, row)| address(batch, row)).collect();
    let addresses = app.addresses(found.iter().copied(), &head).await?;
    let is_shown = |contract: &&Address| is_shown(&addresses, contract, text.as_deref());
    let last = page.more.then(|| page.last(address)).flatten();
    let next = last.map(|address| ContractCursor(address).writer(page.count));
    let sources = compilers(&app, &addresses, &found).await?;
    let write = |items: &mut Array<'_>| {
        let shown = found.iter().filter(is_shown);
        shown.for_each(|contract| write_listed(items.item(), contract, &addresses, sources.get(contract)));
    };
    Ok(json(write_page(write, next)))
}

/// How many contracts have an ABI.
pub(in crate::rest) async fn counters(
    State(app): State<App>,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let counted = app.reader().rows(&count()).await?;
    Ok(json(write_counters(counted.first().map_or(0, |row| row.contracts))))
}

/// Whether the contract has an ABI now, and a name of which a word begins like the text: not if either was taken back.
fn is_shown(addresses: &Addresses, contract: &Address, text: Option<&str>) -> bool {
    let has_abi = addresses.source(contract).is_some_and(|(source, _)| source == *contract);
    let is_called = |text: &str| addresses.labelled_names(contract).flat_map(terms).any(|term| term.starts_with(text));
    has_abi && text.is_none_or(is_called)
}
