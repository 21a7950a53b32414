//! Metadata of a token id: what its contract says in the state after the head, as far as it stands in the URI itself.

use alloy_primitives::hex;

use crate::app::App;
use crate::error::Problem;
use crate::read::addresses::contract_calls::ContractCalls;
use trawl_core::primitives::returned::string;
use trawl_core::primitives::{Address, Bytes, U256};
use trawl_core::store::Head;
use trawl_json::tokens::id_metadata::{IdMetadata, MAX_URI_BYTES};

/// Selector of `tokenURI(uint256)` (ERC-721).
const TOKEN_URI: [u8; 4] = hex!("c87b56dd");
/// Selector of `uri(uint256)` (ERC-1155).
const URI: [u8; 4] = hex!("0e89341c");

/// The metadata of an id, by one call of its contract; `None` where state or time do not suffice, where the call
/// fails, and where the URI leads elsewhere: nothing is fetched.
///
/// # Errors
///
/// When the store fails, or too many wait for a core.
pub(crate) async fn metadata(
    app: &App,
    head: &Head,
    token: Address,
    standard: &str,
    id: U256,
) -> Result<Option<IdMetadata>, Problem> {
    let Some(calls) = ContractCalls::at_head(app, head) else { return Ok(None) };
    let is_erc1155 = standard == "ERC-1155";
    let selector = if is_erc1155 { URI } else { TOKEN_URI };
    let input: Bytes = [&selector[..], &id.to_be_bytes::<32>()].concat().into();
    let answer = match calls.answer(token, input).await {
        Err(Problem::StateMissing(_) | Problem::RulesUnknown(_) | Problem::CallTooLong) => None,
        answer => answer?,
    };
    let uri = answer.and_then(|answer| string(&answer, MAX_URI_BYTES));
    Ok(uri.and_then(|uri| IdMetadata::of_uri(&uri, is_erc1155.then_some(id))))
}
