//! Parsing of the objects that describe a call: the call itself, and its overrides. Texts of errors:
//! docs/reference/http-contract.md#json-rpc-parameters.

use std::collections::BTreeMap;

use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_eips::eip7702::{Authorization, SignedAuthorization};
use revm::primitives::hardfork::SpecId;
use serde_json::{Map, Value};

use crate::error::Problem;
use crate::http::values::{address, bytes, bytes32, invalid, member, quantity};
use trawl_core::primitives::{Address, B256, Bytes, U256};
use trawl_evm::{AccountOverride, BlockOverrides, Call, Fees, Storage};

/// Parses a call.
///
/// # Errors
///
/// When a member is unknown or has a wrong value.
pub(crate) fn call(value: &Value) -> Result<Call, Problem> {
    let object = Members(value.as_object().ok_or_else(|| invalid("Invalid call object"))?);
    let data = object.get("data", input, "Invalid `data` data")?;
    let input = object.get("input", input, "Invalid `input` data")?;
    if let (Some(input), Some(data)) = (&input, &data)
        && input != data
    {
        return Err(invalid(
            "both \"data\" and \"input\" are set and not equal. Please use \"input\" to pass transaction call data",
        ));
    }
    Ok(Call {
        from: object.get("from", address, "Invalid `from` address")?.unwrap_or_default(),
        to: object.get("to", address, "Invalid `to` address")?,
        gas: object.get("gas", number, "Invalid `gas` quantity")?,
        fees: fees(&object)?,
        value: object.get("value", amount, "Invalid `value` quantity")?.unwrap_or_default(),
        input: input.or(data).unwrap_or_default(),
        nonce: object.get("nonce", number, "Invalid `nonce` quantity")?,
        access_list: object.get("accessList", access_list, "Invalid `accessList`")?,
        blob_hashes: object
            .get("blobVersionedHashes", bytes32_list, "Invalid `blobVersionedHashes`")?
            .unwrap_or_default(),
        max_fee_per_blob_gas: object
            .get("maxFeePerBlobGas", price, "Invalid `maxFeePerBlobGas` quantity")?
            .unwrap_or_default(),
        authorizations: object
            .get("authorizationList", authorizations, "Invalid `authorizationList`")?
            .unwrap_or_default(),
    })
}

/// Parses the chain that a call is for; `None` without it.
///
/// # Errors
///
/// When it has a wrong value.
pub(crate) fn chain_id(value: &Value) -> Result<Option<U256>, Problem> {
    let object = Members(value.as_object().ok_or_else(|| invalid("Invalid call object"))?);
    object.get("chainId", amount, "Invalid `chainId` quantity")
}

/// The fork with which the members of a call came, whatever their values; calls before it are not valid with them.
pub(crate) fn fork_of(value: &Value) -> SpecId {
    let has = |name: &str| value.as_object().is_some_and(|object| member(object, name).is_some());
    if has("maxFeePerBlobGas") {
        SpecId::CANCUN
    } else if has("maxFeePerGas") || has("maxPriorityFeePerGas") {
        SpecId::LONDON
    } else {
        SpecId::FRONTIER
    }
}

fn fees(object: &Members<'_>) -> Result<Fees, Problem> {
    let plain = object.get("gasPrice", price, "Invalid `gasPrice` quantity")?;
    let max = object.get("maxFeePerGas", price, "Invalid `maxFeePerGas` quantity")?;
    let priority = object.get("maxPriorityFeePerGas", price, "Invalid `maxPriorityFeePerGas` quantity")?;
    match (plain, max, priority) {
        (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
            Err(invalid("both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified"))
        }
        (Some(0), ..) | (None, None | Some(0), None | Some(0)) => Ok(Fees::None),
        (Some(price), ..) => Ok(Fees::Price(price)),
        (None, max, priority) => {
            let priority = priority.unwrap_or_default();
            let max = max.unwrap_or(priority);
            if max < priority {
                return Err(invalid("max priority fee per gas higher than max fee per gas"));
            }
            Ok(Fees::Dynamic { max, priority })
        }
    }
}

/// Parses the overrides of accounts.
///
/// # Errors
///
/// When a member is unknown or has a wrong value.
pub(crate) fn accounts(value: &Value) -> Result<BTreeMap<Address, AccountOverride>, Problem> {
    let object = value.as_object().ok_or_else(|| invalid("Invalid state override"))?;
    let account = |(name, value): (&String, &Value)| {
        let key =
            address(&Value::from(name.as_str())).ok_or_else(|| invalid("Invalid address in the state override"))?;
        Ok((key, account(value)?))
    };
    object.iter().map(account).collect()
}

fn account(value: &Value) -> Result<AccountOverride, Problem> {
    let object = Members(value.as_object().ok_or_else(|| invalid("Invalid state override"))?);
    object.known(&["balance", "nonce", "code", "state", "stateDiff"], "state override")?;
    let state = object.get("state", slots, "Invalid `state` override")?;
    let changed = object.get("stateDiff", slots, "Invalid `stateDiff` override")?;
    let storage = match (state, changed) {
        (Some(_), Some(_)) => return Err(invalid("both `state` and `stateDiff` are overridden")),
        (Some(slots), None) => Storage::Replaced(slots),
        (None, slots) => Storage::Changed(slots.unwrap_or_default()),
    };
    Ok(AccountOverride {
        balance: object.get("balance", amount, "Invalid `balance` override")?,
        nonce: object.get("nonce", number, "Invalid `nonce` override")?,
        code: object.get("code", bytes, "Invalid `code` override")?,
        storage,
    })
}

/// Parses the overrides of the block. Nodes differ in some names, all of which are accepted.
///
/// # Errors
///
/// When a member is unknown or has a wrong value.
pub(crate) fn block(value: &Value) -> Result<BlockOverrides, Problem> {
    let object = Members(value.as_object().ok_or_else(|| invalid("Invalid block override"))?);
    let known = [
        "number",
        "time",
        "timestamp",
        "gasLimit",
        "feeRecipient",
        "coinbase",
        "prevRandao",
        "random",
        "baseFeePerGas",
        "baseFee",
        "blobBaseFee",
        "difficulty",
    ];
    object.known(&known, "block override")?;
    let text = "Invalid block override";
    Ok(BlockOverrides {
        number: object.get("number", amount, text)?,
        time: object.any(["time", "timestamp"], amount, text)?,
        gas_limit: object.get("gasLimit", number, text)?,
        fee_recipient: object.any(["feeRecipient", "coinbase"], address, text)?,
        random: object.any(["prevRandao", "random"], bytes32, text)?,
        base_fee_per_gas: object.any(["baseFeePerGas", "baseFee"], number, text)?,
        blob_base_fee: object.get("blobBaseFee", price, text)?,
        difficulty: object.get("difficulty", amount, text)?,
    })
}

/// The members of an object, whose names may have any letter case; one that is `null` counts as absent.
pub(super) struct Members<'a>(pub(super) &'a Map<String, Value>);

impl Members<'_> {
    pub(super) fn get<T>(
        &self,
        name: &str,
        read: impl FnOnce(&Value) -> Option<T>,
        text: &str,
    ) -> Result<Option<T>, Problem> {
        match member(self.0, name) {
            Some(value) => read(value).map(Some).ok_or_else(|| invalid(text)),
            None => Ok(None),
        }
    }

    fn any<T>(&self, names: [&str; 2], read: impl Fn(&Value) -> Option<T>, text: &str) -> Result<Option<T>, Problem> {
        Ok(match self.get(names[0], &read, text)? {
            Some(value) => Some(value),
            None => self.get(names[1], &read, text)?,
        })
    }

    /// Refuses unknown members: ignoring one would answer a different call. One that is null says nothing: programs in
    /// Go write all members of geth's types.
    fn known(&self, names: &[&str], what: &str) -> Result<(), Problem> {
        let is_known = |name: &&String| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        let mut given = self.0.iter().filter(|(_, value)| !value.is_null()).map(|(name, _)| name);
        match given.find(|name| !is_known(name)) {
            Some(name) => Err(invalid(&format!("the {what} `{name}` is not supported"))),
            None => Ok(()),
        }
    }
}

/// Bytes; an empty text is none, as nodes have it.
fn input(value: &Value) -> Option<Bytes> {
    if value == "" { Some(Bytes::new()) } else { bytes(value) }
}

/// A quantity; an empty text is zero, as nodes have it.
fn number(value: &Value) -> Option<u64> {
    if value == "" { Some(0) } else { value.as_str().and_then(quantity) }
}

/// `0x` and up to 64 digits; leading zeros are fine, and an empty text is zero.
fn amount(value: &Value) -> Option<U256> {
    if value == "" {
        return Some(U256::ZERO);
    }
    let digits = value.as_str()?.strip_prefix("0x")?;
    let is_hexadecimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hexadecimal.then(|| U256::from_str_radix(digits, 16).ok())?
}

pub(super) fn price(value: &Value) -> Option<u128> {
    amount(value)?.try_into().ok()
}

fn bytes32_list(value: &Value) -> Option<Vec<B256>> {
    value.as_array()?.iter().map(bytes32).collect()
}

fn slots(value: &Value) -> Option<BTreeMap<B256, U256>> {
    let slot = |(name, value): (&String, &Value)| Some((bytes32(&Value::from(name.as_str()))?, amount(value)?));
    value.as_object()?.iter().map(slot).collect()
}

fn access_list(value: &Value) -> Option<AccessList> {
    let item = |item: &Value| {
        let slots = item.get("storageKeys").filter(|slots| !slots.is_null());
        let storage_keys = slots.map_or_else(|| Some(Vec::new()), bytes32_list)?;
        Some(AccessListItem { address: address(item.get("address")?)?, storage_keys })
    };
    value.as_array()?.iter().map(item).collect::<Option<Vec<_>>>().map(AccessList::from)
}

fn authorizations(value: &Value) -> Option<Vec<SignedAuthorization>> {
    value.as_array()?.iter().map(authorization).collect()
}

fn authorization(value: &Value) -> Option<SignedAuthorization> {
    let parity = value.get("yParity").or_else(|| value.get("v"))?;
    let inner = Authorization {
        chain_id: amount(value.get("chainId")?)?,
        address: address(value.get("address")?)?,
        nonce: number(value.get("nonce")?)?,
    };
    let parity = u8::try_from(number(parity)?).ok()?;
    Some(SignedAuthorization::new_unchecked(inner, parity, amount(value.get("r")?)?, amount(value.get("s")?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_members_of_a_call_are_optional() {
        assert_eq!(call(&json!({})), Ok(Call::default()));
        assert_eq!(call(&json!({"gasPrice": "0x0", "to": null})), Ok(Call::default()));
        let both = call(&json!({"data": "0x01", "input": "0x01"})).expect("the same");
        assert_eq!(both.input, Bytes::from_static(&[1]));
        assert_eq!(call(&json!({"data": "", "input": "", "value": "", "gasPrice": ""})), Ok(Call::default()));
        assert_eq!(call(&json!({"input": "", "data": "0x"})), Ok(Call::default()));
        let dynamic = call(&json!({"maxFeePerGas": "0x5", "maxPriorityFeePerGas": "0x1"})).expect("a call");
        assert_eq!(dynamic.fees, Fees::Dynamic { max: 5, priority: 1 });
    }

    #[test]
    fn members_are_of_forks() {
        let fork = |value: Value| fork_of(&value);
        assert_eq!(fork(json!({"gasPrice": "0x1", "maxFeePerGas": null})), SpecId::FRONTIER);
        assert_eq!(fork(json!({"maxPriorityFeePerGas": "0x0"})), SpecId::LONDON);
        assert_eq!(fork(json!({"maxFeePerGas": "0x1", "maxFeePerBlobGas": "0x1"})), SpecId::CANCUN);
    }

    #[test]
    fn wrong_members_are_named() {
        for (value, text) in [
            (json!([]), "Invalid call object"),
            (json!({"to": "0x1"}), "Invalid `to` address"),
            (json!({"from": 5}), "Invalid `from` address"),
            (json!({"gas": "5"}), "Invalid `gas` quantity"),
            (json!({"gasPrice": "0x"}), "Invalid `gasPrice` quantity"),
            (json!({"value": "0xzz"}), "Invalid `value` quantity"),
            (json!({"input": "0x1"}), "Invalid `input` data"),
            (json!({"input": "00"}), "Invalid `input` data"),
            (json!({"to": ""}), "Invalid `to` address"),
            (
                json!({"gasPrice": "0x1", "maxFeePerGas": "0x1"}),
                "both gasPrice and (maxFeePerGas or maxPriorityFeePerGas) specified",
            ),
            (json!({"accessList": {}}), "Invalid `accessList`"),
        ] {
            assert_eq!(call(&value), Err(invalid(text)), "{value}");
        }
        let account = |value: Value| accounts(&json!({format!("0x{}", "11".repeat(20)): value}));
        assert_eq!(
            account(json!({"movePrecompileToAddress": "0x"})),
            Err(invalid("the state override `movePrecompileToAddress` is not supported"))
        );
        assert_eq!(account(json!({"state": {"0x1": "0x1"}})), Err(invalid("Invalid `state` override")));
        assert_eq!(account(json!({"nonce": null, "movePrecompileToAddress": null})).map(|all| all.len()), Ok(1));
        let nothing = json!({"Time": null, "BeaconRoot": null, "Withdrawals": null});
        assert_eq!(block(&nothing), Ok(BlockOverrides::default()));
        assert_eq!(
            block(&json!({"withdrawals": []})),
            Err(invalid("the block override `withdrawals` is not supported"))
        );
    }
}
