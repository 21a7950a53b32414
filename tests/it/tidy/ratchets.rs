//! Ceilings that may only fall: what the house has too much of. Who lowers a number edits it here.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::ensure;
use syn::visit::Visit;
use xtask::workspace;

use super::{FOLDERS, PRODUCT, imports, name, rust_files};

/// Types whose name is one participle or pronoun (`Told`, `What`), which says nothing of what they are.
const NAMELESS_TYPES: usize = 0;
/// Functions of the product with a tuple as a parameter, whose parts have no names where they are called.
const TUPLE_PARAMETERS: usize = 0;
/// Lines over 120 columns: comments, which the formatter leaves alone.
const WIDE_LINES: usize = 338;
/// Comments of one or two words ("Its hash."), which repeat the name.
const SHORT_COMMENTS: usize = 6;
/// Files and folders on one level of a package.
const ON_ONE_LEVEL: usize = 20;
/// Folders at the top of a package that import each other in a loop, by package.
const FOLDERS_IN_LOOPS: [(&str, usize); 3] = [("src", 0), ("ingest/src", 0), ("engine/src", 0)];

/// Words of such names that no ending betrays.
const IRREGULAR: [&str; 24] = [
    "Broken", "Found", "Gone", "Has", "Held", "Hold", "Keep", "Kept", "Known", "Left", "Lost", "Made", "Own", "Paid",
    "Seen", "Sent", "Shown", "Sought", "Spent", "Taken", "Told", "What", "Whole", "Written",
];

/// Nouns that end like participles.
const NOUNS: [&str; 11] = [
    "Encoding", "Ending", "Feed", "Funding", "Mining", "Ranking", "Setting", "Sharding", "Wording", "Listing",
    "Finding",
];

/// Whether a type's name is one participle or pronoun.
fn is_nameless(name: &str) -> bool {
    let is_one_word = name.chars().filter(|letter| letter.is_uppercase()).count() == 1;
    let ends_so = ["ed", "ing"].iter().any(|ending| name.ends_with(ending));
    is_one_word && !NOUNS.contains(&name) && (ends_so || IRREGULAR.contains(&name))
}

/// What the syntax of a file has of these things.
#[derive(Default)]
struct Counts {
    nameless: Vec<String>,
    tuples: usize,
}

impl<'ast> Visit<'ast> for Counts {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let ident = match item {
            syn::Item::Struct(item) => Some(&item.ident),
            syn::Item::Enum(item) => Some(&item.ident),
            syn::Item::Trait(item) => Some(&item.ident),
            syn::Item::Type(item) => Some(&item.ident),
            _ => None,
        };
        self.nameless.extend(ident.map(ToString::to_string).filter(|name| is_nameless(name)));
        syn::visit::visit_item(self, item);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        let is_tuple = |input: &syn::FnArg| match input {
            syn::FnArg::Typed(input) => matches!(&*input.ty, syn::Type::Tuple(_)),
            syn::FnArg::Receiver(_) => false,
        };
        self.tuples += usize::from(signature.inputs.iter().any(is_tuple));
        syn::visit::visit_signature(self, signature);
    }
}

fn counts(folders: &[&str]) -> anyhow::Result<Counts> {
    let mut counts = Counts::default();
    for file in folders.iter().flat_map(|folder| rust_files(folder)) {
        counts.visit_file(&syn::parse_file(&fs::read_to_string(&file)?)?);
    }
    Ok(counts)
}

/// A number that is below its ceiling by much is a ceiling that somebody forgot to lower.
fn hold(rule: &str, found: usize, ceiling: usize) -> anyhow::Result<()> {
    ensure!(found <= ceiling, "{rule}: {found}, and there may be {ceiling}");
    ensure!(found + 5 + ceiling / 10 >= ceiling, "{rule}: {found}: lower the ceiling of {ceiling}");
    Ok(())
}

#[test]
fn types_are_nouns() -> anyhow::Result<()> {
    let nameless = counts(&FOLDERS)?.nameless;
    hold(&format!("types named {nameless:?}"), nameless.len(), NAMELESS_TYPES)
}

#[test]
fn parameters_have_names() -> anyhow::Result<()> {
    hold("functions with a tuple as a parameter", counts(&PRODUCT)?.tuples, TUPLE_PARAMETERS)
}

#[test]
fn comments_are_as_wide_as_code_and_say_something() -> anyhow::Result<()> {
    let (mut wide, mut short) = (0, 0);
    for file in FOLDERS.iter().flat_map(|folder| rust_files(folder)) {
        let text = fs::read_to_string(&file)?;
        let mut is_in_comment = false;
        for line in text.lines() {
            wide += usize::from(line.chars().count() > 120);
            let comment = line.trim_start().strip_prefix("/// ");
            let is_short = comment.is_some_and(|text| text.ends_with('.') && text.split(' ').count() <= 2);
            short += usize::from(is_short && !is_in_comment);
            is_in_comment = comment.is_some();
        }
    }
    hold("lines over 120 columns", wide, WIDE_LINES)?;
    hold("comments of one or two words", short, SHORT_COMMENTS)
}

#[test]
fn levels_can_be_looked_over() -> anyhow::Result<()> {
    let mut levels: BTreeMap<String, usize> = BTreeMap::new();
    for file in PRODUCT.iter().flat_map(|folder| rust_files(folder)) {
        *levels.entry(name(file.parent().unwrap_or(Path::new("")))).or_default() += 1;
    }
    let (level, files) = levels.into_iter().max_by_key(|(_, files)| *files).unwrap_or_default();
    hold(&format!("files in {level}"), files, ON_ONE_LEVEL)
}

#[test]
fn folders_do_not_import_each_other() -> anyhow::Result<()> {
    for (folder, ceiling) in FOLDERS_IN_LOOPS {
        let rooms = imports::rooms_in_loops(&workspace::root().join(folder).join("lib.rs"))?;
        hold(&format!("{folder}: {rooms:?} in loops"), rooms.len(), ceiling)?;
    }
    Ok(())
}
