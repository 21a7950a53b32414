//! Names of ENS in the state after the head: the primary name of an address, and the address of a name.
//!
//! <https://docs.ens.domains/resolution>: a registry knows the resolver of a name, and that the rest. Anyone can give
//! an address any primary name, so one counts only where the name leads back to the address. Names that a resolver
//! looks up elsewhere (ENSIP-10, EIP-3668) are not followed: only loaded state is read.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use alloy_ens::{namehash, reverse_address};
use alloy_primitives::hex;

use super::contract_calls::ContractCalls;
use crate::app::App;
use crate::error::Problem;
use trawl_core::primitives::domain_name::DomainName;
use trawl_core::primitives::returned::{number, text};
use trawl_core::primitives::{Address, B256, Bytes};
use trawl_core::store::Head;

/// `resolver(bytes32)` of the registry: the resolver of a node.
const RESOLVER: [u8; 4] = hex!("0178b8bf");
/// `name(bytes32)` of a resolver: the name of a node.
const NAME: [u8; 4] = hex!("691f3431");
/// `addr(bytes32)` of a resolver: the address of a node (ERC-137).
const ADDRESS: [u8; 4] = hex!("3b3b57de");

impl App {
    /// The primary name of an address, if it is verified; `None` where the state or the time does not suffice.
    ///
    /// # Errors
    ///
    /// When the store fails.
    async fn primary_name(&self, head: &Head, address: Address) -> Result<Option<Arc<str>>, Problem> {
        if let Some(known) = self.names().known(head, address) {
            return Ok(known);
        }
        let Some(service) = NameService::at_head(self, head) else { return Ok(None) };
        let name = known(service.primary_name(address).await)?.flatten();
        self.names().keep(head, address, name.clone());
        Ok(name)
    }

    /// The primary names of some addresses, of those that have one.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn primary_names(
        &self,
        head: &Head,
        addresses: &BTreeSet<Address>,
    ) -> Result<HashMap<Address, Arc<str>>, Problem> {
        let mut found = HashMap::new();
        for address in addresses {
            found.extend(self.primary_name(head, *address).await?.map(|name| (*address, name)));
        }
        Ok(found)
    }

    /// The address of a name, if it has one.
    ///
    /// # Errors
    ///
    /// When the store fails.
    pub(crate) async fn named_address(&self, head: &Head, name: &DomainName) -> Result<Option<Address>, Problem> {
        let Some(service) = NameService::at_head(self, head) else { return Ok(None) };
        Ok(known(service.address(name).await)?.flatten())
    }
}

/// `None` for an answer that is not known.
fn known<T>(answer: Result<T, Problem>) -> Result<Option<T>, Problem> {
    match answer {
        Err(Problem::StateMissing(_) | Problem::RulesUnknown(_) | Problem::CallTooLong) => Ok(None),
        answer => answer.map(Some),
    }
}

/// A registry, and the state on which it is called.
struct NameService<'c> {
    calls: ContractCalls<'c>,
    registry: Address,
}

impl<'c> NameService<'c> {
    /// `None` for an empty chain, and where the operator turned names off.
    fn at_head(app: &'c App, head: &Head) -> Option<Self> {
        Some(Self { calls: ContractCalls::at_head(app, head)?, registry: app.options().ens_registry? })
    }

    async fn primary_name(&self, address: Address) -> Result<Option<Arc<str>>, Problem> {
        let node = namehash(&reverse_address(&address));
        let Some(resolver) = self.resolver(node).await? else { return Ok(None) };
        let name = self.calls.answer(resolver, input(NAME, node)).await?.and_then(|answer| text(&answer));
        // A name that is not in normalized form is no name, whatever it looks like.
        let name = name.and_then(|name| DomainName::new(&name).filter(|read| read.as_str() == name));
        let Some(name) = name else { return Ok(None) };
        let is_own = self.address(&name).await? == Some(address);
        Ok(is_own.then(|| name.as_str().into()))
    }

    async fn address(&self, name: &DomainName) -> Result<Option<Address>, Problem> {
        let node = namehash(name.as_str());
        let Some(resolver) = self.resolver(node).await? else { return Ok(None) };
        self.returned_address(resolver, input(ADDRESS, node)).await
    }

    async fn resolver(&self, node: B256) -> Result<Option<Address>, Problem> {
        self.returned_address(self.registry, input(RESOLVER, node)).await
    }

    /// The address that a call returns, if it is one.
    async fn returned_address(&self, contract: Address, input: Bytes) -> Result<Option<Address>, Problem> {
        let answer = self.calls.answer(contract, input).await?;
        let word = answer.and_then(|answer| number(&answer)).map(B256::from);
        let word = word.filter(|word| word[..12] == [0; 12] && !word.is_zero());
        Ok(word.map(Address::from_word))
    }
}

fn input(selector: [u8; 4], node: B256) -> Bytes {
    [&selector[..], node.as_slice()].concat().into()
}
