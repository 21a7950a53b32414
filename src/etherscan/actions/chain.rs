//! The actions of blocks, transactions and logs, and of the price of gas.

use super::super::action::{Action, read};
use super::super::block::{countdown, counts, reward, time};
use super::super::gas;
use super::super::logs::list as logs;
use super::super::params::parameter::{Kind, Parameter};
use super::super::proxy::Call;
use super::super::transaction::{info, status};
use super::groups::{HEIGHT, PAGE, TRANSACTION};

const TIME: &[Parameter] =
    &[Parameter::required("timestamp", Kind::Number), Parameter::optional("closest", Kind::Word(&["before", "after"]))];
const ID: &[Parameter] = &[Parameter::optional("id", Kind::Number)];
/// Clients name the maker of a block beside its height.
const MAKER: &[Parameter] = &[Parameter::without_effect("address")];
const INDEX: &[Parameter] = &[Parameter::optional("index", Kind::Number)];
const PRICE: &[Parameter] = &[Parameter::optional("gasprice", Kind::Number)];
const OPERATORS: Kind = Kind::Word(&["and", "or"]);
const OF_LOGS: &[Parameter] = &[
    Parameter::optional("fromBlock", Kind::Height),
    Parameter::optional("toBlock", Kind::Height),
    Parameter::optional("address", Kind::Address),
    Parameter::optional("topic0", Kind::Hash),
    Parameter::optional("topic1", Kind::Hash),
    Parameter::optional("topic2", Kind::Hash),
    Parameter::optional("topic3", Kind::Hash),
    Parameter::optional("topic0_1_opr", OPERATORS).or(&["topic0_1opr"]),
    Parameter::optional("topic0_2_opr", OPERATORS),
    Parameter::optional("topic0_3_opr", OPERATORS),
    Parameter::optional("topic1_2_opr", OPERATORS).or(&["topic1_2opr"]),
    Parameter::optional("topic1_3_opr", OPERATORS),
    Parameter::optional("topic2_3_opr", OPERATORS).or(&["topic2_3opr"]),
    Parameter::without_effect("topic3_4opr"),
];

pub(super) const ACTIONS: &[Action] = &[
    read!("block", "getblocknobytime", [TIME], time::closest),
    read!("block", "getblockreward", [HEIGHT, MAKER], reward::reward),
    read!("block", "getblocktxnscount", [HEIGHT], counts::counts),
    read!("block", "getblockcountdown", [HEIGHT], countdown::countdown),
    Action::call("block", "eth_block_number", &[ID], Call { method: "eth_blockNumber", arguments: &[] }),
    read!("transaction", "gettxreceiptstatus", [TRANSACTION], status::receipt_status),
    read!("transaction", "getstatus", [TRANSACTION], status::execution_status),
    read!("transaction", "gettxinfo", [TRANSACTION, INDEX], info::info),
    read!("logs", "getLogs", [OF_LOGS, PAGE], logs::list),
    read!("gastracker", "gasoracle", [], gas::oracle),
    read!("gastracker", "gasestimate", [PRICE], gas::estimate),
    Action::refused("nametag", "getaddresstag", "Names and tags of addresses are at /api/v2/addresses/{address} here"),
    Action::refused(
        "getapilimit",
        "getapilimit",
        "The limits of a key are in the headers x-ratelimit-limit and x-ratelimit-remaining of each answer; -1 means \
         unlimited",
    ),
    Action::refused("chainlist", "chainlist", "The chains of this server are at /v2/chainlist"),
];
