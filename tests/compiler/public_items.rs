//! The public items of the library and their type parameters, as its sources show them.

use crate::program::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, GenericParam, Generics, Ident, ImplItem, Item, Signature, TraitItem, Type, UseTree, Visibility};

/// The parameters of each public item in their order, by the path of the item from the root of the crate. The
/// associated types of a trait that have a bound follow its parameters, and `Self` follows if the trait has an error
/// message of its own.
pub fn public_items() -> BTreeMap<String, Vec<String>> {
    let mut sources = Sources::default();
    sources.read(&root().join("src/lib.rs"), &[], None);
    let methods = sources.methods.iter().filter_map(|(owner, method, names)| {
        let owner = sources.types.get(owner)?;
        Some((format!("{owner}::{method}"), names.clone()))
    });
    sources.items.clone().into_iter().chain(methods).collect()
}

/// The items that the sources show to a user.
#[derive(Default)]
struct Sources {
    /// The parameters of each item, by its path.
    items: BTreeMap<String, Vec<String>>,
    /// The path of each type, by its name.
    types: BTreeMap<String, String>,
    /// The name of a type, a method of it, and the parameters of that.
    methods: Vec<(String, String, Vec<String>)>,
}

/// The names that a module shows, if not all.
type Shown<'a> = Option<&'a BTreeSet<String>>;

impl Sources {
    /// Reads the file of the module `path`, and those of the modules in it. A macro declares functions of one signature
    /// as `arithmetic! { {<Dims, ..>(x: ..) -> ..} pub fn add(x, y) ..; pub fn sub(x, y) ..; }`, or a struct as
    /// `sized_dim! { pub struct Strided<Len: Dim, ..>, .. }`.
    fn read(&mut self, file: &Path, path: &[String], shown: Shown) {
        let parsed = syn::parse_file(&read(file));
        let items = parsed.unwrap_or_else(|e| panic!("{}: {e}", file.display())).items;
        for item in &items {
            match item {
                Item::Mod(module) if module.content.is_none() && module.ident != "backend" => {
                    let name = module.ident.to_string();
                    let child = child(file, &name);
                    if is_public(&module.vis, &module.attrs) {
                        self.read(&child, &[path, &[name]].concat(), None);
                    } else {
                        self.read(&child, path, shown_of(&module.ident, &items).as_ref());
                    }
                }
                Item::Macro(item) => {
                    let tokens = item.mac.tokens.to_string();
                    if let (None, Some((_, declaration))) = (&item.ident, tokens.split_once("pub struct ")) {
                        let name_and_parameters = declaration.split('>').next().unwrap();
                        let item = syn::parse_str(&format!("pub struct {name_and_parameters}>;")).unwrap();
                        self.add_item(&item, path, shown);
                    }
                    let mut functions = tokens.split("pub fn ").skip(1).filter(|function| !function.starts_with('$'));
                    if let (None, Some((signature, _))) = (&item.ident, tokens.split_once("} pub fn ")) {
                        let signature: Signature = syn::parse_str(&signature.replacen('{', "fn any", 1)).unwrap();
                        for function in functions.by_ref() {
                            let name = function.split([' ', '(']).next().unwrap();
                            self.add(path, shown, &syn::parse_str(name).unwrap(), names(&signature.generics));
                        }
                    }
                    assert!(functions.next().is_none(), "{}: a macro hides a function", file.display());
                }
                item => self.add_item(item, path, shown),
            }
        }
    }

    fn add_item(&mut self, item: &Item, path: &[String], shown: Shown) {
        match item {
            Item::Fn(item) if is_public(&item.vis, &item.attrs) => {
                self.add(path, shown, &item.sig.ident, names(&item.sig.generics));
            }
            Item::Struct(item) if is_public(&item.vis, &item.attrs) => {
                self.add(path, shown, &item.ident, names(&item.generics));
            }
            Item::Enum(item) if is_public(&item.vis, &item.attrs) => {
                self.add(path, shown, &item.ident, names(&item.generics));
            }
            Item::Type(item) if is_public(&item.vis, &item.attrs) => {
                self.add(path, shown, &item.ident, names(&item.generics));
            }
            Item::Trait(item) if is_public(&item.vis, &item.attrs) => {
                let mut all = names(&item.generics);
                if item.attrs.iter().any(|attribute| ends(attribute, "on_unimplemented")) {
                    all.push("Self".to_string());
                }
                for part in &item.items {
                    match part {
                        TraitItem::Type(part) if !part.bounds.is_empty() && !is_hidden(&part.attrs) => {
                            all.push(part.ident.to_string());
                        }
                        TraitItem::Fn(part) if is_shown(shown, &item.ident) && !is_hidden(&part.attrs) => {
                            let path = [path, &[item.ident.to_string()]].concat();
                            self.add(&path, None, &part.sig.ident, names(&part.sig.generics));
                        }
                        _ => {}
                    }
                }
                self.add(path, shown, &item.ident, all);
            }
            Item::Impl(item) if item.trait_.is_none() => {
                let Type::Path(owner) = &*item.self_ty else {
                    return;
                };
                let owner = owner.path.segments.last().unwrap().ident.to_string();
                for part in &item.items {
                    if let ImplItem::Fn(part) = part
                        && is_public(&part.vis, &part.attrs)
                    {
                        let method = part.sig.ident.to_string();
                        let names = names(&part.sig.generics);
                        self.methods.push((owner.clone(), method, names));
                    }
                }
            }
            _ => {}
        }
    }

    fn add(&mut self, path: &[String], shown: Shown, name: &Ident, names: Vec<String>) {
        if is_shown(shown, name) {
            let of = [path, &[name.to_string()]].concat().join("::");
            self.types.insert(name.to_string(), of.clone());
            self.items.insert(of, names);
        }
    }
}

/// The file of the module `name` that `parent` declares.
fn child(parent: &Path, name: &str) -> PathBuf {
    let folder = match parent.file_stem().and_then(|stem| stem.to_str()) {
        Some("lib" | "mod") => parent.parent().unwrap().to_path_buf(),
        _ => parent.with_extension(""),
    };
    let file = folder.join(format!("{name}.rs"));
    if file.exists() {
        return file;
    }
    folder.join(name).join("mod.rs")
}

/// The names of a private module that `items` re-export, if not all.
fn shown_of(module: &Ident, items: &[Item]) -> Option<BTreeSet<String>> {
    fn add(tree: &UseTree, names: &mut BTreeSet<String>) {
        match tree {
            UseTree::Name(used) => {
                names.insert(used.ident.to_string());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| add(tree, names)),
            _ => panic!("a module re-exports single names or all"),
        }
    }
    let mut names = BTreeSet::new();
    for item in items {
        if let Item::Use(item) = item
            && is_public(&item.vis, &item.attrs)
            && let UseTree::Path(path) = &item.tree
            && path.ident == *module
        {
            if matches!(*path.tree, UseTree::Glob(_)) {
                return None;
            }
            add(&path.tree, &mut names);
        }
    }
    Some(names)
}

fn is_shown(shown: Shown, name: &Ident) -> bool {
    shown.is_none_or(|shown| shown.contains(&name.to_string()))
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

/// Whether the documentation leaves an item out.
fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
    })
}

/// Whether the path of an attribute ends in `word`.
fn ends(attribute: &Attribute, word: &str) -> bool {
    let last = attribute.path().segments.last();
    last.is_some_and(|last| last.ident == word)
}

/// The names of types and constants, without lifetimes.
fn names(generics: &Generics) -> Vec<String> {
    generics.params.iter().filter_map(name).collect()
}

fn name(parameter: &GenericParam) -> Option<String> {
    match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}
