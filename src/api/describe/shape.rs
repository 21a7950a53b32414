//! The words that descriptions are made of: records, lists, and the few kinds of text that answers hold.

use serde_json::{Value, json};
use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, ArrayBuilder, ArrayItems, KnownFormat, ObjectBuilder, OneOfBuilder, Schema,
    SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Ref, RefOr};

/// A schema, or the name of one.
pub(super) type Shape = RefOr<Schema>;

/// A member of a record: its name, its shape and what it means; no words where the name says it all.
pub(super) type Field = (&'static str, Shape, &'static str);

fn of(object: ObjectBuilder) -> Shape {
    RefOr::T(object.build().into())
}

fn typed(ty: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(ty)
}

/// A shape that is described once, under its name.
pub(super) fn named(name: &str) -> Shape {
    RefOr::Ref(Ref::from_schema_name(name))
}

/// The same shape with words to it.
pub(super) fn said(shape: Shape, words: &str) -> Shape {
    if words.is_empty() {
        return shape;
    }
    match shape {
        RefOr::Ref(mut named) => {
            named.description = words.to_owned();
            RefOr::Ref(named)
        }
        RefOr::T(mut schema) => {
            let description = match &mut schema {
                Schema::Array(array) => &mut array.description,
                Schema::Object(object) => &mut object.description,
                Schema::OneOf(one) => &mut one.description,
                Schema::AllOf(all) => &mut all.description,
                Schema::AnyOf(any) => &mut any.description,
                _ => return RefOr::T(schema),
            };
            *description = Some(words.to_owned());
            RefOr::T(schema)
        }
    }
}

/// An object with these members and no others, all of them always there.
pub(super) fn record(fields: Vec<Field>) -> Shape {
    record_with(fields, Vec::new())
}

/// An object with these members, of which the last may be absent, and no others.
pub(super) fn record_with(fields: Vec<Field>, optional: Vec<Field>) -> Shape {
    of(members(fields, optional).additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false))))
}

/// An object with these members, of which the last may be absent, and whatever else its source gave it.
pub(super) fn open_record(fields: Vec<Field>, optional: Vec<Field>) -> Shape {
    of(members(fields, optional))
}

fn members(fields: Vec<Field>, optional: Vec<Field>) -> ObjectBuilder {
    let mut object = typed(Type::Object);
    for (name, _, _) in &fields {
        object = object.required(*name);
    }
    for (name, shape, words) in fields.into_iter().chain(optional) {
        object = object.property(name, said(shape, words));
    }
    object
}

/// An object whose members have names of their own and one shape.
pub(super) fn map_of(shape: Shape) -> Shape {
    of(typed(Type::Object).additional_properties(Some(AdditionalProperties::RefOr(shape))))
}

/// An array.
pub(super) fn list(items: Shape) -> Shape {
    RefOr::T(ArrayBuilder::new().items(ArrayItems::from(items)).build().into())
}

/// An array of at most so many.
pub(super) fn short_list(items: Shape, most: usize) -> Shape {
    RefOr::T(ArrayBuilder::new().items(ArrayItems::from(items)).max_items(Some(most)).build().into())
}

/// An array with exactly these, in this order. Items that are named elsewhere have to be spelt out here.
pub(super) fn tuple(items: Vec<Schema>) -> Shape {
    let count = Some(items.len());
    let array = ArrayBuilder::new().items(ArrayItems::False).min_items(count).max_items(count);
    let array = if items.is_empty() { array } else { array.prefix_items(items) };
    RefOr::T(array.build().into())
}

/// The shape, or null.
pub(super) fn nullable(shape: Shape) -> Shape {
    match shape {
        RefOr::T(Schema::Object(mut object)) => {
            if let SchemaType::Type(ty) = object.schema_type {
                object.schema_type = SchemaType::Array(vec![ty, Type::Null]);
            }
            if let Some(values) = &mut object.enum_values {
                values.push(Value::Null);
            }
            RefOr::T(Schema::Object(object))
        }
        other => RefOr::T(OneOfBuilder::new().item(null()).item(other).build().into()),
    }
}

/// Exactly one of these.
pub(super) fn one_of(shapes: Vec<Shape>) -> Shape {
    RefOr::T(shapes.into_iter().fold(OneOfBuilder::new(), OneOfBuilder::item).build().into())
}

/// One or more of these.
pub(super) fn any_of(shapes: Vec<Shape>) -> Shape {
    RefOr::T(shapes.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item).build().into())
}

/// Always null.
pub(super) fn null() -> Shape {
    of(typed(Type::Null))
}

/// `true` or `false`.
pub(super) fn boolean() -> Shape {
    of(typed(Type::Boolean))
}

/// A number that a double holds.
pub(super) fn number() -> Shape {
    of(typed(Type::Number))
}

/// An integer from 0.
pub(super) fn count() -> Shape {
    integer(0, i64::MAX)
}

/// An integer between two.
pub(super) fn integer(least: i64, most: i64) -> Shape {
    let number = typed(Type::Integer).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)));
    let bound = |bound: i64| isize::try_from(bound).ok();
    of(number.minimum(bound(least)).maximum(bound(most)))
}

/// An integer of any size from 0, all digits of which count.
pub(super) fn big_integer() -> Shape {
    of(typed(Type::Integer).minimum(Some(0)))
}

/// Any text.
pub(super) fn text() -> Shape {
    of(typed(Type::String))
}

/// One of these words.
pub(super) fn word(words: &[&str]) -> Shape {
    of(typed(Type::String).enum_values(Some(words.iter().map(|word| json!(word)))))
}

/// Text of a pattern.
pub(super) fn pattern(pattern: &str) -> Shape {
    of(typed(Type::String).pattern(Some(pattern)))
}

/// An integer as text of decimal digits.
pub(super) fn decimal() -> Shape {
    pattern("^(0|[1-9][0-9]*)$")
}

/// An amount with a point, as text.
pub(super) fn amount() -> Shape {
    pattern("^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$")
}

/// 32 bytes in hexadecimal, lower case.
pub(super) fn hash() -> Shape {
    pattern("^0x[0-9a-f]{64}$")
}

/// Any number of bytes in hexadecimal, lower case.
pub(super) fn bytes() -> Shape {
    pattern("^0x([0-9a-f]{2})*$")
}

/// A number in hexadecimal without leading zeros, as nodes write it.
pub(super) fn quantity() -> Shape {
    pattern("^0x(0|[1-9a-f][0-9a-f]*)$")
}

/// An address with the checksum of EIP-55.
pub(super) fn checksummed() -> Shape {
    pattern("^0x[0-9a-fA-F]{40}$")
}

/// An address in lower case.
pub(super) fn plain_address() -> Shape {
    pattern("^0x[0-9a-f]{40}$")
}

/// A time with six digits behind the second.
pub(super) fn timestamp() -> Shape {
    let text = typed(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
    of(text.pattern(Some("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z$")))
}

/// Anything at all.
pub(super) fn anything() -> Shape {
    of(ObjectBuilder::new().schema_type(SchemaType::AnyValue))
}
