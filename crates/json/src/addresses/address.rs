//! The address object of all REST responses (docs/reference/http-contract.md#addresses).

use std::collections::HashMap;
use std::sync::Arc;

use crate::{JsonWriter, Object};
use trawl_core::primitives::Address;

/// Facts about some addresses. Of an address without an entry nothing is known.
#[derive(Debug, Clone, Default)]
pub struct Addresses(pub HashMap<Address, AddressFacts>);

/// Facts about an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressFacts {
    /// Whether it has, or had, code of its own, or delegates to another account (EIP-7702); none where that is not
    /// known.
    pub is_contract: Option<bool>,
    /// Name of the token at this address.
    pub token_name: Option<String>,
    /// Its name in the name service, which leads back to it.
    pub primary_name: Option<Arc<str>>,
    /// Labels that operators loaded.
    pub labels: Arc<Labels>,
    /// Its implementation, if it is a proxy.
    pub proxy: Option<Proxy>,
}

/// Labels of an address that operators loaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Labels {
    /// Name that operators gave it.
    pub name: Option<String>,
    /// Its name in the name service.
    pub ens_domain_name: Option<String>,
    /// Name of the contract in its verified source.
    pub contract_name: Option<String>,
    /// The load of the current ABI; none without a verified ABI.
    pub abi: Option<u64>,
    /// The load of the current source; none if only an ABI was loaded.
    pub source: Option<u64>,
    /// Its tags in display order.
    pub tags: Vec<Tag>,
    /// What is said of it as a token.
    pub token: Option<TokenLabel>,
}

/// What operators say of a token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenLabel {
    /// Symbol of the token, such as `USDC`.
    pub symbol: String,
    /// Decimal digits of an amount that follow the point; none if operators did not say.
    pub decimals: Option<u8>,
    /// `ERC-20`, `ERC-721` or `ERC-1155`.
    pub token_type: Option<String>,
    /// Where its icon is.
    pub icon_url: Option<String>,
}

/// A public tag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tag {
    /// Its short name, unique at an address.
    pub slug: String,
    /// Text of the tag, as pages show it.
    pub name: String,
    /// `name`, `generic`, `classifier`, `information`, `note` or `protocol`.
    pub tag_type: String,
    /// The highest is shown first.
    pub ordinal: u32,
    /// Further members: the text of a JSON object, or empty.
    pub meta: String,
}

impl AddressFacts {
    /// Its name in the name service: as state has it, else as a label says.
    fn ens_domain_name(&self) -> Option<&str> {
        self.primary_name.as_deref().or(self.labels.ens_domain_name.as_deref())
    }

    /// Its name: of the label, else of the token, else of the verified source, which many contracts may share.
    fn name(&self) -> Option<&str> {
        let labels = &self.labels;
        let name = labels.name.as_deref().or(self.token_name.as_deref());
        name.or(labels.contract_name.as_deref())
    }
}

/// The implementation of a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proxy {
    /// Kind: `eip1167`, `eip1967`, `eip1822`, `eip1967_beacon`, `eip1967_oz`, `master_copy`, `eip2535`, `eip897`,
    /// `eip7702`, or by what names its implementation `basic_implementation`, `basic_get_implementation` or
    /// `comptroller`.
    pub kind: String,
    /// Its address, if known.
    pub implementation: Option<Address>,
    /// Further ones, of a diamond (EIP-2535).
    pub others: Vec<Address>,
}

impl Proxy {
    /// A proxy of a kind; what it forwards to is not known.
    #[must_use]
    pub fn new(kind: &str) -> Self {
        Self { kind: kind.into(), implementation: None, others: Vec::new() }
    }

    /// All that is known to run its calls.
    pub fn implementations(&self) -> impl Iterator<Item = &Address> {
        self.implementation.iter().chain(&self.others)
    }
}

impl Addresses {
    fn of(&self, address: &Address) -> Option<&AddressFacts> {
        self.0.get(address)
    }

    fn name(&self, address: &Address) -> Option<&str> {
        self.of(address)?.name()
    }

    /// Whether it is known to be a contract.
    #[must_use]
    pub fn is_contract(&self, address: &Address) -> bool {
        self.has_code(address) == Some(true)
    }

    /// Whether it is a contract, or an account that delegates to one; none where that is not known.
    #[must_use]
    pub fn has_code(&self, address: &Address) -> Option<bool> {
        let facts = self.of(address)?;
        if facts.labels.abi.is_some() { Some(true) } else { facts.is_contract }
    }

    /// Whether it is known to be a token with a name.
    #[must_use]
    pub fn is_token(&self, address: &Address) -> bool {
        self.of(address).is_some_and(|facts| facts.token_name.is_some())
    }

    /// Writes the object for `address`; unknown members are null.
    pub fn write(&self, writer: &mut JsonWriter, address: &Address) {
        let is_contract = self.has_code(address);
        writer.object(|object| self.write_members(object, address, is_contract));
    }

    /// Writes the members of the object for `address`, of which `is_contract` is known or not.
    pub(crate) fn write_members(&self, object: &mut Object<'_>, address: &Address, is_contract: Option<bool>) {
        let unknown = AddressFacts::default();
        let facts = self.of(address).unwrap_or(&unknown);
        let labels = &facts.labels;
        let implementation = facts.proxy.as_ref().and_then(|proxy| proxy.implementation);
        let checksummed = address.to_checksum(None);
        object.key("hash").string(&checksummed);
        let named = implementation.and_then(|implementation| self.name(&implementation));
        object.key("implementation_name").option(named, JsonWriter::string);
        object.key("name").option(facts.name(), JsonWriter::string);
        object.key("ens_domain_name").option(facts.ens_domain_name(), JsonWriter::string);
        object.key("metadata").option(labels.tags.split_first(), |writer, (first, _)| {
            // Clients read the first tag here, or the list of all (docs/reference/http-contract.md#family).
            writer.object(|metadata| {
                write_tag(metadata, first);
                metadata.key("tags").array(|tags| {
                    labels.tags.iter().for_each(|tag| tags.item().object(|item| write_tag(item, tag)));
                });
            });
        });
        object.key("is_contract").option(is_contract, JsonWriter::bool);
        object.key("private_tags").array(|_| {});
        object.key("watchlist_names").array(|_| {});
        object.key("public_tags").array(|tags| {
            for tag in &labels.tags {
                tags.item().object(|item| {
                    item.key("address_hash").string(&checksummed);
                    item.key("display_name").string(&tag.name);
                    item.key("label").string(&tag.slug);
                });
            }
        });
        // Accounts without code have no source to verify.
        let has_source = is_contract == Some(true);
        object.key("is_verified").option(has_source.then(|| self.source(address).is_some()), JsonWriter::bool);
        self.write_proxy(object, address);
        object.key("is_scam").bool(false);
        object.key("reputation").string("ok");
    }

    /// Writes the members for what runs the calls of `address`, if it is a proxy.
    pub(crate) fn write_proxy(&self, object: &mut Object<'_>, address: &Address) {
        let proxy = self.of(address).and_then(|facts| facts.proxy.as_ref());
        object.key("implementations").array(|implementations| {
            for address in proxy.into_iter().flat_map(Proxy::implementations) {
                implementations.item().object(|item| {
                    item.key("address_hash").string(&address.to_checksum(None));
                    item.key("name").option(self.name(address), JsonWriter::string);
                });
            }
        });
        object.key("proxy_type").option(proxy, |writer, proxy| writer.string(&proxy.kind));
    }

    /// The contract whose verified source is that of `address`, and the load of its ABI. A minimal proxy has no source
    /// of its own; its implementation counts.
    #[must_use]
    pub fn source(&self, address: &Address) -> Option<(Address, u64)> {
        let facts = self.of(address)?;
        let copied = facts.proxy.as_ref().filter(|proxy| proxy.kind == "eip1167");
        let original = copied.and_then(|proxy| proxy.implementation);
        let load = |address: Address| Some((address, self.of(&address)?.labels.abi?));
        load(*address).or_else(|| load(original?))
    }

    /// The load that brought the source of a contract whose ABI [`Self::source`] found.
    #[must_use]
    pub fn source_load(&self, source: &Address) -> Option<u64> {
        self.of(source)?.labels.source
    }

    /// The implementation of a proxy.
    pub(crate) fn proxy(&self, address: &Address) -> Option<&Proxy> {
        self.of(address)?.proxy.as_ref()
    }

    /// Everything it is called by labels.
    pub fn labelled_names(&self, address: &Address) -> impl Iterator<Item = &str> {
        let labels = self.of(address).map(|facts| &facts.labels);
        labels.into_iter().flat_map(|labels| {
            let names = [&labels.contract_name, &labels.name, &labels.ens_domain_name];
            let names = names.into_iter().filter_map(|name| name.as_deref());
            names.chain(labels.tags.iter().map(|tag| tag.name.as_str()))
        })
    }

    /// Its ENS name, if one is known.
    pub(crate) fn ens_domain_name(&self, address: &Address) -> Option<&str> {
        self.of(address)?.ens_domain_name()
    }

    /// What it is called.
    pub(crate) fn name_of(&self, address: &Address) -> Option<&str> {
        self.name(address)
    }

    /// The name of the contract in its verified source, or its other name.
    pub(crate) fn source_name(&self, address: &Address) -> Option<&str> {
        self.of(address)?.labels.contract_name.as_deref().or_else(|| self.name(address))
    }
}

fn write_tag(object: &mut Object<'_>, tag: &Tag) {
    object.key("slug").string(&tag.slug);
    object.key("name").string(&tag.name);
    object.key("tagType").string(&tag.tag_type);
    object.key("ordinal").number(tag.ordinal.into());
    // The load checked it; any other content must not break the page.
    let meta = serde_json::from_str::<serde_json::Map<_, _>>(&tag.meta).unwrap_or_default();
    object.key("meta").raw(serde_json::Value::Object(meta).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const ONE: Address = Address::repeat_byte(1);
    const TWO: Address = Address::repeat_byte(2);

    fn written(facts: AddressFacts) -> Value {
        let mut writer = JsonWriter::new();
        let original = Labels { contract_name: Some("Original".into()), abi: Some(1), ..Labels::default() };
        let copied = AddressFacts { labels: original.into(), ..AddressFacts::default() };
        Addresses([(ONE, facts), (TWO, copied)].into()).write(&mut writer, &ONE);
        serde_json::from_slice(&writer.into_bytes()).expect("valid JSON")
    }

    #[test]
    fn what_somebody_called_it_counts_before_its_class() {
        let mut labels = Labels { name: Some("Label".into()), ..Labels::default() };
        let facts = |labels: &Labels| AddressFacts {
            token_name: Some("Token".into()),
            labels: labels.clone().into(),
            ..AddressFacts::default()
        };
        labels.contract_name = Some("Source".into());
        assert_eq!(written(facts(&labels))["name"], "Label");
        labels.name = None;
        assert_eq!(written(facts(&labels))["name"], "Token");
        let bare = AddressFacts { token_name: None, ..facts(&labels) };
        assert_eq!(written(bare)["name"], "Source");
    }

    #[test]
    fn a_tag_is_written_in_both_forms() {
        let tag = |slug: &str, meta: &str| Tag {
            slug: slug.into(),
            name: slug.to_uppercase(),
            tag_type: "generic".into(),
            ordinal: 3,
            meta: meta.into(),
        };
        let labels = Labels { tags: vec![tag("a", "{\"b\": [1]}"), tag("c", "no json")], ..Labels::default() };
        let object = written(AddressFacts { labels: labels.into(), ..AddressFacts::default() });
        let first = json!({"slug": "a", "name": "A", "tagType": "generic", "ordinal": 3, "meta": {"b": [1]}});
        let second = json!({"slug": "c", "name": "C", "tagType": "generic", "ordinal": 3, "meta": {}});
        assert_eq!(object["metadata"]["tags"], json!([first, second]));
        assert_eq!((&object["metadata"]["slug"], &object["metadata"]["meta"]), (&first["slug"], &first["meta"]));
        let hash = &object["hash"];
        assert_eq!(object["public_tags"][1], json!({"address_hash": hash, "display_name": "C", "label": "c"}));
    }

    #[test]
    fn a_minimal_proxy_is_verified_if_its_implementation_is() {
        let proxy = |kind: &str| AddressFacts {
            is_contract: Some(true),
            proxy: Some(Proxy { implementation: Some(TWO), ..Proxy::new(kind) }),
            ..AddressFacts::default()
        };
        let object = written(proxy("eip1167"));
        assert_eq!((&object["is_verified"], &object["implementation_name"]), (&json!(true), &json!("Original")));
        assert_eq!(object["implementations"][0]["name"], "Original");
        assert_eq!(written(proxy("eip1967"))["is_verified"], false);
        assert_eq!(written(AddressFacts::default())["is_verified"], Value::Null);
    }
}
