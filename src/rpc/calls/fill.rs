//! `eth_fillTransaction`: a transaction with what its sender left out, ready to be signed; the defaults are geth's.

use serde_json::Value;

use super::CallRequest;
use super::params::{Members, price};
use super::unsigned::UnsignedTransaction;
use crate::error::Problem;
use crate::http::values::{invalid, member};
use crate::read::calls::Execution;
use crate::read::state::State;
use crate::rpc::fees::newest_prices;
use crate::rpc::protocol::answer::Answer;
use crate::rpc::protocol::context::Context;
use crate::rpc::protocol::params::value;
use trawl_evm::{Call, Failure, Fees};

/// The room above the newest base fee: it at most doubles within six blocks.
const ROOM: u128 = 2;

/// The transaction, and its encoding without a signature.
pub(crate) async fn fill_transaction(call: Context<'_>) -> Result<Answer, Problem> {
    let [given] = call.exactly()?;
    let given = value(given);
    let request = CallRequest::new(Some(&given), None)?;
    let (app, head) = (call.app, call.head()?);
    request.require_chain(app, head)?;
    require_whole(&given, &request.call)?;
    let newest = head.number().ok_or(Problem::BlockNotFound)?;
    let chain_id = app.chain_id(head).ok_or_else(|| Problem::NotEstimated("the chain id is not known yet".into()))?;
    let prices = Prices::read(&given)?;
    let CallRequest { call: mut filled, fork, accounts, overrides, .. } = request;
    filled.max_fee_per_blob_gas = prices.of_blobs(call, &filled).await?;
    filled.fees = prices.of_gas(call, &filled).await?;
    if filled.nonce.is_none() {
        filled.nonce = Some(State::after(app, newest, head).await?.account(filled.from).await?.nonce);
    }
    if filled.gas.is_none() {
        let execution = Execution { call: filled.clone(), fork, accounts, overrides };
        filled.gas = Some(execution.run(app, head, newest, trawl_evm::estimate).await?);
    }
    let unsigned = UnsignedTransaction::new(&filled, chain_id)?;
    Ok(Answer::of(|writer| unsigned.write(writer)))
}

fn refused(text: &str) -> Problem {
    Problem::Call(Failure::Invalid(text.into()))
}

/// Refuses what no transaction could be.
fn require_whole(given: &Value, call: &Call) -> Result<(), Problem> {
    let has = |name: &&str| given.as_object().is_some_and(|object| member(object, name).is_some());
    if let Some(name) = ["blobs", "commitments", "proofs"].iter().find(|name| has(name)) {
        return Err(invalid(&format!("`{name}` is not supported: give `blobVersionedHashes`")));
    }
    match call.to {
        Some(_) => Ok(()),
        None if !call.blob_hashes.is_empty() => Err(refused("missing \"to\" in blob transaction")),
        None if !call.authorizations.is_empty() => Err(refused("missing \"to\" in set code transaction")),
        None if call.input.is_empty() => Err(refused("contract creation without any data provided")),
        None => Ok(()),
    }
}

/// The prices that are given, in wei per gas.
#[derive(Debug, Clone, Copy)]
struct Prices {
    plain: Option<u128>,
    max: Option<u128>,
    priority: Option<u128>,
    blob: Option<u128>,
}

impl Prices {
    fn read(given: &Value) -> Result<Self, Problem> {
        let object = Members(given.as_object().ok_or_else(|| invalid("Invalid call object"))?);
        let get = |name: &str| object.get(name, price, &format!("Invalid `{name}` quantity"));
        Ok(Self {
            plain: get("gasPrice")?,
            max: get("maxFeePerGas")?,
            priority: get("maxPriorityFeePerGas")?,
            blob: get("maxFeePerBlobGas")?,
        })
    }

    /// The highest price of blob gas; 0 for a transaction without blobs.
    async fn of_blobs(self, call: Context<'_>, filled: &Call) -> Result<u128, Problem> {
        match self.blob {
            Some(0) => Err(refused("maxFeePerBlobGas, if specified, must be non-zero")),
            Some(price) => Ok(price),
            None if filled.blob_hashes.is_empty() => Ok(0),
            None => {
                let unknown = || Problem::NotEstimated("the price of blob gas is not known".into());
                let price = newest_prices(call).await?.blob_base_fee.ok_or_else(unknown)?;
                Ok(price.saturating_mul(ROOM))
            }
        }
    }

    /// The price of gas: dynamic where blocks have base fees, unless `gasPrice` is given.
    async fn of_gas(self, call: Context<'_>, filled: &Call) -> Result<Fees, Problem> {
        let is_dynamic_only = !filled.blob_hashes.is_empty() || !filled.authorizations.is_empty();
        match self {
            Self { plain: Some(_), .. } if is_dynamic_only => {
                Err(refused("transactions with blobs or authorizations have maxFeePerGas, not gasPrice"))
            }
            Self { plain: Some(0), .. } if newest_prices(call).await?.base_fee.is_some() => {
                Err(refused("gasPrice must be non-zero after london fork"))
            }
            Self { plain: Some(price), .. } => Ok(Fees::Price(price)),
            Self { max: Some(0), priority: Some(_), .. } => Err(refused("maxFeePerGas must be non-zero")),
            Self { max, priority, .. } => {
                let prices = newest_prices(call).await?;
                let Some(base_fee) = prices.base_fee else {
                    return if max.or(priority).is_some() || is_dynamic_only {
                        Err(refused("maxFeePerGas and maxPriorityFeePerGas are not valid before London is active"))
                    } else {
                        Ok(Fees::Price(prices.tip()?))
                    };
                };
                if let (Some(max), Some(priority)) = (max, priority) {
                    return Ok(Fees::Dynamic { max, priority });
                }
                let priority = priority.map_or_else(|| prices.tip(), Ok)?;
                let max = max.unwrap_or_else(|| base_fee.saturating_mul(ROOM).saturating_add(priority));
                if max < priority {
                    return Err(refused(&format!("maxFeePerGas ({max}) < maxPriorityFeePerGas ({priority})")));
                }
                Ok(Fees::Dynamic { max, priority })
            }
        }
    }
}
