//! What a transaction or a block of a chain has beyond Ethereum's, in REST
//! (docs/reference/http-contract.md#chain-facts).

use trawl_chains::{Fact, Family, InnerCall, RestFacts, RestMembers, RestValue, TypeSigns};

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

/// Writes what a transaction has.
pub(crate) fn write_transaction(item: &mut Object<'_>, family: &Family, view: &TransactionView<'_>, row: usize) {
    if family.rest.members.is_empty() && !family.has_own_transactions() {
        return;
    }
    let (transaction, receipt) = match type_of(view, row).has_columns() {
        true => (view.extra_fields.value(row), view.receipt_extra_fields.value(row)),
        false => (view.raw_transaction.value(row), view.raw_receipt.value(row)),
    };
    let facts = RestFacts {
        transaction: &fields(transaction),
        receipt: &fields(receipt),
        gas_used: view.gas_used[row],
        price: U256::get(&view.effective_gas_price, row),
    };
    write_members(item, family.rest, &facts);
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
    write_members(item, family.block_rest, &facts);
    item.key("chain_facts").array(|list| write_facts(list, family.reader.block, &facts));
}

/// Members that follow from what the node gave; null where it did not give it.
fn write_members(item: &mut Object<'_>, RestMembers { object, members }: RestMembers, facts: &RestFacts<'_>) {
    let write = |object: &mut Object<'_>| {
        for member in members {
            match member.source.value(facts) {
                Some(RestValue::Text(text)) => object.key(member.key).string(&text),
                Some(RestValue::Number(number)) => object.key(member.key).number(number),
                None => object.key(member.key).null(),
            }
        }
    };
    match object {
        _ if members.is_empty() => {}
        Some(name) => item.key(name).object(write),
        None => write(item),
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
