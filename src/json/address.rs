//! The address object that every REST answer repeats (specification 2.1).

use std::collections::HashMap;

use super::JsonWriter;
use crate::primitives::Address;

/// What is known of some addresses. What is not in here is an account without a name.
#[derive(Debug, Clone, Default)]
pub struct Addresses(pub HashMap<Address, AddressFacts>);

/// What is known of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressFacts {
    /// Whether it has, or had, code of its own, or delegates to some (EIP-7702).
    pub is_contract: bool,
    /// Its name, if somebody gave it one.
    pub name: Option<String>,
    /// Where it forwards its calls to.
    pub proxy: Option<Proxy>,
}

/// Where a contract forwards its calls to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// How: `eip1167`, `eip1967`, `eip1822`, `eip1967_beacon` or `eip7702`.
    pub kind: String,
    /// To whom, if that is known.
    pub implementation: Option<Address>,
}

impl Addresses {
    fn of(&self, address: &Address) -> Option<&AddressFacts> {
        self.0.get(address)
    }

    fn name(&self, address: &Address) -> Option<&str> {
        self.of(address)?.name.as_deref()
    }

    /// Writes the object for `address`; what is unknown is null.
    pub fn write(&self, writer: &mut JsonWriter, address: &Address) {
        let unknown = AddressFacts::default();
        let facts = self.of(address).unwrap_or(&unknown);
        let implementation = facts.proxy.as_ref().and_then(|proxy| proxy.implementation);
        writer.object(|object| {
            object.key("hash").string(&address.to_checksum(None));
            let named = implementation.and_then(|implementation| self.name(&implementation));
            object.key("implementation_name").option(named, JsonWriter::string);
            object.key("name").option(facts.name.as_deref(), JsonWriter::string);
            object.key("ens_domain_name").null();
            object.key("metadata").null();
            object.key("is_contract").bool(facts.is_contract);
            object.key("private_tags").array(|_| {});
            object.key("watchlist_names").array(|_| {});
            object.key("public_tags").array(|_| {});
            // No source is on file for any contract; of accounts the question makes no sense.
            object.key("is_verified").option(facts.is_contract.then_some(false), JsonWriter::bool);
            object.key("implementations").array(|implementations| {
                if let Some(address) = implementation {
                    implementations.item().object(|item| {
                        item.key("address_hash").string(&address.to_checksum(None));
                        item.key("name").option(self.name(&address), JsonWriter::string);
                    });
                }
            });
            object.key("proxy_type").option(facts.proxy.as_ref(), |writer, proxy| writer.string(&proxy.kind));
            object.key("is_scam").bool(false);
            object.key("reputation").string("ok");
        });
    }
}
