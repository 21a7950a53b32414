//! `/api/v2/proxy/account-abstraction/accounts/{address_hash}` and `…/paymasters/{address_hash}`.

use axum::extract::State;
use axum::response::Response;

use crate::app::App;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::user_operations::{count, entry_points, events};
use trawl_core::primitives::B256;
use trawl_core::primitives::user_operation::{ACCOUNT_DEPLOYED, OPERATION, account_factory};
use trawl_core::readable::Span;
use trawl_core::schema::LogRow;
use trawl_json::JsonWriter;
use trawl_json::transactions::user_operations::{Wallet, WalletCreation, write_paymaster};
use trawl_query::user_operations::{EventKey, EventPage};

fn page<'b>(app: &App, blocks: &'b Span, event: B256, key: EventKey) -> EventPage<'b> {
    let (entry_points, keys) = (entry_points(app, None), vec![key]);
    EventPage { entry_points, event, keys, transaction_index: None, blocks, before: None, limit: 1 }
}

/// A wallet that operations act for (docs/reference/http-contract.md#user-operations).
pub(super) async fn wallet(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let blocks = head.receipts.span();
    let of = |event: B256| page(&app, &blocks, event, EventKey::Sender(address));
    let (operations, made) =
        tokio::try_join!(count(&app, &head, of(OPERATION)), events::<LogRow>(&app, &head, of(ACCOUNT_DEPLOYED)))?;
    let creation = made.first().map(|log| WalletCreation {
        factory: account_factory(&log.data),
        transaction_hash: log.transaction_hash,
        operation_hash: log.topic1,
        timestamp: log.block_timestamp,
    });
    if operations == Some(0) && creation.is_none() {
        return Err(Problem::NotFound);
    }
    let factory = creation.as_ref().and_then(|made| made.factory);
    let addresses = app.addresses([address].into_iter().chain(factory), &head).await?;
    let mut writer = JsonWriter::new();
    Wallet { address, creation, operations }.write(&mut writer, &addresses);
    Ok(json(writer.into_bytes()))
}

/// Who pays for operations (docs/reference/http-contract.md#user-operations).
pub(super) async fn paymaster(
    State(app): State<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let blocks = head.receipts.span();
    let paid = count(&app, &head, page(&app, &blocks, OPERATION, EventKey::Paymaster(address))).await?;
    if paid == Some(0) {
        return Err(Problem::NotFound);
    }
    let addresses = app.addresses([address], &head).await?;
    let mut writer = JsonWriter::new();
    write_paymaster(&mut writer, &address, paid, &addresses);
    Ok(json(writer.into_bytes()))
}
