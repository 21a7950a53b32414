//! The actions of `module=proxy`.

use super::super::action::Action;
use super::super::params::ParameterGroups;
use super::super::params::parameter::{Kind, Parameter};
use super::super::proxy::{Argument, Call};

const ID: &[Parameter] = &[Parameter::optional("id", Kind::Number)];
const TAG: &[Parameter] = &[Parameter::optional("tag", Kind::Raw), Parameter::optional("id", Kind::Number)];
const FULL: &[Parameter] = &[Parameter::optional("boolean", Kind::Word(&["true", "false"]))];
const HASH: &[Parameter] = &[Parameter::required("hash", Kind::Raw)];
const TRANSACTION: &[Parameter] = &[Parameter::required("txhash", Kind::Raw)];
const INDEX: &[Parameter] = &[Parameter::required("index", Kind::Raw)];
const ADDRESS: &[Parameter] = &[Parameter::required("address", Kind::Raw)];
const POSITION: &[Parameter] = &[Parameter::required("position", Kind::Raw)];
const HEX: &[Parameter] = &[Parameter::required("hex", Kind::Raw)];
const CALL: &[Parameter] = &[
    Parameter::optional("from", Kind::Raw),
    Parameter::optional("to", Kind::Raw),
    Parameter::optional("data", Kind::Raw).or(&["input"]),
    Parameter::optional("value", Kind::Raw),
    Parameter::optional("gas", Kind::Raw).or(&["gaslimit"]),
    Parameter::optional("gasPrice", Kind::Raw),
    Parameter::optional("maxFeePerGas", Kind::Raw),
    Parameter::optional("maxPriorityFeePerGas", Kind::Raw),
    Parameter::optional("nonce", Kind::Raw),
    Parameter::optional("type", Kind::Raw),
];

/// What py-etherscan-api sends again with every call after the one that it was for.
const REPEATED_TAG: &[Parameter] = &[Parameter::without_effect("tag")];
const REPEATED_FULL: &[Parameter] = &[Parameter::without_effect("boolean")];
const REPEATED_INDEX: &[Parameter] = &[Parameter::without_effect("index")];
const REPEATED_TRANSACTION: &[Parameter] = &[Parameter::without_effect("txhash")];
const REPEATED_ADDRESS: &[Parameter] = &[Parameter::without_effect("address")];
const OF_BLOCK_AND_INDEX: ParameterGroups = &[TAG, INDEX, REPEATED_FULL, REPEATED_TRANSACTION, REPEATED_ADDRESS];
const BY_TRANSACTION: ParameterGroups =
    &[TRANSACTION, ID, REPEATED_TAG, REPEATED_FULL, REPEATED_INDEX, REPEATED_ADDRESS];

const BLOCK: Argument = Argument::Block("tag");
const OF_TRANSACTION: Argument = Argument::Text("txhash");
const OF_ADDRESS: Argument = Argument::Text("address");
const AT_INDEX: Argument = Argument::Quantity("index");

/// A method of the same name.
const fn call(method: &'static str, parameters: ParameterGroups, arguments: &'static [Argument]) -> Action {
    Action::call("proxy", method, parameters, Call { method, arguments })
}

pub(super) const ACTIONS: &[Action] = &[
    call(
        "eth_blockNumber",
        &[ID, REPEATED_TAG, REPEATED_FULL, REPEATED_INDEX, REPEATED_TRANSACTION, REPEATED_ADDRESS],
        &[],
    ),
    call("eth_chainId", &[ID], &[]),
    call("eth_gasPrice", &[ID], &[]),
    call("eth_maxPriorityFeePerGas", &[ID], &[]),
    call(
        "eth_getBlockByNumber",
        &[TAG, FULL, REPEATED_INDEX, REPEATED_TRANSACTION, REPEATED_ADDRESS],
        &[BLOCK, Argument::IsFull],
    ),
    call("eth_getBlockByHash", &[HASH, FULL, ID], &[Argument::Text("hash"), Argument::IsFull]),
    call("eth_getUncleByBlockNumberAndIndex", OF_BLOCK_AND_INDEX, &[BLOCK, AT_INDEX]),
    call("eth_getUncleCountByBlockNumber", &[TAG], &[BLOCK]),
    call(
        "eth_getBlockTransactionCountByNumber",
        &[TAG, REPEATED_FULL, REPEATED_INDEX, REPEATED_TRANSACTION, REPEATED_ADDRESS],
        &[BLOCK],
    ),
    call("eth_getTransactionByHash", BY_TRANSACTION, &[OF_TRANSACTION]),
    call("eth_getTransactionByBlockNumberAndIndex", OF_BLOCK_AND_INDEX, &[BLOCK, AT_INDEX]),
    call(
        "eth_getTransactionCount",
        &[ADDRESS, TAG, REPEATED_FULL, REPEATED_INDEX, REPEATED_TRANSACTION],
        &[OF_ADDRESS, BLOCK],
    ),
    call("eth_getTransactionReceipt", BY_TRANSACTION, &[OF_TRANSACTION]),
    call("eth_getBalance", &[ADDRESS, TAG], &[OF_ADDRESS, BLOCK]),
    call("eth_getCode", &[ADDRESS, TAG], &[OF_ADDRESS, BLOCK]),
    call("eth_getStorageAt", &[ADDRESS, POSITION, TAG], &[OF_ADDRESS, Argument::Quantity("position"), BLOCK]),
    call("eth_sendRawTransaction", &[HEX, ID], &[Argument::Text("hex")]),
    call("eth_call", &[CALL, TAG], &[Argument::CallObject, BLOCK]),
    call("eth_estimateGas", &[CALL, TAG], &[Argument::CallObject, BLOCK]),
];
