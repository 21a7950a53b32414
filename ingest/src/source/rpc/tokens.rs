//! What a node answers on behalf of token contracts: bounded in size and time, and each contract by itself, so that one
//! that is hostile spoils nothing for others.

use std::time::Duration;

use serde_json::json;
use trawl_core::primitives::{Address, Bytes};
use trawl_node::{CallError, CallFailure, CallLimits, METHOD_NOT_FOUND, NodeClient};

/// What one contract may answer. A string of a megabyte is two of hexadecimal digits.
const LIMITS: CallLimits = CallLimits { bytes: 4 << 20, timeout: Duration::from_secs(10) };

/// `name()`, `symbol()`, `decimals()`, `totalSupply()`.
const CALLS: [&str; 4] = ["0x06fdde03", "0x95d89b41", "0x313ce567", "0x18160ddd"];

/// What a contract answered, undecoded; `None` where it refused or answered too much.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenAnswers {
    /// Return data of `name()`.
    pub name: Option<Bytes>,
    /// Return data of `symbol()`.
    pub symbol: Option<Bytes>,
    /// Return data of `decimals()`.
    pub decimals: Option<Bytes>,
    /// Return data of `totalSupply()`.
    pub total_supply: Option<Bytes>,
}

/// The node, not the contract, does not answer.
#[derive(Debug, thiserror::Error)]
#[error("node {node} does not answer calls: {cause}")]
pub struct TokenFailure {
    node: String,
    cause: String,
    is_final: bool,
}

impl TokenFailure {
    /// Whether a retry cannot help.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }
}

/// The newest block the node has.
///
/// # Errors
///
/// If the node does not answer.
pub async fn newest_block(node: &NodeClient) -> Result<u64, TokenFailure> {
    let answers = node.call(&[("eth_blockNumber", json!([]))], LIMITS).await;
    let answer = answers.map_err(|error| failure(node, &error.to_string()))?.into_iter().next();
    let quantity = answer.and_then(Result::ok).and_then(|value| {
        let text: String = serde_json::from_str(value.get()).ok()?;
        u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
    });
    quantity.ok_or_else(|| failure(node, "it does not return its newest block"))
}

/// The answers of the contract at `address` after block `number`.
///
/// # Errors
///
/// If the node, not the contract, does not answer.
pub async fn token(node: &NodeClient, address: Address, number: u64) -> Result<TokenAnswers, TokenFailure> {
    let calls = CALLS.map(|data| ("eth_call", json!([{"to": address, "data": data}, format!("{number:#x}")])));
    let mut found: [Option<Bytes>; 4] = Default::default();
    match node.call(&calls, LIMITS).await {
        Ok(answers) => {
            for (found, answer) in found.iter_mut().zip(answers) {
                *found = contract_answer(node, answer.map(|value| serde_json::from_str(value.get()).ok()))?;
            }
        }
        // One of them is too long, or takes too long: each by itself.
        Err(CallFailure::TooLong) => {
            for (found, call) in found.iter_mut().zip(calls) {
                *found = match node.call(&[call], LIMITS).await {
                    Ok(answers) => {
                        let answer = answers.into_iter().next().unwrap_or_else(|| Err(CallError::default()));
                        contract_answer(node, answer.map(|value| serde_json::from_str(value.get()).ok()))?
                    }
                    Err(CallFailure::TooLong) => None,
                    Err(error) => return Err(failure(node, &error.to_string())),
                };
            }
        }
        Err(error) => return Err(failure(node, &error.to_string())),
    }
    let [name, symbol, decimals, total_supply] = found;
    Ok(TokenAnswers { name, symbol, decimals, total_supply })
}

/// A refusal of the contract is an empty answer; a refusal of the node is a failure.
fn contract_answer(node: &NodeClient, answer: Result<Option<Bytes>, CallError>) -> Result<Option<Bytes>, TokenFailure> {
    match answer {
        Ok(answer) => Ok(answer),
        Err(error) if is_of_contract(&error) => Ok(None),
        Err(error) => Err(TokenFailure {
            is_final: error.code == METHOD_NOT_FOUND,
            ..failure(node, &format!("error {}: {}", error.code, error.message))
        }),
    }
}

fn failure(node: &NodeClient, cause: &str) -> TokenFailure {
    TokenFailure { node: node.name().into(), cause: cause.into(), is_final: false }
}

/// Whether the contract failed and not the node. Geth gives 3 to what reverts with data, Parity -32015 to all failures.
fn is_of_contract(error: &CallError) -> bool {
    let message = error.message.to_lowercase();
    let phrases =
        ["revert", "opcode", "out of gas", "stack", "jump", "vm execution", "evm", "write protection", "execution"];
    matches!(error.code, 3 | -32015) || phrases.iter().any(|phrase| message.contains(phrase))
}
