//! Every dimension that a public item takes as a type has a proof: a program that is wrong in it alone
//! and is refused, beside one that is right (`tests/ui.rs` compiles both).
//!
//! A proof says what it proves: ``//! Proves `S` of `nn::Linear::forward`.`` The sources say what there
//! is to prove:
//!
//! - each parameter of a function, a method, a struct or a trait that is public;
//! - each associated type of such a trait, if it has a bound;
//! - the `Self` of such a trait, if it has a message of its own for what does not implement it.
//!
//! `backend` repeats the signatures of `ops`, and a `try_` form that of its plain form: neither has
//! proofs of its own. `plot` draws what it is given, whatever its dimensions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, GenericParam, Generics, Ident, ImplItem, Item, Token, TraitItem, Type, UseTree, Visibility,
    parse::{Parse, ParseStream, Result},
};

/// Element, device and tape mean the same everywhere (the table of letters in `ops`): one proof of each
/// will do for a room.
const ONCE_A_ROOM: [&str; 3] = ["E", "D", "T"];

/// Where an axis is, and in which order they are: inferred from names, so that no program writes them.
const INFERRED: [&str; 2] = ["BiasRule", "Order"];

/// What no program can get wrong by itself, and why.
const NOT_TO_PROVE: [(&str, &str, &str); 7] = [
    ("dims::HasAxis", "Replaced", "follows from shape and axis"),
    ("dims::HasAxis", "Remaining", "follows from shape and axis"),
    ("dims::name", "Any", "every type has a name"),
    ("nn::BiasRule", "Arch", "follows from the place"),
    ("nn::Summary::of", "M", "modules of all dimensions have one"),
    ("nn::init::uniform", "FanIn", "only its size is used"),
    ("tokens::TokenIds::padded", "Row", "whatever holds tokens"),
];

#[test]
fn every_dimension_has_a_proof() {
    let (mut public, mut proved) = (public_parameters(), proved_parameters());
    public.retain(|parameter| !INFERRED.contains(&&*parameter.name));
    public.retain(|parameter| !parameter.of.starts_with("plot::"));
    for (of, name, _) in NOT_TO_PROVE {
        let parameter = Parameter::new(of, name);
        assert!(public.remove(&parameter), "{parameter} is not there");
    }
    let unknown: Vec<_> = proved.difference(&public).cloned().collect();
    for parameters in [&mut public, &mut proved] {
        *parameters = parameters.iter().map(Parameter::to_prove).collect();
    }
    let missing: Vec<_> = public.difference(&proved).cloned().collect();
    let list = |parameters: &[Parameter]| -> String {
        let lines = parameters.iter().map(|one| format!("\n  {one}"));
        lines.collect()
    };
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{} without a proof:{}\n{} proofs of what is not there:{}",
        missing.len(),
        list(&missing),
        unknown.len(),
        list(&unknown),
    );
}

/// A type that an item is given.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Parameter {
    /// The path of the item from the root of the crate.
    of: String,
    name: String,
}

impl Parameter {
    fn new(of: &str, name: &str) -> Self {
        Self { of: of.to_string(), name: name.to_string() }
    }

    /// Itself, or that of the whole room.
    fn to_prove(&self) -> Self {
        match self.of.split_once("::") {
            Some((room, _)) if ONCE_A_ROOM.contains(&&*self.name) => Self::new(room, &self.name),
            _ => self.clone(),
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}`", self.name, self.of)
    }
}

/// What the proofs say that they prove; the program or the compiler's text names what it is of.
fn proved_parameters() -> BTreeSet<Parameter> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let rooms = entries(&root().join("ui-tests/refused"));
    let mut proved = BTreeSet::new();
    for file in rooms.iter().flat_map(|room| entries(room)) {
        if file.extension().is_none_or(|found| found != "rs") {
            continue;
        }
        let program = read(&file);
        let (doc, program): (Vec<_>, Vec<_>) = program.lines().partition(|l| l.starts_with("//!"));
        let text = program.join("\n") + &read(&file.with_extension("stderr"));
        for line in doc.iter().filter(|line| line.contains("Proves")) {
            let ["//! Proves ", name, " of ", of, "."] = line.split('`').collect::<Vec<_>>()[..] else {
                panic!("{}: what is `{line}`?", file.display());
            };
            let named = of.split("::").skip(1).all(|part| text.contains(part));
            assert!(named, "{} says nothing of {of}", file.display());
            proved.insert(Parameter::new(of, name));
        }
    }
    proved
}

/// What there is to prove.
fn public_parameters() -> BTreeSet<Parameter> {
    let mut sources = Sources::default();
    sources.read(&root().join("src/lib.rs"), &[], None);
    let methods = sources.methods.iter().filter_map(|(owner, method, names)| {
        let owner = sources.types.get(owner)?;
        Some((format!("{owner}::{method}"), names.clone()))
    });
    let items: BTreeMap<_, _> = sources.items.clone().into_iter().chain(methods).collect();
    let has_plain_form = |of: &str| {
        let plain = of.rsplit_once("::try_");
        plain.is_some_and(|(path, name)| items.contains_key(&format!("{path}::{name}")))
    };
    let parameters = items.iter().filter(|(of, _)| !has_plain_form(of));
    parameters.flat_map(|(of, names)| names.iter().map(|name| Parameter::new(of, name))).collect()
}

/// What the sources show to a user.
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
    /// Reads the file of the module `path`, and those of the modules in it.
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
                        self.read(&child, path, Some(&shown_of(&module.ident, &items)));
                    }
                }
                Item::Macro(call) if call.mac.path.is_ident("module") => {
                    let Module(vis, attrs, name, names) = call.mac.parse_body().unwrap();
                    if is_public(&vis, &attrs) {
                        self.add(path, shown, &name, names);
                    }
                }
                Item::Macro(other) => {
                    let hides = other.mac.tokens.to_string().contains("pub fn");
                    assert!(!hides, "{}: a macro hides a function", file.display());
                }
                item => self.add_item(item, path, shown),
            }
        }
    }

    fn add_item(&mut self, item: &Item, path: &[String], shown: Shown) {
        match item {
            Item::Fn(item) if is_public(&item.vis, &item.attrs) => {
                self.add(path, shown, &plain_name(&item.sig.ident, &item.attrs), names(&item.sig.generics));
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
                        TraitItem::Type(part) if !part.bounds.is_empty() => {
                            all.push(part.ident.to_string());
                        }
                        TraitItem::Fn(part) if is_shown(shown, &item.ident) => {
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
                        let method = plain_name(&part.sig.ident, &part.attrs).to_string();
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

/// The names of a private module that `items` re-export.
fn shown_of(module: &Ident, items: &[Item]) -> BTreeSet<String> {
    fn add(tree: &UseTree, names: &mut BTreeSet<String>) {
        match tree {
            UseTree::Name(used) => {
                names.insert(used.ident.to_string());
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| add(tree, names)),
            _ => panic!("a room names what it shows"),
        }
    }
    let mut names = BTreeSet::new();
    for item in items {
        if let Item::Use(item) = item
            && is_public(&item.vis, &item.attrs)
            && let UseTree::Path(path) = &item.tree
            && path.ident == *module
        {
            add(&path.tree, &mut names);
        }
    }
    names
}

fn is_shown(shown: Shown, name: &Ident) -> bool {
    shown.is_none_or(|shown| shown.contains(&name.to_string()))
}

fn is_public(visibility: &Visibility, attributes: &[Attribute]) -> bool {
    let hides = |attribute: &Attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
    };
    matches!(visibility, Visibility::Public(_)) && !attributes.iter().any(hides)
}

/// `f` for a `try_f` whose panicking form is written by `#[panicking]`: both have the same signature.
fn plain_name(name: &Ident, attributes: &[Attribute]) -> Ident {
    match name.to_string().strip_prefix("try_") {
        Some(plain) if attributes.iter().any(|attribute| ends(attribute, "panicking")) => {
            Ident::new(plain, name.span())
        }
        _ => name.clone(),
    }
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

/// The head of what `module!` is given: `pub struct Name<Dims…; E, D>`.
struct Module(Visibility, Vec<Attribute>, Ident, Vec<String>);

impl Parse for Module {
    fn parse(input: ParseStream) -> Result<Self> {
        let attributes = input.call(Attribute::parse_outer)?;
        let visibility = input.parse()?;
        input.parse::<Token![struct]>()?;
        let ident = input.parse()?;
        input.parse::<Token![<]>()?;
        let mut names = Vec::new();
        while !input.peek(Token![>]) {
            names.extend(name(&input.parse()?));
            input.parse::<Option<Token![,]>>()?;
            input.parse::<Option<Token![;]>>()?;
        }
        // The fields are of no interest.
        input.step(|cursor| {
            let mut rest = *cursor;
            while let Some((_, next)) = rest.token_tree() {
                rest = next;
            }
            Ok(((), rest))
        })?;
        Ok(Self(visibility, attributes, ident, names))
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}
