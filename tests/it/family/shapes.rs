//! The shapes of the API family's objects: a small language of types, and whether JSON is of a type.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

/// A type. Null is of every type: what is unknown here is null.
#[derive(Debug, Clone)]
pub enum Shape {
    /// `str<Pattern>`, `int`, `num`, `bool`, `object`, or a literal text.
    Word(String, Option<String>),
    /// `[T]`: an array, all of whose items are `T`.
    List(Box<Shape>),
    /// `{a: T, b~: T}`; a member with `~` may be missing.
    Record(Vec<(String, bool, Shape)>),
    /// `T|T`: one of these types.
    Any(Vec<Shape>),
}

/// The named types.
pub type Shapes = BTreeMap<String, Shape>;

/// Reads a file of named records: a heading with the name, and a line for each member.
pub fn read(text: &str) -> anyhow::Result<Shapes> {
    let (mut shapes, mut name) = (Shapes::new(), String::new());
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            name = heading.trim().to_owned();
            shapes.insert(name.clone(), Shape::Record(Vec::new()));
        } else if let Some((member, of)) = line.trim().split_once(" : ") {
            let Some(Shape::Record(members)) = shapes.get_mut(&name) else { bail!("{line}: no heading") };
            members.push((member.trim_end_matches('~').to_owned(), member.ends_with('~'), parse(of)?));
        }
    }
    Ok(shapes)
}

/// Reads one type.
pub fn parse(text: &str) -> anyhow::Result<Shape> {
    let mut rest = text.trim();
    let shape = alternatives(&mut rest).with_context(|| text.to_owned())?;
    ensure!(rest.is_empty(), "{text}: {rest} is left over");
    Ok(shape)
}

fn skip(rest: &mut &str, character: char) -> bool {
    let after = rest.trim_start().strip_prefix(character);
    *rest = after.unwrap_or(rest);
    after.is_some()
}

fn alternatives(rest: &mut &str) -> anyhow::Result<Shape> {
    let mut all = Vec::new();
    loop {
        all.push(one(rest)?);
        while skip(rest, '?') {}
        if !skip(rest, '|') {
            return Ok(if all.len() == 1 { all.remove(0) } else { Shape::Any(all) });
        }
    }
}

fn one(rest: &mut &str) -> anyhow::Result<Shape> {
    if skip(rest, '[') {
        let item = alternatives(rest)?;
        ensure!(skip(rest, ']'), "no ] at {rest}");
        return Ok(Shape::List(Box::new(item)));
    }
    if skip(rest, '{') {
        let mut members = Vec::new();
        loop {
            let (name, after) = rest.split_once(':').context("no : after a member")?;
            *rest = after;
            let name = name.trim();
            members.push((name.trim_end_matches('~').to_owned(), name.ends_with('~'), alternatives(rest)?));
            if !skip(rest, ',') {
                ensure!(skip(rest, '}'), "no }} at {rest}");
                return Ok(Shape::Record(members));
            }
        }
    }
    *rest = rest.trim_start();
    let end = rest.find(|c: char| "|?[]{}<>,".contains(c)).unwrap_or(rest.len());
    let word = rest[..end].trim().to_owned();
    *rest = &rest[end..];
    if rest.starts_with("?<") {
        skip(rest, '?');
    }
    let pattern = if skip(rest, '<') {
        let (pattern, after) = rest.split_once('>').context("no >")?;
        *rest = after;
        Some(pattern.to_owned())
    } else {
        None
    };
    Ok(Shape::Word(word, pattern))
}

/// What is wrong with a value, each with its path.
pub fn check(shapes: &Shapes, shape: &Shape, value: &Value, path: &str) -> Vec<String> {
    if value.is_null() {
        return Vec::new();
    }
    match shape {
        Shape::Any(all) => {
            let found: Vec<Vec<String>> = all.iter().map(|one| check(shapes, one, value, path)).collect();
            if found.iter().any(Vec::is_empty) { Vec::new() } else { found.into_iter().next().unwrap_or_default() }
        }
        Shape::List(item) => match value.as_array() {
            Some(items) => items.iter().flat_map(|one| check(shapes, item, one, &format!("{path}[]"))).collect(),
            None => vec![format!("{path}: {value} is no list")],
        },
        Shape::Record(members) => match value.as_object() {
            Some(object) => members
                .iter()
                .flat_map(|(name, is_optional, of)| match object.get(name) {
                    Some(member) => check(shapes, of, member, &format!("{path}.{name}")),
                    None if *is_optional => Vec::new(),
                    None => vec![format!("{path}.{name} is missing")],
                })
                .collect(),
            None => vec![format!("{path}: {value} is no object")],
        },
        Shape::Word(word, pattern) => match shapes.get(word) {
            Some(named) => check(shapes, named, value, path),
            None if is_of(word, pattern.as_deref(), value) => Vec::new(),
            None => vec![format!("{path}: {value} is not {word} {}", pattern.as_deref().unwrap_or_default())],
        },
    }
}

fn is_of(word: &str, pattern: Option<&str>, value: &Value) -> bool {
    match word {
        "str" => value.as_str().is_some_and(|text| fits(pattern.unwrap_or_default(), text)),
        "int" => value.is_u64() || value.is_i64(),
        "num" => value.is_number(),
        "bool" => value.is_boolean(),
        "object" => value.is_object(),
        // Types whose members are not listed, and `?` for anything.
        _ if word.is_empty() || word.starts_with(|c: char| c.is_ascii_uppercase()) => true,
        literal => value.as_str() == Some(literal),
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let hex = |digits: Option<usize>| {
        let bytes = text.strip_prefix("0x").map(str::as_bytes);
        bytes.is_some_and(|all| all.iter().all(u8::is_ascii_hexdigit) && digits.is_none_or(|count| all.len() == count))
    };
    match pattern.trim_end_matches("Nullable") {
        "IntegerString" => text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit()),
        "FloatString" => text.parse::<f64>().is_ok(),
        "FullHash" => hex(Some(64)),
        "AddressHash" => hex(Some(40)),
        "HexString" => hex(None),
        _ => true,
    }
}
