//! The actions of `module=stats`.

use super::super::action::{Action, read};
use super::super::params::parameter::{Kind, Parameter};
use super::super::stats::days::{blocks, gas, mining};
use super::super::stats::{fees, supply};
use super::groups::{CONTRACT, HEIGHT, ORDERS};

const DATE: &[Parameter] = &[Parameter::required("date", Kind::Date)];
const DAYS: &[Parameter] = &[
    Parameter::required("startdate", Kind::Date),
    Parameter::required("enddate", Kind::Date),
    Parameter::optional("sort", ORDERS),
];

/// py-etherscan-api sends the holder of an earlier call again.
const REPEATED_HOLDER: &[Parameter] = &[Parameter::without_effect("address")];

const SUPPLY: &str = "The supply of the coin is not known here";
const PRICE: &str = "The price of the coin is not known here";
const NODES: &str = "Nodes are not counted or measured here";

pub(super) const ACTIONS: &[Action] = &[
    read!("stats", "tokensupply", [CONTRACT, REPEATED_HOLDER], supply::supply),
    read!("stats", "tokensupplyhistory", [CONTRACT, HEIGHT], supply::history),
    read!("stats", "totalfees", [DATE], fees::of_day),
    read!("stats", "dailytx", [DAYS], blocks::transactions),
    read!("stats", "dailytxnfee", [DAYS], blocks::fees),
    read!("stats", "dailyavgblocksize", [DAYS], blocks::sizes),
    read!("stats", "dailyavgblocktime", [DAYS], blocks::times),
    read!("stats", "dailyavggaslimit", [DAYS], blocks::gas_limits),
    read!("stats", "dailygasused", [DAYS], blocks::gas_used),
    read!("stats", "dailynetutilization", [DAYS], blocks::utilization),
    read!("stats", "dailyavggasprice", [DAYS], gas::prices),
    read!("stats", "dailyavghashrate", [DAYS], mining::hash_rates),
    read!("stats", "dailyavgnetdifficulty", [DAYS], mining::difficulty),
    read!("stats", "dailyblkcount", [DAYS], mining::blocks),
    read!("stats", "dailyblockrewards", [DAYS], mining::block_rewards),
    read!("stats", "dailyuncleblkcount", [DAYS], mining::uncles),
    Action::refused("stats", "dailynewaddress", "First appearances of addresses are not counted here"),
    Action::refused("stats", "dailyensregister", "Registrations of names are not counted here"),
    Action::refused("stats", "ethdailyprice", PRICE),
    Action::refused("stats", "ethdailymarketcap", PRICE),
    Action::refused("stats", "chainsize", NODES),
    Action::refused("stats", "nodecount", NODES),
    Action::refused("stats", "nodecounthistory", NODES),
    Action::refused("stats", "ethsupply", SUPPLY),
    Action::refused("stats", "ethsupply2", SUPPLY),
    Action::refused("stats", "ethsupplyexchange", SUPPLY),
    Action::refused("stats", "coinsupply", SUPPLY),
    Action::refused("stats", "ethprice", PRICE),
    Action::refused("stats", "coinprice", PRICE),
];
