//! Every type parameter of a public item has a wrong program in `ui-tests/fail` that is wrong in it alone.
//!
//! A program says what it covers: ``//! Covers `S` of `nn::Linear::forward`.`` The sources say what has to be
//! covered:
//!
//! - each parameter of a public function, method, struct or trait;
//! - each associated type of such a trait, if it has a bound;
//! - the `Self` of such a trait, if the trait has an error message of its own.
//!
//! `backend` repeats the signatures of `ops`, and `try_f` has the signature of `f`: neither needs programs of its
//! own. `plot` accepts any dimensions.

use crate::program::{self, Program, root};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, fs,
    path::{Path, PathBuf},
};
use syn::{
    Attribute, GenericParam, Generics, Ident, ImplItem, Item, Token, TraitItem, Type, UseTree, Visibility,
    parse::{Parse, ParseStream, Result},
};

/// Element, device and tape mean the same everywhere (see the table of letters in `ops`), so one program for each
/// of them covers a whole module.
const ONCE_PER_MODULE: [&str; 3] = ["E", "D", "T"];

/// Positions and orders of axes, which are inferred from shapes, and tapes of second operands, which are inferred from
/// these. No program writes them.
const INFERRED: [&str; 5] = ["Order", "WhichAxis", "WhichOtherAxis", "WhichOutAxis", "OtherTape"];

/// Constants that are numbers of axes, which are inferred from shapes.
const NUMBERS_OF_AXES: [&str; 3] = ["N", "OTHER_N", "BOTH_N"];

/// Parameters that no program can get wrong by themselves, and why.
const EXEMPT: [(&str, &str, &str); 12] = [
    ("dims::EndsIn", "WithLast", "follows from shape and axis"),
    ("dims::FollowedBy", "Both", "follows from the two shapes"),
    ("dims::HasAxis", "Position", "follows from shape and axis"),
    ("dims::HasAxis", "Replaced", "follows from shape and axis"),
    ("dims::HasAxis", "Remaining", "follows from shape and axis"),
    ("dims::name", "Any", "every type has a name"),
    ("nn::ProjectionRule", "Arch", "follows from the field that holds the projection"),
    ("nn::Summary::of", "Model", "modules of all dimensions have one"),
    ("nn::init::uniform", "FanIn", "only its size is used"),
    ("ops::mean", "Dims", "every shape has a mean"),
    ("ops::TensorOrRef", "Tape", "follows from the operand"),
    ("tokens::TokenIds::padded", "Row", "any type that derefs to tokens"),
];

/// The names in the compiler's messages of types that programs call `Product`, `Quotient`, `Sum` and `Windows`.
pub const NAMES_IN_MESSAGES: [&str; 4] = ["ProductDim", "QuotientDim", "SumDim", "WindowsDim"];

#[test]
fn every_dimension_is_covered() {
    let (mut public, mut covered) = (public_parameters(), covered_parameters());
    public.retain(|parameter| !INFERRED.contains(&&*parameter.name));
    public.retain(|parameter| !parameter.item.starts_with("plot::"));
    public.retain(|parameter| {
        !parameter.item.strip_prefix("dims::").is_some_and(|name| NAMES_IN_MESSAGES.contains(&name))
    });
    for (item, name, _) in EXEMPT {
        let parameter = Parameter::new(item, name);
        assert!(public.remove(&parameter), "{parameter} does not exist");
    }
    let unknown: Vec<_> = covered.difference(&public).cloned().collect();
    for parameters in [&mut public, &mut covered] {
        *parameters = parameters.iter().map(Parameter::to_cover).collect();
    }
    let missing: Vec<_> = public.difference(&covered).cloned().collect();
    let list = |parameters: &[Parameter]| -> String {
        let lines = parameters.iter().map(|parameter| format!("\n  {parameter}"));
        lines.collect()
    };
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "{} parameters are not covered:{}\n{} covered parameters do not exist:{}",
        missing.len(),
        list(&missing),
        unknown.len(),
        list(&unknown),
    );
}

#[test]
fn the_path_of_a_program_is_the_parameter_that_it_covers() {
    for Program { name, covers, .. } in program::all() {
        let Some((parameter, item)) = covers.first() else { continue };
        let (module, item) = item.split_once("::").unwrap();
        let path = format!("{module}/{}/{}", snake_case(item), snake_case(parameter));
        assert_eq!(name, path, "`{parameter}` of `{module}::{item}`");
    }
}

/// `mh_attention_forward` for `MHAttention::forward`.
fn snake_case(path: &str) -> String {
    let chars: Vec<char> = path.replace("::", "_").chars().collect();
    let mut snake = String::new();
    for (i, c) in chars.iter().enumerate() {
        let starts_word = |before: char| {
            let is_before_lowercase = chars.get(i + 1).is_some_and(|next| next.is_lowercase());
            before.is_lowercase() || before.is_uppercase() && is_before_lowercase
        };
        if c.is_uppercase() && i > 0 && starts_word(chars[i - 1]) {
            snake.push('_');
        }
        snake.extend(c.to_lowercase());
    }
    snake
}

/// A type parameter of a public item.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Parameter {
    /// The path of the item from the root of the crate.
    item: String,
    name: String,
}

impl Parameter {
    fn new(item: &str, name: &str) -> Self {
        Self { item: item.to_string(), name: name.to_string() }
    }

    /// For `E`, `D` and `T`, one entry per module; otherwise the parameter itself.
    fn to_cover(&self) -> Self {
        match self.item.split_once("::") {
            Some((module, _)) if ONCE_PER_MODULE.contains(&&*self.name) => Self::new(module, &self.name),
            _ => self.clone(),
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` of `{}`", self.name, self.item)
    }
}

/// The parameters that the programs cover. Each program, or its expected output, names the item.
fn covered_parameters() -> BTreeSet<Parameter> {
    let mut covered = BTreeSet::new();
    for program in program::all() {
        let code: Vec<_> = program.source.lines().filter(|line| !line.starts_with("//!")).collect();
        let text = code.join("\n") + &program.stderr();
        for (parameter, item) in &program.covers {
            let is_named = item.split("::").skip(1).all(|part| text.contains(part));
            assert!(is_named, "{} does not name {item}", program.path);
            covered.insert(Parameter::new(item, parameter));
        }
    }
    covered
}

/// The parameters that must be covered.
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
            _ => panic!("a module re-exports single names"),
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
    matches!(visibility, Visibility::Public(_)) && !is_hidden(attributes)
}

/// Whether the documentation leaves an item out.
fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        list.is_ok_and(|list| list.path.is_ident("doc") && list.tokens.to_string() == "hidden")
    })
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

/// The names of types and constants, without lifetimes and numbers of axes.
fn names(generics: &Generics) -> Vec<String> {
    generics.params.iter().filter_map(name).collect()
}

fn name(parameter: &GenericParam) -> Option<String> {
    match parameter {
        GenericParam::Type(parameter) => Some(parameter.ident.to_string()),
        GenericParam::Const(parameter) => {
            Some(parameter.ident.to_string()).filter(|name| !NUMBERS_OF_AXES.contains(&name.as_str()))
        }
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

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}
