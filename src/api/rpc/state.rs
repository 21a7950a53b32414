//! Reads of state: eth_getBalance, eth_getTransactionCount, eth_getCode, eth_getStorageAt.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::methods::{Answer, required, with_optional};
use super::params::{BlockName, address, block_name, invalid, value, word};
use crate::api::state::State;
use crate::api::{App, Problem};
use crate::evm::{Key, Value as Held};
use crate::primitives::{B256, BlockNumber};
use crate::store::Head;

pub(super) const METHODS: &[&str] = &["eth_getBalance", "eth_getTransactionCount", "eth_getCode", "eth_getStorageAt"];

/// Answers one of [`METHODS`].
pub(super) async fn answer(app: &App, method: &str, params: &[&RawValue]) -> Result<Answer, Problem> {
    if method == "eth_getStorageAt" {
        let [account, position, block] = with_optional(params)?;
        return storage(app, required(account)?, required(position)?, block).await;
    }
    let [account, block] = with_optional(params)?;
    let account = required(account)?;
    match method {
        "eth_getBalance" => balance(app, account, block).await,
        "eth_getTransactionCount" => nonce(app, account, block).await,
        _ => code(app, account, block).await,
    }
}

/// Wei of an account after a block.
async fn balance(app: &App, account: &RawValue, block: Option<&RawValue>) -> Result<Answer, Problem> {
    let address = address(&value(account)).ok_or_else(|| invalid("Query parameter 'address' is invalid"))?;
    let block = Block::read_lenient(block).ok_or_else(|| invalid("Query parameter 'block' is invalid"))?;
    let head = app.head()?;
    let number = match block.number(app, &head).await {
        Err(Problem::BlockNotFound) => return Err(invalid("Balance not found")),
        number => number?,
    };
    let account = State::after(app, number, &head).await?.account(address).await?;
    Ok(Answer::of(|writer| writer.quantity_256(account.balance)))
}

/// Nonce of an account after a block.
async fn nonce(app: &App, account: &RawValue, block: Option<&RawValue>) -> Result<Answer, Problem> {
    let address = address(&value(account)).ok_or_else(|| invalid("Invalid address"))?;
    let account = Block::read(block)?.state(app).await?.account(address).await?;
    Ok(Answer::of(|writer| writer.quantity(account.nonce)))
}

/// Code of an account after a block.
async fn code(app: &App, account: &RawValue, block: Option<&RawValue>) -> Result<Answer, Problem> {
    let address = address(&value(account)).ok_or_else(|| invalid("Invalid address"))?;
    let state = Block::read(block)?.state(app).await?;
    let account = state.account(address).await?;
    if account.code_hash == revm::primitives::KECCAK_EMPTY {
        return Ok(Answer::of(|writer| writer.hex(&[])));
    }
    match state.value(Key::Code(account.code_hash)).await? {
        Held::Code(code) => Ok(Answer::of(|writer| writer.hex(code.original_byte_slice()))),
        _ => Err(Problem::Internal),
    }
}

/// A slot of an account after a block.
async fn storage(
    app: &App,
    account: &RawValue,
    position: &RawValue,
    block: Option<&RawValue>,
) -> Result<Answer, Problem> {
    let address = address(&value(account)).ok_or_else(|| invalid("Invalid address"))?;
    let slot = slot(&value(position))?;
    match Block::read(block)?.state(app).await?.value(Key::Slot(address, slot)).await? {
        Held::Slot(value) => Ok(Answer::of(|writer| writer.hex(&value.to_be_bytes::<32>()))),
        _ => Err(Problem::Internal),
    }
}

/// A storage position: `0x` and up to 64 digits; none are zero.
fn slot(position: &Value) -> Result<B256, Problem> {
    let digits = position.as_str().and_then(|text| text.strip_prefix("0x"));
    let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    let digits = digits.ok_or_else(|| invalid("Invalid integer"))?;
    if digits.len() > 64 {
        return Err(invalid(&format!("storage key too long (want at most 32 bytes): {position}")));
    }
    format!("{digits:0>64}").parse().map_err(|_| invalid("Invalid integer"))
}

/// The block after which state is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    /// By height or name.
    Named(BlockName),
    /// By hash.
    Hash(B256),
}

impl Block {
    /// A height, a name, a hash or the object of EIP-1898; the newest block if there is none.
    pub fn read(param: Option<&RawValue>) -> Result<Self, Problem> {
        let read = param.map_or(Some(Self::Named(BlockName::Head)), |param| Self::of(&value(param)));
        read.ok_or_else(|| invalid("Invalid block number"))
    }

    /// Also a number, as JSON or in decimal digits (behaviour reference, 4.4).
    fn read_lenient(param: Option<&RawValue>) -> Option<Self> {
        let Some(param) = param else { return Some(Self::Named(BlockName::Head)) };
        let value = value(param);
        let digits = value.as_str().filter(|text| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()));
        let decimal = value.as_u64().or_else(|| digits?.parse().ok());
        decimal.map(|number| Self::Named(BlockName::Number(number))).or_else(|| Self::of(&value))
    }

    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Null => Some(Self::Named(BlockName::Head)),
            Value::Object(members) => match (members.get("blockNumber"), members.get("blockHash")) {
                (Some(number), None) => block_name(number).map(Self::Named),
                (None, Some(hash)) => word(hash).map(Self::Hash),
                _ => None,
            },
            // 32 bytes are a hash; a height has fewer digits.
            _ => word(value).map(Self::Hash).or_else(|| block_name(value).map(Self::Named)),
        }
    }

    /// Its height, if it is readable or lies in a gap below the head.
    pub async fn number(self, app: &App, head: &Head) -> Result<BlockNumber, Problem> {
        let number = match self {
            Self::Hash(hash) => app.block_with_hash(&hash, head).await?,
            Self::Named(name) => name.number(head).filter(|number| head.number().is_some_and(|head| *number <= head)),
        };
        number.ok_or(Problem::BlockNotFound)
    }

    /// The state after it.
    pub async fn state(self, app: &App) -> Result<State, Problem> {
        let head: Arc<Head> = app.head()?;
        let number = self.number(app, &head).await?;
        State::after(app, number, &head).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn blocks_have_many_names() {
        let hash = format!("0x{}", "ab".repeat(32));
        let is = |value: Value, block| assert_eq!(Block::of(&value), block, "{value}");
        is(json!(null), Some(Block::Named(BlockName::Head)));
        is(json!("safe"), Some(Block::Named(BlockName::Safe)));
        is(json!(hash), Some(Block::Hash(B256::repeat_byte(0xab))));
        is(json!({"blockHash": hash, "requireCanonical": true}), Some(Block::Hash(B256::repeat_byte(0xab))));
        is(json!({"blockNumber": "0x10"}), Some(Block::Named(BlockName::Number(16))));
        for bad in [json!({}), json!({"blockNumber": "0x1", "blockHash": hash}), json!(16), json!("16"), json!([])] {
            is(bad, None);
        }
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
