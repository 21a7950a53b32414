//! The actions of `module=contract`.

use super::super::action::{Action, read};
use super::super::contract::{creation, source, verified};
use super::super::params::parameter::{Kind, Parameter};
use super::groups::{ADDRESS, PAGE};

/// Most contracts of one request for creations.
const MAX_CONTRACTS: usize = 10;

const CONTRACTS: &[Parameter] =
    &[Parameter::required("contractaddresses", Kind::Addresses(MAX_CONTRACTS)).or(&["contractaddress"])];

const FORMAT: &[Parameter] = &[Parameter::optional("format", Kind::Word(&["raw"]))];

const FILTER: &[Parameter] = &[Parameter::optional("filter", Kind::Word(&["verified", "1"]))];

/// Verification compiles sources, which only a service with compilers can do.
const NOT_VERIFIED_HERE: &str = "Contracts are not verified here: the operator loads ABIs (trawl-ingest labels)";

pub(super) const ACTIONS: &[Action] = &[
    read!("contract", "getabi", [ADDRESS, FORMAT], source::get_abi),
    read!("contract", "getsourcecode", [ADDRESS], source::get_source_code),
    read!("contract", "getcontractcreation", [CONTRACTS], creation::get),
    read!("contract", "listcontracts", [FILTER, PAGE], verified::list),
    Action::refused("contract", "verify", NOT_VERIFIED_HERE),
    Action::refused("contract", "verifysourcecode", NOT_VERIFIED_HERE),
    Action::refused("contract", "checkverifystatus", NOT_VERIFIED_HERE),
    Action::refused("contract", "verifyproxycontract", NOT_VERIFIED_HERE),
    Action::refused("contract", "checkproxyverification", NOT_VERIFIED_HERE),
    Action::refused("contract", "verify_via_sourcify", NOT_VERIFIED_HERE),
    Action::refused("contract", "verify_vyper_contract", NOT_VERIFIED_HERE),
];
