//! The imports of a package as its syntax has them: which file names items of which other file, and circles of those.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;

/// A module by its path from the root of the package.
type Module = Vec<String>;

/// The files of a package.
struct Package {
    files: BTreeMap<Module, syn::File>,
    /// A name that a module hands on, and the path that it stands for.
    re_exports: BTreeMap<(Module, String), Vec<String>>,
}

/// The rooms of a package, the modules of its root with all that is below them, and what each imports of others.
pub fn rooms(root: &Path) -> anyhow::Result<BTreeMap<String, BTreeSet<String>>> {
    let mut package = Package { files: BTreeMap::new(), re_exports: BTreeMap::new() };
    package.read(root, Vec::new(), root.parent().context("a folder")?)?;
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, file) in &package.files {
        let Some(room) = module.first() else { continue };
        let others = package.imports(module, file).into_iter().filter_map(|other| other.first().cloned());
        edges.entry(room.clone()).or_default().extend(others.filter(|other| other != room));
    }
    Ok(edges)
}

/// The rooms of a package that import each other in a loop.
pub fn rooms_in_loops(root: &Path) -> anyhow::Result<Vec<String>> {
    let edges = rooms(root)?;
    Ok(edges.keys().filter(|room| reachable(&edges, room).contains(*room)).cloned().collect())
}

/// All that can be reached from a node.
fn reachable<N: Ord + Clone>(edges: &BTreeMap<N, BTreeSet<N>>, from: &N) -> BTreeSet<N> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(node) = open.pop() {
        let next = edges.get(&node).into_iter().flatten();
        open.extend(next.filter(|next| seen.insert((*next).clone())).cloned().collect::<Vec<_>>());
    }
    seen
}

/// Circles of files below `root`, a `lib.rs` or `main.rs`: each is the set of modules that import each other in a loop.
/// Code of tests is left out, and so is what a module only hands on (`pub use`).
pub fn circles(root: &Path) -> anyhow::Result<Vec<BTreeSet<String>>> {
    let mut package = Package { files: BTreeMap::new(), re_exports: BTreeMap::new() };
    package.read(root, Vec::new(), root.parent().context("a folder")?)?;
    let edges: BTreeMap<Module, BTreeSet<Module>> =
        package.files.iter().map(|(module, file)| (module.clone(), package.imports(module, file))).collect();
    let reached: BTreeMap<&Module, BTreeSet<Module>> =
        edges.keys().map(|module| (module, reachable(&edges, module))).collect();
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

    /// Paths among the tokens of a macro, whose syntax is its own.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.inline.extend(paths_among(call.tokens.clone()));
        syn::visit::visit_macro(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.segments.len() > 1 {
            self.inline.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        }
        syn::visit::visit_path(self, path);
    }
}

/// Names that are joined by `::`.
fn paths_among(tokens: TokenStream) -> Vec<Vec<String>> {
    let (mut paths, mut path, mut colons) = (Vec::new(), Vec::<String>::new(), 0);
    for token in tokens {
        match token {
            TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => path.push(ident.to_string()),
            TokenTree::Ident(ident) => paths.push(std::mem::replace(&mut path, vec![ident.to_string()])),
            TokenTree::Punct(mark) if mark.as_char() == ':' => {
                colons += 1;
                continue;
            }
            TokenTree::Group(group) => paths.extend(paths_among(group.stream())),
            _ => paths.push(std::mem::take(&mut path)),
        }
        colons = 0;
    }
    paths.push(path);
    paths.retain(|path| path.len() > 1);
    paths
}
