//! The parameters of a simulation.

use std::collections::BTreeMap;

use alloy_eips::eip4895::Withdrawal;
use serde_json::{Map, Value};

use super::answer::TransactionForm;
use crate::error::Problem;
use crate::http::values::{address, bytes32, invalid, quantity};
use crate::rpc::calls::params;
use trawl_core::primitives::{Address, U256};
use trawl_evm::simulation::{BlockCall, BlockPlan, MAX_BLOCKS, Mode, Refusal};

/// Most calls of a request.
const MAX_CALLS: usize = 1_000;
/// Most withdrawals of a request.
const MAX_WITHDRAWALS: usize = 1_000;

/// A request for a simulation.
#[derive(Debug)]
pub(super) struct Request {
    /// `blockStateCalls` of the request, in their order.
    pub blocks: Vec<BlockPlan>,
    /// What is checked and logged.
    pub mode: Mode,
    /// How transactions are shown.
    pub transactions: TransactionForm,
    /// The chains that its calls are for, where they say so.
    chains: Vec<U256>,
}

impl Request {
    /// Parses a request.
    ///
    /// # Errors
    ///
    /// When a member is unknown or has a wrong value, or there are too many blocks or calls.
    pub fn read(value: &Value) -> Result<Self, Problem> {
        let object = members(value, "Invalid simulation")?;
        known(object, &["blockStateCalls", "traceTransfers", "validation", "returnFullTransactions"])?;
        let blocks = list(object, "blockStateCalls")?;
        if blocks.is_empty() {
            return Err(invalid("empty input"));
        }
        if blocks.len() as u64 > MAX_BLOCKS {
            return Err(too_much(format!("too many blocks: at most {MAX_BLOCKS} are simulated")));
        }
        let mut chains = Vec::new();
        let blocks: Vec<BlockPlan> = blocks.iter().map(|plan| block(plan, &mut chains)).collect::<Result<_, _>>()?;
        let calls: usize = blocks.iter().map(|plan| plan.calls.len()).sum();
        if calls > MAX_CALLS {
            return Err(too_much(format!("too many calls: at most {MAX_CALLS} are simulated")));
        }
        let mode = Mode { validates: flag(object, "validation")?, logs_transfers: flag(object, "traceTransfers")? };
        let transactions =
            if flag(object, "returnFullTransactions")? { TransactionForm::Whole } else { TransactionForm::Hashes };
        Ok(Self { blocks, mode, transactions, chains })
    }

    /// Refuses calls for another chain.
    ///
    /// # Errors
    ///
    /// [`Problem::OtherChain`] for the first of them.
    pub fn require_chain(&self, served: Option<u64>) -> Result<(), Problem> {
        let Some(want) = served else { return Ok(()) };
        match self.chains.iter().find(|chain| **chain != U256::from(want)) {
            Some(have) => Err(Problem::OtherChain { have: *have, want }),
            None => Ok(()),
        }
    }
}

fn block(value: &Value, chains: &mut Vec<U256>) -> Result<BlockPlan, Problem> {
    let object = members(value, "Invalid block of a simulation")?;
    known(object, &["blockOverrides", "stateOverrides", "calls"])?;
    let mut plan = BlockPlan::default();
    if let Some(overrides) = given(object, "blockOverrides") {
        block_overrides(members(overrides, "Invalid block override")?, &mut plan)?;
    }
    if let Some(overrides) = given(object, "stateOverrides") {
        state_overrides(members(overrides, "Invalid state override")?, &mut plan)?;
    }
    for call in list(object, "calls")? {
        chains.extend(params::chain_id(call)?);
        let has_gas_price = call.get("gasPrice").is_some_and(|price| !price.is_null());
        plan.calls.push(BlockCall { call: params::call(call)?, has_gas_price });
    }
    Ok(plan)
}

/// The overrides of a block, two of which calls do not have.
fn block_overrides(object: &Map<String, Value>, plan: &mut BlockPlan) -> Result<(), Problem> {
    let wrong = || invalid("Invalid block override");
    let mut others = object.clone();
    let root = others.remove("beaconRoot").or_else(|| others.remove("parentBeaconBlockRoot"));
    if let Some(root) = root.filter(|root| !root.is_null()) {
        plan.beacon_root = Some(bytes32(&root).ok_or_else(wrong)?);
    }
    if let Some(withdrawals) = others.remove("withdrawals").filter(|all| !all.is_null()) {
        let all = withdrawals.as_array().ok_or_else(wrong)?;
        if all.len() > MAX_WITHDRAWALS {
            return Err(too_much(format!("too many withdrawals: at most {MAX_WITHDRAWALS} are simulated")));
        }
        plan.withdrawals = all.iter().map(withdrawal).collect::<Option<_>>().ok_or_else(wrong)?;
    }
    plan.overrides = params::block(&Value::Object(others))?;
    Ok(())
}

fn withdrawal(value: &Value) -> Option<Withdrawal> {
    let number = |name: &str| value.get(name)?.as_str().and_then(quantity);
    Some(Withdrawal {
        index: number("index")?,
        validator_index: number("validatorIndex")?,
        address: address(value.get("address")?)?,
        amount: number("amount")?,
    })
}

/// The overrides of accounts, and of precompiles.
fn state_overrides(object: &Map<String, Value>, plan: &mut BlockPlan) -> Result<(), Problem> {
    let mut others = object.clone();
    let mut moves: BTreeMap<Address, Address> = BTreeMap::new();
    for (name, account) in &mut others {
        let Some(members) = account.as_object_mut() else { continue };
        // Letters of either case, as geth takes them: the specification's tests have both.
        let name_of_move = members.keys().find(|name| name.eq_ignore_ascii_case("movePrecompileToAddress")).cloned();
        let to = name_of_move.and_then(|name| members.remove(&name));
        if let Some(to) = to.filter(|to| !to.is_null()) {
            let from = address(&Value::from(name.as_str()));
            let to = address(&to).ok_or_else(|| invalid("Invalid `movePrecompileToAddress` override"))?;
            moves.insert(from.ok_or_else(|| invalid("Invalid address in the state override"))?, to);
        }
    }
    plan.moves = moves;
    plan.accounts = params::accounts(&Value::Object(others))?;
    Ok(())
}

fn members<'v>(value: &'v Value, text: &str) -> Result<&'v Map<String, Value>, Problem> {
    value.as_object().ok_or_else(|| invalid(text))
}

fn given<'v>(object: &'v Map<String, Value>, name: &str) -> Option<&'v Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// A list; an absent one is empty.
fn list<'v>(object: &'v Map<String, Value>, name: &str) -> Result<&'v [Value], Problem> {
    match given(object, name) {
        Some(value) => value.as_array().map(Vec::as_slice).ok_or_else(|| invalid(&format!("Invalid `{name}`"))),
        None => Ok(&[]),
    }
}

fn flag(object: &Map<String, Value>, name: &str) -> Result<bool, Problem> {
    match given(object, name) {
        Some(value) => value.as_bool().ok_or_else(|| invalid(&format!("Invalid `{name}`"))),
        None => Ok(false),
    }
}

/// Refuses unknown members: ignoring one would simulate something else. One that is null says nothing.
fn known(object: &Map<String, Value>, names: &[&str]) -> Result<(), Problem> {
    let is_known = |name: &str| names.contains(&name);
    match object.iter().find(|(name, value)| !value.is_null() && !is_known(name)) {
        Some((name, _)) => Err(invalid(&format!("`{name}` of a simulation is not supported"))),
        None => Ok(()),
    }
}

fn too_much(text: String) -> Problem {
    Problem::Simulation(Refusal::TooMuch(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use trawl_core::primitives::B256;

    fn code(value: &Value) -> Option<i64> {
        Request::read(value).err().map(|problem| problem.code())
    }

    #[test]
    fn requests_are_bounded() {
        assert_eq!(code(&json!({"blockStateCalls": []})), Some(-32_602));
        assert_eq!(code(&json!({})), Some(-32_602));
        let blocks = |count: usize| json!({"blockStateCalls": vec![json!({}); count]});
        assert_eq!((code(&blocks(256)), code(&blocks(257))), (None, Some(-38_026)));
        let calls = |count: usize| json!({"blockStateCalls": [{"calls": vec![json!({}); count]}, {"calls": [{}]}]});
        assert_eq!((code(&calls(MAX_CALLS - 1)), code(&calls(MAX_CALLS))), (None, Some(-38_026)));
    }

    #[test]
    fn overrides_of_blocks_are_read() {
        let account = format!("0x{}", "11".repeat(20));
        let one = "0x0000000000000000000000000000000000000001";
        let withdrawal = json!({"index": "0x1", "validatorIndex": "0x2", "address": account, "amount": "0x3"});
        let request = Request::read(&json!({"blockStateCalls": [{
            "blockOverrides": {"number": "0x9", "beaconRoot": format!("0x{}", "22".repeat(32)), "withdrawals": [withdrawal]},
            "stateOverrides": {one: {"MovePrecompileToAddress": account, "balance": "0x5"}},
            "calls": [{"gasPrice": "0x0", "chainId": "0x7"}, {}],
        }], "validation": true, "traceTransfers": null}))
        .expect("a request");
        let plan = &request.blocks[0];
        let to: Address = account.parse().expect("an address");
        assert_eq!((plan.overrides.number, plan.beacon_root), (Some(U256::from(9)), Some(B256::repeat_byte(0x22))));
        assert_eq!(plan.withdrawals, [Withdrawal { index: 1, validator_index: 2, address: to, amount: 3 }]);
        assert_eq!(plan.moves, [(one.parse().expect("an address"), to)].into());
        assert_eq!(plan.accounts.values().map(|account| account.balance).collect::<Vec<_>>(), [Some(U256::from(5))]);
        assert_eq!(plan.calls.iter().map(|call| call.has_gas_price).collect::<Vec<_>>(), [true, false]);
        assert_eq!((request.mode.validates, request.mode.logs_transfers), (true, false));
        assert_eq!(request.require_chain(Some(7)), Ok(()));
        assert_eq!(request.require_chain(Some(8)), Err(Problem::OtherChain { have: U256::from(7), want: 8 }));
    }

    #[test]
    fn wrong_members_are_named() {
        for (value, text) in [
            (json!([]), "Invalid simulation"),
            (json!({"blockStateCalls": {}}), "Invalid `blockStateCalls`"),
            (json!({"blockStateCalls": [{}], "validation": 1}), "Invalid `validation`"),
            (json!({"blockStateCalls": [{"call": []}]}), "`call` of a simulation is not supported"),
            (json!({"blockStateCalls": [{"calls": [{"to": "0x1"}]}]}), "Invalid `to` address"),
            (json!({"blockStateCalls": [{"blockOverrides": {"withdrawals": [1]}}]}), "Invalid block override"),
            (json!({"blockStateCalls": [{"stateOverrides": {"0x1": {}}}]}), "Invalid address in the state override"),
        ] {
            assert_eq!(Request::read(&value).err(), Some(invalid(text)), "{value}");
        }
    }
}
