//! The imports of a package as its syntax has them: which file names items of which other file, and circles of those.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use syn::visit::Visit;

/// A module by its path from the root of the package.
type Module = Vec<String>;

/// The files of a package.
struct Package {
    files: BTreeMap<Module, syn::File>,
    /// A name that a module hands on, and the path that it stands for.
    re_exports: BTreeMap<(Module, String), Vec<String>>,
}

/// Circles of files below `root`, a `lib.rs` or `main.rs`: each is the set of modules that import each other in a loop.
/// Code of tests is left out, and so is what a module only hands on (`pub use`).
pub fn circles(root: &Path) -> anyhow::Result<Vec<BTreeSet<String>>> {
    let mut package = Package { files: BTreeMap::new(), re_exports: BTreeMap::new() };
    package.read(root, Vec::new(), root.parent().context("a folder")?)?;
    let edges: BTreeMap<&Module, BTreeSet<Module>> =
        package.files.iter().map(|(module, file)| (module, package.imports(module, file))).collect();
    let reachable = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = open.pop() {
            let new = edges[&module].iter().filter(|next| seen.insert((*next).clone()));
            open.extend(new.cloned());
        }
        seen
    };
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        edges.keys().map(|module| (*module, reachable(module))).collect();
    let name = |module: &Module| if module.is_empty() { "the root".into() } else { module.join("::") };
    let circles: BTreeSet<BTreeSet<String>> = reached
        .iter()
        .filter(|(module, found)| found.contains(**module))
        .map(|(module, found)| found.iter().filter(|other| reached[other].contains(*module)).map(&name).collect())
        .collect();
    Ok(circles.into_iter().collect())
}

impl Package {
    fn read(&mut self, path: &Path, module: Module, folder: &Path) -> anyhow::Result<()> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut file = syn::parse_file(&text).with_context(|| path.display().to_string())?;
        file.items.retain(|item| !is_of_tests(item));
        for item in &file.items {
            match item {
                syn::Item::Mod(child) if child.content.is_none() => {
                    let name = child.ident.to_string();
                    let path: PathBuf = folder.join(format!("{name}.rs"));
                    let inner = [module.as_slice(), std::slice::from_ref(&name)].concat();
                    self.read(&path, inner, &folder.join(name))?;
                }
                syn::Item::Use(import) if !matches!(import.vis, syn::Visibility::Inherited) => {
                    for (name, path) in flat(&import.tree) {
                        self.re_exports.insert((module.clone(), name), path);
                    }
                }
                _ => {}
            }
        }
        self.files.insert(module, file);
        Ok(())
    }

    /// The other files whose items a file names.
    fn imports(&self, module: &Module, file: &syn::File) -> BTreeSet<Module> {
        let mut paths = Paths::default();
        paths.visit_file(file);
        let imported: BTreeMap<String, Vec<String>> = paths.uses.iter().cloned().collect();
        let inline = paths.inline.into_iter().map(|path| match imported.get(&path[0]) {
            Some(start) => [start.as_slice(), &path[1..]].concat(),
            None => path,
        });
        let uses = paths.uses.iter().map(|(_, path)| path.clone());
        uses.chain(inline).filter_map(|path| self.defining(module, &path, 0)).filter(|found| found != module).collect()
    }

    /// The module that defines the item at a path, through whatever hands it on; none for a module or another package.
    fn defining(&self, from: &Module, path: &[String], depth: u32) -> Option<Module> {
        let mut at: Module;
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (at, rest) = (Vec::new(), &rest[1..]),
            "self" | "super" => {
                at = from.clone();
                while let Some(step @ ("self" | "super")) = rest.first().map(String::as_str) {
                    if step == "super" {
                        at.pop();
                    }
                    rest = &rest[1..];
                }
            }
            first if self.files.contains_key(&[from.as_slice(), &[first.to_owned()]].concat()) => at = from.clone(),
            _ => return None,
        }
        while let Some(next) = rest.first() {
            let inner = [at.as_slice(), std::slice::from_ref(next)].concat();
            if !self.files.contains_key(&inner) {
                break;
            }
            (at, rest) = (inner, &rest[1..]);
        }
        let item = rest.first()?;
        match self.re_exports.get(&(at.clone(), item.clone())) {
            Some(origin) if depth < 8 => self.defining(&at, &[origin.as_slice(), &rest[1..]].concat(), depth + 1),
            _ => Some(at),
        }
    }
}

/// Whether an item is there for tests alone.
fn is_of_tests(item: &syn::Item) -> bool {
    let attributes = match item {
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        _ => return false,
    };
    let is_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg")
            && matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().contains("test"))
    };
    attributes.iter().any(is_test)
}

/// The names that a `use` brings, with their paths; `*` stands for itself.
fn flat(tree: &syn::UseTree) -> Vec<(String, Vec<String>)> {
    match tree {
        syn::UseTree::Path(path) => {
            let inner = flat(&path.tree).into_iter().map(|(name, rest)| {
                let start = path.ident.to_string();
                let name = if name == "self" { start.clone() } else { name };
                let rest = if rest == ["self"] { Vec::new() } else { rest };
                (name, [&[start], rest.as_slice()].concat())
            });
            inner.collect()
        }
        syn::UseTree::Name(name) => vec![(name.ident.to_string(), vec![name.ident.to_string()])],
        syn::UseTree::Rename(name) => vec![(name.rename.to_string(), vec![name.ident.to_string()])],
        syn::UseTree::Glob(_) => vec![("*".into(), vec!["*".into()])],
        syn::UseTree::Group(group) => group.items.iter().flat_map(flat).collect(),
    }
}

/// The paths that a file names.
#[derive(Default)]
struct Paths {
    uses: Vec<(String, Vec<String>)>,
    inline: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !is_of_tests(item) {
            syn::visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        if matches!(import.vis, syn::Visibility::Inherited) {
            self.uses.extend(flat(&import.tree));
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.inline.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }
}
