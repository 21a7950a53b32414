//! An action: what it is called, what it takes, and what it does.

use axum::response::Response;
use futures_util::future::BoxFuture;

use super::answer::Refusal;
use super::params::ParameterGroups;
use super::proxy::Call;
use super::request::Request;

/// An action of a module.
pub(crate) struct Action {
    /// In small letters.
    pub module: &'static str,
    /// As Etherscan or Blockscout writes it; clients write it in any letter case.
    pub name: &'static str,
    /// What it takes; of a refused one nothing is looked at.
    pub parameters: ParameterGroups,
    pub work: Work,
}

/// A function that reads a result.
pub(crate) type Read = fn(Request) -> BoxFuture<'static, Result<Response, Refusal>>;

/// What an action does.
pub(crate) enum Work {
    /// It reads, when it is its turn.
    Read(Read),
    /// It is a call of JSON-RPC.
    Call(Call),
    /// It is refused, for this reason.
    Refuse(&'static str),
}

/// An action that an `async` function of a [`Request`] answers.
macro_rules! read {
    ($module:literal, $name:literal, [$($parameters:expr),*], $handler:path) => {
        $crate::etherscan::action::Action {
            module: $module,
            name: $name,
            parameters: &[$($parameters),*],
            work: $crate::etherscan::action::Work::Read(|request| Box::pin($handler(request))),
        }
    };
}

pub(crate) use read;

impl Action {
    /// An action that is refused.
    pub const fn refused(module: &'static str, name: &'static str, reason: &'static str) -> Self {
        Self { module, name, parameters: &[], work: Work::Refuse(reason) }
    }

    /// An action that is a call of JSON-RPC.
    pub const fn call(module: &'static str, name: &'static str, parameters: ParameterGroups, call: Call) -> Self {
        Self { module, name, parameters, work: Work::Call(call) }
    }

    pub fn is_called(&self, module: &str, name: &str) -> bool {
        self.module.eq_ignore_ascii_case(module) && self.name.eq_ignore_ascii_case(name)
    }
}
