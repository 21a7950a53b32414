//! The actions of `module=account`.

use super::super::account::{
    balances, frames, funding, mined_blocks, token_balances, transactions, transfers, withdrawals,
};
use super::super::action::{Action, read};
use super::super::params::parameter::{Kind, Parameter};
use super::super::proxy::{Argument, Call};
use super::super::token::holdings;
use super::groups::{ADDRESS, CONTRACT, HEIGHT, PAGE, TAG, WINDOW};

/// Most addresses of one request.
const MAX_BALANCES: usize = 20;

const ADDRESSES: &[Parameter] = &[Parameter::required("address", Kind::Addresses(MAX_BALANCES))];
const ACCOUNT: &[Parameter] = &[Parameter::optional("address", Kind::Address)];
/// Etherscan's advanced filter, in place of `address`.
const FROM_TO: &[Parameter] = &[
    Parameter::optional("from", Kind::Address),
    Parameter::optional("to", Kind::Address),
    Parameter::optional("fromto_opr", Kind::Word(&["and", "or"])),
];
const SIDE: &[Parameter] = &[Parameter::optional("filterby", Kind::Word(&["from", "to"])).or(&["filter_by"])];
const OF_FRAMES: &[Parameter] = &[
    Parameter::optional("address", Kind::Address),
    Parameter::optional("txhash", Kind::Hash),
    Parameter::optional("include_zero_value", Kind::Word(&["true", "false"])),
];
const OF_TRANSFERS: &[Parameter] = &[
    Parameter::optional("address", Kind::Address),
    // A client in wide use misspells it.
    Parameter::optional("contractaddress", Kind::Address).or(&["contractaress", "tokenaddress"]),
];
const BLOCK_TYPE: &[Parameter] = &[Parameter::optional("blocktype", Kind::Word(&["blocks"]))];
const BLOCK: &[Parameter] =
    &[Parameter::optional("block", Kind::Raw).or(&["tag"]), Parameter::optional("id", Kind::Number)];

/// What py-etherscan-api sends again with every call after the one that it was for.
const REPEATED_BLOCK_TYPE: &[Parameter] = &[Parameter::without_effect("blocktype")];
const REPEATED_PAGE: &[Parameter] =
    &[Parameter::without_effect("page"), Parameter::without_effect("offset"), Parameter::without_effect("sort")];

const BRIDGES: &str = "Deposits and withdrawals of bridges are not known here";

pub(super) const ACTIONS: &[Action] = &[
    read!("account", "balance", [ADDRESS, TAG, REPEATED_PAGE, REPEATED_BLOCK_TYPE], balances::balance),
    read!("account", "balancemulti", [ADDRESSES, TAG, REPEATED_PAGE, REPEATED_BLOCK_TYPE], balances::balances),
    read!("account", "txlist", [ACCOUNT, SIDE, FROM_TO, WINDOW, REPEATED_BLOCK_TYPE], transactions::list),
    read!("account", "txlistinternal", [OF_FRAMES, FROM_TO, WINDOW, REPEATED_BLOCK_TYPE], frames::list),
    read!("account", "tokentx", [OF_TRANSFERS, FROM_TO, WINDOW], transfers::of_erc20),
    read!("account", "tokennfttx", [OF_TRANSFERS, FROM_TO, WINDOW], transfers::of_erc721),
    read!("account", "token1155tx", [OF_TRANSFERS, FROM_TO, WINDOW], transfers::of_erc1155),
    read!("account", "getminedblocks", [ADDRESS, BLOCK_TYPE, WINDOW], mined_blocks::list),
    read!("account", "tokenbalance", [CONTRACT, ADDRESS, TAG], token_balances::balance),
    read!("account", "balancehistory", [ADDRESS, HEIGHT], balances::history),
    read!("account", "tokenbalancehistory", [CONTRACT, ADDRESS, HEIGHT], token_balances::history),
    read!("account", "tokenlist", [ADDRESS, PAGE], holdings::list),
    read!("account", "addresstokenbalance", [ADDRESS, PAGE], holdings::of_erc20),
    read!("account", "addresstokennftbalance", [ADDRESS, PAGE], holdings::of_erc721),
    read!("account", "addresstokennftinventory", [ADDRESS, CONTRACT, PAGE], holdings::inventory),
    read!("account", "txsBeaconWithdrawal", [ADDRESS, WINDOW], withdrawals::list),
    read!("account", "fundedby", [ADDRESS], funding::first),
    Action::call(
        "account",
        "eth_get_balance",
        &[ADDRESS, BLOCK],
        Call { method: "eth_getBalance", arguments: &[Argument::Text("address"), Argument::Block("block")] },
    ),
    Action::refused("account", "listaccounts", "The list of all accounts is not known here"),
    Action::refused("account", "token404tx", "Transfers of ERC-404 are not known here"),
    Action::refused("account", "getdeposittxs", BRIDGES),
    Action::refused("account", "getwithdrawaltxs", BRIDGES),
    Action::refused("account", "txnbridge", BRIDGES),
    Action::refused(
        "account",
        "pendingtxlist",
        "Pending transactions are not known here: only those of blocks are loaded",
    ),
];
