//! What a transaction or a block of a chain has beyond Ethereum's, in REST
//! (docs/reference/http-contract.md#chain-facts).

use trawl_chains::{Fact, Family, InnerCall, RestFacts, RestMember, RestMembers, RestValue, TypeSigns};

use crate::transactions::type_of;
use crate::{Array, JsonWriter, Object};
use trawl_core::primitives::{Address, U256};
use trawl_core::schema::{BlockView, Column, TransactionView};

/// Most calls of a transaction that are written.
const MAX_CALLS: usize = 100;

/// Fields that a node gave beside those of columns; empty if there are none.
type OwnFields = serde_json::Map<String, serde_json::Value>;

/// Fields of a JSON object; none where there is no text.
fn fields(text: &[u8]) -> OwnFields {
    serde_json::from_slice(text).unwrap_or_default()
}

/// The name of the type of a transaction, where Ethereum does not have it.
#[must_use]
pub fn type_name(family: &Family, view: &TransactionView<'_>, row: usize) -> Option<&'static str> {
    let is_known = view.lacking.items::<String>(row).all(|column| column != "r" && column != "s");
    let is_signed = !(U256::get(&view.r, row).is_zero() && U256::get(&view.s, row).is_zero());
    family.type_name(TypeSigns {
        byte: view.transaction_type[row],
        from: Address::get(&view.from_address, row),
        is_signed: is_known.then_some(is_signed),
    })
}

/// The token that a transaction pays its gas with, where members of its family show that.
#[must_use]
pub fn gas_token(family: &Family, view: &TransactionView<'_>, row: usize) -> Option<Address> {
    // Most families have none, and need no look at the fields.
    family.rest.token()?;
    family.gas_token(&fields(transaction_fields(view, row)))
}

/// What the node gave of a transaction beside its columns.
fn transaction_fields<'v>(view: &'v TransactionView<'_>, row: usize) -> &'v [u8] {
    if type_of(view, row).has_columns() { view.extra_fields.value(row) } else { view.raw_transaction.value(row) }
}

/// Writes what a transaction has. `token`: the object of the token that pays its gas, as JSON.
pub(crate) fn write_transaction(
    item: &mut Object<'_>,
    family: &Family,
    view: &TransactionView<'_>,
    row: usize,
    token: Option<&[u8]>,
) {
    if family.rest.members.is_empty() && !family.has_own_transactions() {
        return;
    }
    let receipt = match type_of(view, row).has_columns() {
        true => view.receipt_extra_fields.value(row),
        false => view.raw_receipt.value(row),
    };
    let facts = RestFacts {
        transaction: &fields(transaction_fields(view, row)),
        receipt: &fields(receipt),
        gas_used: view.gas_used[row],
        price: U256::get(&view.effective_gas_price, row),
    };
    write_members(item, family.rest, &facts, token);
    if !family.has_own_transactions() {
        return;
    }
    let is_paid = view.has_receipt[row] == 1;
    item.key("chain_facts").object(|object| {
        object.key("type").option(type_name(family, view, row), JsonWriter::string);
        let parts = if is_paid { family.reader.fee } else { &[] };
        object.key("fee").array(|list| write_facts(list, parts, &facts));
        object.key("facts").array(|list| write_facts(list, family.reader.transaction, &facts));
        let calls = family.calls(&facts);
        object.key("calls_count").option(calls.as_ref().map(|calls| calls.len() as u64), JsonWriter::number);
        object.key("calls").option(calls, |writer, calls| {
            writer.array(|list| calls.iter().take(MAX_CALLS).for_each(|call| write_call(list, call)));
        });
    });
}

/// Writes what a block has.
pub(crate) fn write_block(item: &mut Object<'_>, family: &Family, view: &BlockView<'_>, row: usize) {
    if family.block_rest.members.is_empty() && family.reader.block.is_empty() {
        return;
    }
    let (block, none) = (fields(view.extra_fields.value(row)), OwnFields::new());
    let facts = RestFacts { transaction: &block, receipt: &none, gas_used: view.gas_used[row], price: U256::ZERO };
    write_members(item, family.block_rest, &facts, None);
    item.key("chain_facts").array(|list| write_facts(list, family.reader.block, &facts));
}

/// Members in the object of the family, or beside the others. `token`: the object of the token that pays for gas.
fn write_members(
    item: &mut Object<'_>,
    RestMembers { object, members }: RestMembers,
    facts: &RestFacts<'_>,
    token: Option<&[u8]>,
) {
    match object {
        _ if members.is_empty() => {}
        Some(name) => item.key(name).object(|object| write_each(object, members, facts, token)),
        None => write_each(item, members, facts, token),
    }
}

/// Members that follow from what the node gave; null where it did not give it.
fn write_each(object: &mut Object<'_>, members: &[RestMember], facts: &RestFacts<'_>, token: Option<&[u8]>) {
    for member in members {
        let writer = object.key(member.key);
        match member.source.value(facts) {
            Some(RestValue::Text(text)) => writer.string(&text),
            Some(RestValue::Number(number)) => writer.number(number),
            Some(RestValue::Token(_)) => writer.option(token, JsonWriter::raw),
            Some(RestValue::Object(inner)) => writer.object(|object| write_each(object, inner, facts, token)),
            None => writer.null(),
        }
    }
}

/// Those facts that the node gave.
fn write_facts(list: &mut Array<'_>, facts: &[Fact], of: &RestFacts<'_>) {
    for (fact, value) in facts.iter().filter_map(|fact| Some((fact, fact.value(of)?))) {
        list.item().object(|object| {
            object.key("name").string(fact.name);
            object.key("unit").string(fact.unit.name());
            object.key("value").string(&value);
        });
    }
}

fn write_call(list: &mut Array<'_>, call: &InnerCall) {
    list.item().object(|object| {
        let to = call.to.map(|to| to.to_checksum(None));
        object.key("to").option(to.as_deref(), JsonWriter::string);
        object.key("value").string(&call.value);
        object.key("input").string(&call.input);
    });
}
