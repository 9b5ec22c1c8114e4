//! Variants of a right program: with another name in one place, and with other names throughout.
//!
//! A *place* is where a program names a dimension, an axis of ranks or a type parameter that it has declared elsewhere.
//! Names are of one *kind* if each may stand where the other does, as far as their bounds go: all dimensions are of one
//! kind, and so are type parameters with the same bound. A *mutant* is the program with another name of the same kind
//! and scope in one place.

use crate::{rustc::first_errors, source};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Marks a line whose place accepts every compile-time dimension that is not larger.
const MAXIMUM_MARK: &str = "// or a smaller maximum";
/// Marks a line whose places accept every compile-time dimension.
const SIZE_MARK: &str = "// or another size";
/// Marks a line whose `axis::<…>()`, or whose only place, accepts the axes that follow the mark.
const AXIS_MARK: &str = "// or over ";

/// The bounds of type parameters that are dimensions.
const BOUNDS: [&str; 7] = ["Dim", "ConstDim", "AtMost", "LessThan", "HasIndex", "Divides", "Even"];
/// The kind of dimensions.
const DIMENSION: &str = "dimension";

/// A program and the names in it.
pub struct Program<'a> {
    source: &'a str,
    names: Vec<Name<'a>>,
    places: Vec<Place>,
    /// The end of the declarations, which mutants of the rest can share.
    end_of_declarations: usize,
}

/// A name that a program declares.
struct Name<'a> {
    at: Range<usize>,
    kind: &'a str,
    /// The part of the program that can use it.
    scope: Range<usize>,
    /// The size of a dimension, if it is known at compile time.
    size: Option<usize>,
}

/// A use of a name.
struct Place {
    at: Range<usize>,
    /// Its index in [`Program::names`].
    name: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Another name in one place.
    IllTyped,
    /// Another name in one place, where the mark in the line allows it.
    Marked,
    /// Other names in the whole program.
    Renaming,
}

/// A program made from another one.
#[derive(Clone)]
pub struct Variant {
    /// The change.
    pub what: String,
    pub kind: Kind,
    /// Whether the declarations are unchanged.
    shares_declarations: bool,
    pub text: String,
}

impl<'a> Program<'a> {
    pub fn new(source: &'a str) -> Self {
        let (declared, end_of_declarations) = source::declarations_in(source, &["dims", "ranks"]);
        let mut names: Vec<Name> = declared
            .into_iter()
            .map(|(at, size)| {
                let size = size.and_then(|size| source[size].parse().ok());
                Name { at, kind: DIMENSION, scope: 0..source.len(), size }
            })
            .collect();
        let tokens = source::tokens(source);
        let text = |i: usize| tokens.get(i).map_or("", |token| &source[token.clone()]);
        let is_type = |i: usize| text(i).starts_with(|c: char| c.is_ascii_uppercase());
        // `<Width: ConstDim, Rule: Arch>`
        let is_parameter =
            |i: &usize| is_type(*i) && ["<", ","].contains(&text(i - 1)) && text(i + 1) == ":" && is_type(i + 2);
        names.extend((1..tokens.len()).filter(is_parameter).map(|i| Name {
            at: tokens[i].clone(),
            kind: if BOUNDS.contains(&text(i + 2)) { DIMENSION } else { text(i + 2) },
            scope: item(source, &tokens, i),
            size: None,
        }));

        let mut places = Vec::new();
        for (i, at) in tokens.iter().enumerate() {
            // `type EmbedDim = EmbedDim;` names a dimension on its right only, `M::EmbedDim` none.
            let is_associated = text(i + 1) == "=" || i > 1 && text(i - 1) == ":" && text(i - 2) == ":";
            if is_associated || names.iter().any(|name| name.at == *at) {
                continue;
            }
            let mut named = names
                .iter()
                .enumerate()
                .filter(|(_, name)| name.scope.contains(&at.start) && source[name.at.clone()] == *text(i));
            if let Some((name, _)) = named.next() {
                assert!(named.next().is_none(), "two `{}` in one scope", text(i));
                places.push(Place { at: at.clone(), name });
            }
        }
        Self { source, names, places, end_of_declarations }
    }

    /// The places that another name can take.
    pub fn places(&self) -> Vec<&Range<usize>> {
        let places = self.places.iter().filter(|place| self.others(place).next().is_some());
        places.map(|place| &place.at).collect()
    }

    /// The other names of the kind and the scope of a place.
    fn others(&self, Place { at, name }: &Place) -> impl Iterator<Item = &Name<'a>> {
        let right = &self.names[*name];
        let others = self.names.iter().filter(|wrong| wrong.kind == right.kind && wrong.at != right.at);
        others.filter(|wrong| wrong.scope.contains(&at.start))
    }

    fn name(&self, name: &Name) -> &'a str {
        &self.source[name.at.clone()]
    }

    /// Every other name of the kind and the scope in every place.
    pub fn mutants(&self) -> Vec<Variant> {
        self.places.iter().flat_map(|place| self.mutants_at(place)).collect()
    }

    /// The mutants of the places of one name.
    pub fn mutants_of(&self, name: &str) -> Vec<Variant> {
        let places = self.places.iter().filter(|place| self.name(&self.names[place.name]) == name);
        places.flat_map(|place| self.mutants_at(place)).collect()
    }

    fn mutants_at(&self, place: &Place) -> Vec<Variant> {
        let Place { at, name } = place;
        let right = &self.names[*name];
        let line = 1 + self.source[..at.start].matches('\n').count();
        let text = self.source.lines().nth(line - 1).unwrap();
        let is_axis = self.source[..at.start].ends_with("axis::<");
        let other_axes: Vec<&str> = match text.split_once(AXIS_MARK) {
            Some((code, axes)) if is_axis || !code.contains("axis::<") => axes.split(", ").collect(),
            _ => Vec::new(),
        };
        let mutant = |wrong: &Name| {
            let is_smaller = wrong.size.is_some_and(|size| Some(size) <= right.size);
            let is_marked = text.contains(MAXIMUM_MARK) && is_smaller
                || text.contains(SIZE_MARK) && wrong.size.is_some()
                || other_axes.contains(&self.name(wrong));
            self.variant(
                format!("line {line}: `{}` for `{}`", self.name(wrong), self.name(right)),
                if is_marked { Kind::Marked } else { Kind::IllTyped },
                [(at.clone(), self.name(wrong))],
            )
        };
        self.others(place).map(mutant).collect()
    }

    /// One with new names for all dimensions, and one for each pair of exchanged names.
    pub fn renamings(&self) -> Vec<Variant> {
        let names: BTreeSet<&str> =
            self.names.iter().filter(|name| name.kind == DIMENSION).map(|name| self.name(name)).collect();
        let new: Vec<String> = (0..names.len()).map(|i| format!("Dimension{i}")).collect();
        let new = names.iter().zip(&new).map(|(&name, new)| (name, &**new)).collect();
        let mut renamings = vec![self.renamed("all names new".into(), &new)];
        for (i, one) in names.iter().enumerate() {
            for other in names.iter().skip(i + 1) {
                let exchange = BTreeMap::from([(*one, *other), (*other, *one)]);
                renamings.push(self.renamed(format!("`{one}` and `{other}` exchanged"), &exchange));
            }
        }
        renamings
    }

    /// The unchanged program: as a whole, and with shared declarations like the mutants.
    pub fn unchanged(&self) -> Vec<Variant> {
        let last = self.places.last().unwrap();
        let itself = [(last.at.clone(), self.name(&self.names[last.name]))];
        vec![self.renamed("unchanged".into(), &BTreeMap::new()), self.variant("itself".into(), Kind::Renaming, itself)]
    }

    fn renamed(&self, what: String, names: &BTreeMap<&str, &str>) -> Variant {
        let declared = self.names.iter().map(|name| &name.at);
        let named = self.places.iter().map(|place| &place.at);
        let mut words: Vec<Range<usize>> = declared.chain(named).cloned().collect();
        words.sort_by_key(|word| word.start);
        let edits = words.into_iter().filter_map(|word| {
            let new = names.get(&self.source[word.clone()])?;
            Some((word, *new))
        });
        self.variant(what, Kind::Renaming, edits)
    }

    fn variant<'b>(
        &self,
        what: String,
        kind: Kind,
        edits: impl IntoIterator<Item = (Range<usize>, &'b str)>,
    ) -> Variant {
        let edits: Vec<_> = edits.into_iter().collect();
        let shares_declarations = edits.first().is_some_and(|(at, _)| at.start > self.end_of_declarations);
        Variant { what, kind, shares_declarations, text: source::replaced(self.source, edits) }
    }

    /// The first error of each variant. A whole one is a module that does not see the shared declarations.
    pub fn first_errors(&self, variants: Vec<Variant>) -> Vec<(Variant, Option<String>)> {
        let text = |variant: &Variant| match variant.shares_declarations {
            true => format!("use super::*;{}", &variant.text[self.end_of_declarations..]),
            false => variant.text.clone(),
        };
        let declarations = &self.source[..self.end_of_declarations];
        let errors = first_errors(declarations, &variants.iter().map(text).collect::<Vec<_>>());
        variants.into_iter().zip(errors).collect()
    }
}

/// The extent of the item that a token of its generic parameters belongs to.
fn item(source: &str, tokens: &[Range<usize>], parameter: usize) -> Range<usize> {
    let text = |i: &usize| &source[tokens[*i].clone()];
    let begins = |i: &usize| ["fn", "impl", "struct", "trait"].contains(&text(i));
    let start = (0..parameter).rev().find(begins).unwrap();
    let mut depth = 0;
    let ends = |i: &usize| {
        match text(i) {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => return false,
        }
        depth == 0
    };
    let end = (parameter..tokens.len()).find(ends).unwrap();
    tokens[start].start..tokens[end].end
}
