//! `/api/v2/addresses/{address}`.

use axum::extract::State as AppState;
use axum::response::Response;
use revm::primitives::KECCAK_EMPTY;

use super::mined_blocks;
use crate::app::App;
use crate::enrich::labels::LabelQuery;
use crate::error::Problem;
use crate::http::parameters::{AddressPath, NoParameters, Parameters};
use crate::http::whole_body::json;
use crate::middleware::request_head::RequestHead;
use crate::read::completeness::is_complete;
use crate::read::state::State;
use crate::read::tokens::held_tokens::first_tokens;
use crate::read::tokens::token::known;
use trawl_core::primitives::Address;
use trawl_core::readable::Readable;
use trawl_core::schema::Columns;
use trawl_core::statement::Statement;
use trawl_core::store::Head;
use trawl_evm::Account;
use trawl_json::JsonWriter;
use trawl_json::addresses::page::AddressPage;
use trawl_json::tokens::transfers::Tokens;
use trawl_query::addresses::page as plan;
use trawl_query::addresses::page::Creation;

/// One address, even one that is in no block (docs/reference/http-contract.md#address-pages).
pub(in crate::rest) async fn address_page(
    AppState(app): AppState<App>,
    head: RequestHead,
    AddressPath(address): AddressPath,
    _: Parameters<NoParameters>,
) -> Result<Response, Problem> {
    let head = head.get()?;
    let (account, creation) = tokio::try_join!(account(&app, &head, &address), creation(&app, &head, &address))?;
    let creator = creation.as_ref().filter(|creation| creation.creation_type != "genesis");
    let mut label_query = LabelQuery::default();
    label_query.tokens.insert(address);
    label_query.proxies.insert(address);
    label_query.names.insert(address);
    let shown = [address].into_iter().chain(creator.map(|creation| creation.creator));
    let (info, activity) =
        tokio::try_join!(app.address_info(shown, label_query, &head), AddressActivity::read(&app, &head, &address))?;
    let (addresses, mut tokens, _) = info;
    let has_code = account.map(|account| account.code_hash != KECCAK_EMPTY);
    let shows_code = [activity.logs, activity.frames_of_code].contains(&Some(true));
    let known = addresses.has_code(&address).or(shows_code.then_some(true));
    if has_code == Some(true) && !tokens.metadata.contains_key(&address) {
        tokens = as_token(&app, &head, &address).await?.unwrap_or(tokens);
    }
    let creation_status = status(&app, &head, &address, creation.as_ref(), has_code).await?;
    let page = AddressPage {
        is_contract: is_contract(has_code, known),
        balance: account.and_then(|account| Some((account.balance, head.number()?))),
        creator: creator.map(|creation| creation.creator),
        creation_transaction: creator.map(|creation| creation.transaction_hash),
        creation_status,
        has_logs: activity.logs,
        has_tokens: activity.holds_tokens,
        has_token_transfers: activity.token_transfers,
        has_withdrawals: activity.withdrawals,
        has_validated_blocks: activity.validated_blocks,
        coin_price: app.options().prices.of(&Address::ZERO).and_then(|coin| coin.exchange_rate),
    };
    let mut writer = JsonWriter::new();
    page.write(&mut writer, &address, &addresses, &tokens);
    Ok(json(writer.into_bytes()))
}

/// Token facts of a contract with token transfers that has no row in `tokens`: the answers of its own methods in the
/// state after the head. `None` for other contracts.
async fn as_token(app: &App, head: &Head, address: &Address) -> Result<Option<Tokens>, Problem> {
    match known(app, head, address).await {
        Ok((tokens, standard)) => Ok((!standard.is_empty()).then_some(tokens)),
        Err(Problem::NotFound) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The account after the head; `None` where its state is not known.
pub(in crate::rest) async fn account(
    app: &App,
    head: &std::sync::Arc<Head>,
    address: &Address,
) -> Result<Option<Account>, Problem> {
    let Some(number) = head.number() else { return Ok(None) };
    match State::after(app, number, head).await {
        Ok(state) => Ok(Some(state.account(*address).await?)),
        Err(Problem::StateMissing(_)) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// The newest creation of the contract.
pub(in crate::rest) async fn creation(app: &App, head: &Head, address: &Address) -> Result<Option<Creation>, Problem> {
    let found = app.reader().rows(&plan::creation(address, &head.blocks.span())).await?;
    Ok(found.into_iter().next())
}

/// Whether an address is a contract: it has code now, or other facts say so. An account without code now may have had
/// some before the first loaded block, but not where the state is known: that begins at genesis.
pub(in crate::rest) fn is_contract(has_code: Option<bool>, known: Option<bool>) -> Option<bool> {
    if has_code == Some(true) { has_code } else { known.or(has_code) }
}

/// The status of the newest creation of a contract, if there is one and it is known whether there is code now. A
/// constructor may leave no code, or destroy its contract.
pub(in crate::rest) async fn status(
    app: &App,
    head: &Head,
    address: &Address,
    creation: Option<&Creation>,
    has_code: Option<bool>,
) -> Result<Option<&'static str>, Problem> {
    let (Some(creation), Some(has_code)) = (creation, has_code) else { return Ok(None) };
    match (has_code, creation.code_size) {
        (true, _) => Ok(Some("success")),
        (false, Some(0)) => {
            let block = head.traces.at(creation.block_number);
            let destruction = plan::destruction(address, &block, creation.transaction_index);
            let is_destroyed = !app.reader().rows(&destruction).await?.is_empty();
            Ok(Some(if is_destroyed { "selfdestructed" } else { "success" }))
        }
        (false, Some(_)) => Ok(Some("selfdestructed")),
        (false, None) => Ok(None),
    }
}

/// Which kinds of rows an address has.
struct AddressActivity {
    logs: Option<bool>,
    frames_of_code: Option<bool>,
    token_transfers: Option<bool>,
    holds_tokens: Option<bool>,
    withdrawals: Option<bool>,
    validated_blocks: Option<bool>,
}

impl AddressActivity {
    async fn read(app: &App, head: &Head, address: &Address) -> Result<Self, Problem> {
        let (receipts, traces) = (head.receipts.span(), head.traces.span());
        let withdrawals = head.withdrawals.span();
        let (logs, frames_of_code, token_transfers, receipts_of_tokens, withdrawals, held, made) = tokio::try_join!(
            exists(app, head, &head.receipts, plan::logs(address, &receipts, 1)),
            exists(app, head, &head.traces, plan::frame_of_code(address, &traces)),
            exists(app, head, &head.receipts, plan::token_transfer(address, &receipts)),
            exists(app, head, &head.receipts, plan::token_receipt(address, &receipts)),
            exists(
                app,
                head,
                &head.withdrawals,
                trawl_query::blocks::withdrawals::of_address(address, &withdrawals, None, 1)
            ),
            first_tokens(app, head, address, 1),
            mined_blocks::count(app, head, address, 1)
        )?;
        // An address that received none holds none. Without a value, it is unknown whether any of a token is left.
        let holds = held.and_then(|held| match held.first() {
            Some(balance) => balance.value.map(|_| true),
            None => Some(false),
        });
        let holds_tokens = receipts_of_tokens.filter(|received| !received).or(holds);
        let validated_blocks = made.map(|blocks| blocks > 0);
        Ok(Self { logs, frames_of_code, token_transfers, holds_tokens, withdrawals, validated_blocks })
    }
}

/// Whether the statement finds a row; unknown if it finds none while some blocks of its `part` are not readable.
async fn exists<R: Columns>(
    app: &App,
    head: &Head,
    part: &Readable,
    statement: Statement<R>,
) -> Result<Option<bool>, Problem> {
    if !app.reader().rows(&statement).await?.is_empty() {
        return Ok(Some(true));
    }
    Ok(is_complete(head, part).then_some(false))
}
