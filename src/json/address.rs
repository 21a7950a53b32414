//! The address object that every REST answer repeats (specification 2.1).

use super::JsonWriter;
use crate::primitives::Address;

/// Writes the object for `address`. Nothing but the address is known of it yet, and what is unknown is null.
pub fn write_address(writer: &mut JsonWriter, address: &Address) {
    writer.object(|object| {
        object.key("hash").string(&address.to_checksum(None));
        object.key("implementation_name").null();
        object.key("name").null();
        object.key("ens_domain_name").null();
        object.key("metadata").null();
        object.key("is_contract").bool(false);
        object.key("private_tags").array(|_| {});
        object.key("watchlist_names").array(|_| {});
        object.key("public_tags").array(|_| {});
        object.key("is_verified").null();
        object.key("implementations").array(|_| {});
        object.key("proxy_type").null();
        object.key("is_scam").bool(false);
        object.key("reputation").string("ok");
    });
}
