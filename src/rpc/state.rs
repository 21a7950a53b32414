//! Reads of state: `eth_getBalance`, `eth_getTransactionCount`, `eth_getCode`, `eth_getStorageAt`,
//! `eth_getAccountInfo`.

pub(crate) mod proofs;
pub(crate) mod storage_range;
pub(crate) mod storage_values;

use serde_json::Value;
use serde_json::value::RawValue;

use super::protocol::answer::Answer;
use super::protocol::context::{Context, required};
use super::protocol::endpoint::Endpoint;
use super::protocol::params::{BlockId, block_id, value};
use crate::app::App;
use crate::error::Problem;
use crate::http::values::{BlockName, address, invalid};
use crate::read::state::State;
use trawl_core::primitives::{B256, BlockNumber, Bytes};
use trawl_core::store::Head;
use trawl_evm::{Key, StateValue};

/// The balance of an account after a block, in wei.
pub(super) async fn balance(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, block] = call.with_optional()?;
    let address = address(&value(required(account)?)).ok_or_else(|| invalid("Query parameter 'address' is invalid"))?;
    let block = block_or_number(block).ok_or_else(|| invalid("Query parameter 'block' is invalid"))?;
    let (app, head) = (call.app, call.head()?);
    let number = match height(block, app, head).await {
        Err(Problem::BlockNotFound) if call.endpoint == Endpoint::Specification => {
            return Err(invalid("Balance not found"));
        }
        number => number?,
    };
    let account = State::after(app, number, head).await?.account(address).await?;
    Ok(Answer::of(|writer| writer.quantity_256(account.balance)))
}

/// The nonce of an account after a block.
pub(super) async fn nonce(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, block] = call.with_optional()?;
    let address = address(&value(required(account)?)).ok_or_else(|| invalid("Invalid address"))?;
    let account = state_after(call, block).await?.account(address).await?;
    Ok(Answer::of(|writer| writer.quantity(account.nonce)))
}

/// The code of an account after a block.
pub(super) async fn code(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, block] = call.with_optional()?;
    let address = address(&value(required(account)?)).ok_or_else(|| invalid("Invalid address"))?;
    let state = state_after(call, block).await?;
    let code = code_of(&state, state.account(address).await?.code_hash).await?;
    Ok(Answer::of(|writer| writer.hex(&code)))
}

/// Balance, nonce and code of an account after a block.
pub(super) async fn account_info(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, block] = call.with_optional()?;
    let address = address(&value(required(account)?)).ok_or_else(|| invalid("Invalid address"))?;
    let state = state_after(call, block).await?;
    let account = state.account(address).await?;
    let code = code_of(&state, account.code_hash).await?;
    Ok(Answer::of(|writer| {
        writer.object(|object| {
            object.key("balance").quantity_256(account.balance);
            object.key("nonce").quantity(account.nonce);
            object.key("code").hex(&code);
        });
    }))
}

/// The code with a hash.
async fn code_of(state: &State, hash: B256) -> Result<Bytes, Problem> {
    if hash == revm::primitives::KECCAK_EMPTY {
        return Ok(Bytes::new());
    }
    match state.value(Key::Code(hash)).await? {
        StateValue::Code(code) => Ok(code.original_bytes()),
        _ => Err(Problem::Internal),
    }
}

/// The value of a storage slot of an account after a block.
pub(super) async fn storage(call: Context<'_>) -> Result<Answer, Problem> {
    let [account, position, block] = call.with_optional()?;
    let (account, position) = (required(account)?, required(position)?);
    let address = address(&value(account)).ok_or_else(|| invalid("Invalid address"))?;
    let slot = slot(&value(position))?;
    match state_after(call, block).await?.value(Key::Slot(address, slot)).await? {
        StateValue::Slot(value) => Ok(Answer::of(|writer| writer.hex(&value.to_be_bytes::<32>()))),
        _ => Err(Problem::Internal),
    }
}

/// A storage position: `0x` and up to 64 digits; `0x` alone is zero.
///
/// # Errors
///
/// When it is anything else.
pub(super) fn slot(position: &Value) -> Result<B256, Problem> {
    let digits = position.as_str().and_then(|text| text.strip_prefix("0x"));
    let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let digits = digits.ok_or_else(|| invalid("Invalid integer"))?;
    if digits.len() > 64 {
        return Err(invalid(&format!("storage key too long (want at most 32 bytes): {position}")));
    }
    format!("{digits:0>64}").parse().map_err(|_| invalid("Invalid integer"))
}

/// The block after which state is requested: a height, a name, a hash or the object of EIP-1898; the newest block if
/// the parameter is absent.
///
/// # Errors
///
/// When the parameter is anything else.
pub(super) fn block(param: Option<&RawValue>) -> Result<BlockId, Problem> {
    given(param, block_id).ok_or_else(|| invalid("Invalid block number"))
}

/// The block of a value that may be absent, as [`block`] reads it.
///
/// # Errors
///
/// When the value is anything else.
pub(super) fn block_of(value: Option<&Value>) -> Result<BlockId, Problem> {
    match value.filter(|value| !value.is_null()) {
        Some(value) => block_id(value).ok_or_else(|| invalid("Invalid block number")),
        None => Ok(BlockId::Name(BlockName::Head)),
    }
}

/// The block of `eth_getBalance`, which may also be a number, as JSON or in decimal digits
/// (docs/reference/http-contract.md#json-rpc-parameters).
fn block_or_number(param: Option<&RawValue>) -> Option<BlockId> {
    given(param, |value| {
        let digits = value.as_str().filter(|text| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()));
        let decimal = value.as_u64().or_else(|| digits?.parse().ok());
        decimal.map(|number| BlockId::Name(BlockName::Number(number))).or_else(|| block_id(value))
    })
}

/// The block of a parameter; the newest if the parameter is absent or `null`.
fn given(param: Option<&RawValue>, read: impl FnOnce(&Value) -> Option<BlockId>) -> Option<BlockId> {
    match param.map(value).filter(|value| !value.is_null()) {
        Some(value) => read(&value),
        None => Some(BlockId::Name(BlockName::Head)),
    }
}

/// The height of a block that is readable or lies in a gap below the head.
///
/// # Errors
///
/// [`Problem::BlockNotFound`] for any other block; or when the lookup of a hash fails.
pub(super) async fn height(block: BlockId, app: &App, head: &Head) -> Result<BlockNumber, Problem> {
    let number = block.number(app, head).await?;
    number.filter(|number| head.number().is_some_and(|head| *number <= head)).ok_or(Problem::BlockNotFound)
}

/// The state after a block.
///
/// # Errors
///
/// When the block is not known, or its state; or when the store fails.
pub(super) async fn state_after(call: Context<'_>, param: Option<&RawValue>) -> Result<State, Problem> {
    let block = block(param)?;
    let (app, head) = (call.app, call.head()?);
    State::after(app, height(block, app, head).await?, head).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_may_be_left_out_or_be_numbers() {
        let raw = |value: &Value| RawValue::from_string(value.to_string()).expect("JSON");
        let newest = Some(BlockId::Name(BlockName::Head));
        assert_eq!((block(None).ok(), block(Some(&raw(&json!(null)))).ok()), (newest, newest));
        for number in [json!(16), json!("16")] {
            assert_eq!(block_or_number(Some(&raw(&number))), Some(BlockId::Name(BlockName::Number(16))));
            assert_eq!(block(Some(&raw(&number))), Err(invalid("Invalid block number")), "{number}");
        }
        assert_eq!(block_or_number(Some(&raw(&json!({})))), None);
    }

    #[test]
    fn positions_have_at_most_32_bytes() {
        assert_eq!(slot(&json!("0x")), Ok(B256::ZERO));
        assert_eq!(slot(&json!("0x1")), Ok(B256::with_last_byte(1)));
        let long = format!("0x{}", "0".repeat(65));
        let text = format!("storage key too long (want at most 32 bytes): \"{long}\"");
        assert_eq!(slot(&json!(long)), Err(invalid(&text)));
        assert_eq!(slot(&json!("0x0g")), Err(invalid("Invalid integer")));
        assert_eq!(slot(&json!(1)), Err(invalid("Invalid integer")));
    }
}
