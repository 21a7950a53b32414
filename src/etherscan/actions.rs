//! Every action: one table, from which requests are read, and with which the page of the documentation and the
//! description agree.

mod account;
mod chain;
mod contract;
mod groups;
mod proxy;
mod stats;
#[cfg(test)]
mod tests;
mod token;

use super::action::Action;

/// All actions, by module.
const ALL: &[&[Action]] =
    &[account::ACTIONS, contract::ACTIONS, chain::ACTIONS, token::ACTIONS, stats::ACTIONS, proxy::ACTIONS];

fn all() -> impl Iterator<Item = &'static Action> {
    ALL.iter().copied().flatten()
}

/// The action of a module, both in any letter case.
pub(super) fn find(module: &str, name: &str) -> Option<&'static Action> {
    all().find(|action| action.is_called(module, name))
}

/// Whether there are actions of a module.
pub(super) fn is_module(name: &str) -> bool {
    all().any(|action| action.module.eq_ignore_ascii_case(name))
}
