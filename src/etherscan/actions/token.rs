//! The actions of `module=token`.

use super::super::action::{Action, read};
use super::super::token::{facts, holders};
use super::groups::{CONTRACT, PAGE};

pub(super) const ACTIONS: &[Action] = &[
    read!("token", "getToken", [CONTRACT], facts::get),
    read!("token", "tokeninfo", [CONTRACT], facts::info),
    read!("token", "getTokenHolders", [CONTRACT, PAGE], holders::list),
    read!("token", "tokenholderlist", [CONTRACT, PAGE], holders::token_holder_list),
    read!("token", "topholders", [CONTRACT, PAGE], holders::top),
    read!("token", "tokenholdercount", [CONTRACT], holders::count),
    Action::refused("token", "bridgedTokenList", "Bridged tokens are not known here"),
];
