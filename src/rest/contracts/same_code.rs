//! `/api/v2/smart-contracts/{address}/same-code`: who created contracts of the code that this one has, and when.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use revm::primitives::KECCAK_EMPTY;

use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::is_complete;
use crate::rest::addresses::page::{account, creation};
use trawl_core::primitives::{Address, B256};
use trawl_core::schema::BlockPart;
use trawl_core::store::Head;
use trawl_json::contracts::same_code::{Creator, SameCode};
use trawl_query::stats::charts::same_code::{CreatorSum, MAX_CREATIONS, newest, size, sums};
use trawl_query::stats::charts::{MAX_GROUPS, MAX_NEWEST};

/// Creators of an answer, at most.
const MAX_CONTRACTS: usize = 50;

/// Who created contracts of the same code (docs/reference/http-contract.md#same-code).
pub(in crate::rest) async fn same_code(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let code_hash = code_hash(&app, &head, &address).await?;
    let found = app.reader().rows(&size()).await?.first().map_or(0, |size| size.found);
    if found > MAX_CREATIONS {
        let detail = format!(
            "Contracts of the same code are searched among at most {MAX_CREATIONS} creations, but there are {found}"
        );
        return Err(Problem::invalid_parameter("address_hash", detail));
    }
    let mut most = creators(&app, &head, &code_hash).await?;
    let (creations, creators) = (most.iter().map(|one| one.creations).sum(), most.len() as u64);
    // Those of as many creations stay in the order of their addresses.
    most.sort_by_key(|one| Reverse(one.creations));
    most.truncate(MAX_CONTRACTS);
    let shown = most.iter().map(|one| one.address);
    let (addresses, ..) = app.address_info(shown, LabelQuery::default(), &head).await?;
    let is_complete = is_complete(&head, &head.blocks) && is_complete(&head, &head.traces);
    Ok(json(SameCode { code_hash, creations, creators, most, is_complete }.write(&addresses)))
}

/// The hash of the code of a contract: that it has now, else that it was created with.
///
/// # Errors
///
/// 404 where there is no contract, or its code is not known.
async fn code_hash(app: &App, head: &Arc<Head>, address: &Address) -> Result<B256, Problem> {
    let (account, creation) = tokio::try_join!(account(app, head, address), creation(app, head, address))?;
    let now = account.map(|account| account.code_hash).filter(|hash| *hash != KECCAK_EMPTY);
    let known = now.or(creation.as_ref().and_then(|creation| creation.code_hash));
    match (known, creation) {
        (Some(hash), _) => Ok(hash),
        (None, Some(creation)) => Err(Problem::PartMissing { part: BlockPart::Traces, block: creation.block_number }),
        (None, None) => Err(Problem::NotFound),
    }
}

/// All who created contracts of a code, in the order of their addresses.
async fn creators(app: &App, head: &Head, code_hash: &B256) -> Result<Vec<Creator>, Problem> {
    let span = head.blocks.span();
    let (settled, recent) = (sums(code_hash, &span.settled), newest(&span.without_settled()));
    let (settled, recent) =
        tokio::try_join!(app.values_of(head, &settled), async { Ok(app.reader().rows(&recent).await?) })?;
    if settled.len() as u64 >= MAX_GROUPS || recent.len() as u64 >= MAX_NEWEST {
        let detail = format!("More than {MAX_GROUPS} accounts created contracts of this code");
        return Err(Problem::invalid_parameter("address_hash", detail));
    }
    let mut found: BTreeMap<Address, Creator> = settled.iter().map(|row| (row.creator, creator(row))).collect();
    for row in recent.iter().filter(|row| row.code_hash == Some(*code_hash)) {
        let position = (row.block_number, row.block_timestamp);
        let one = found.entry(row.creator).or_insert(Creator {
            address: row.creator,
            creations: 0,
            first: position,
            last: position,
        });
        one.creations += 1;
        one.last = one.last.max(position);
    }
    Ok(found.into_values().collect())
}

fn creator(row: &CreatorSum) -> Creator {
    Creator {
        address: row.creator,
        creations: row.creations,
        first: (row.first_block, row.first_at),
        last: (row.last_block, row.last_at),
    }
}
